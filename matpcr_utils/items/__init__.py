"""Items: inputs with a question each, for people, models and instruments to answer.

An item is made from a reference of the package, so that an oracle can judge the answer. Its id
fixes it; `load` only chooses which items, and in what order. What is simulated says so in its
facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from matpcr_utils.claims.model import CONSTRAINTS, Claim
from matpcr_utils.errors import MatPCRError
from matpcr_utils.items.model import MODALITIES, MODALITY, QUESTIONS, Item

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "DEFAULT_N",
    "MODALITIES",
    "MODALITY",
    "PROMPT_VERSIONS",
    "QUESTIONS",
    "Item",
    "accurate",
    "answer",
    "export",
    "get",
    "image",
    "load",
    "prompt",
    "reference",
    "text",
    "true_claim",
    "wording",
]

#: Items a constraint type unless something else is asked for.
DEFAULT_N = 96
#: Independent wordings of every question, in ``data/prompts.yml``.
PROMPT_VERSIONS: tuple[str, ...] = ("v1", "v2", "v3")


class Source(Protocol):
    """What the module of a constraint type offers."""

    def candidates(self, constraint: str, seed: int) -> Iterator[Item]:
        """Items in an order drawn from `seed`, without end or until the pool is used up."""

    def build(self, constraint: str, key: str) -> Item | None:
        """The item whose id is ``f"{constraint}-{key}"``; None if it is not fit to be asked."""

    def reference(self, item: Item) -> Any:
        """What the oracle's `check` takes."""

    def text(self, item: Item) -> str:
        """The input in words and numbers."""

    def image(self, item: Item) -> bytes:
        """The input as a PNG."""

    def wording(self, item: Item) -> Mapping[str, str]:
        """What the question's template has to be told, e.g. the range that is asked about."""


_MODULES = {
    "diffraction": "diffraction",
    "microscopy": "microscopy",
    "spectra": "spectra",
    "stability": "materials",
    "metallicity": "materials",
    "magnetism": "materials",
}
_streams: dict[tuple[str, int], tuple[list[Item], Iterator[Item]]] = {}


def _source(constraint: str) -> Source:
    return cast(Source, import_module(f"{__name__}.{_MODULES[constraint]}"))


def load(constraint: str, n_items: int | None = None, seed: int = 0) -> tuple[Item, ...]:
    """Items of one constraint type, or of all six.

    Parameters
    ----------
    constraint : str
        A key of `claims.CONSTRAINTS`, or ``"all"``.
    n_items : int, optional
        How many a constraint type; `DEFAULT_N` by default. A smaller number gives the first ones
        of the same order.
    seed : int
        Of the order in which the pool is visited. It never changes what an id stands for.

    Raises
    ------
    MatPCRError
        If the constraint is unknown, or there are fewer items than asked for.
    """
    if constraint == "all":
        return tuple(item for name in CONSTRAINTS for item in load(name, n_items, seed))
    _require(constraint)
    n = DEFAULT_N if n_items is None else n_items
    if n < 1 or seed < 0:
        raise MatPCRError(f"n_items = {n} must be at least 1 and seed = {seed} at least 0")
    if (constraint, seed) not in _streams:
        _streams[constraint, seed] = ([], _source(constraint).candidates(constraint, seed))
    found, more = _streams[constraint, seed]
    found.extend(islice(more, max(0, n - len(found))))
    if len(found) < n:
        raise MatPCRError(
            f"{n} {constraint} items were asked for and there are {len(found)}: lower n_items"
        )
    return tuple(found[:n])


def get(item_id: str) -> Item:
    """The item with this id, however it was loaded first.

    Raises
    ------
    MatPCRError
        If no item has it.
    """
    constraint, _, key = item_id.partition("-")
    if constraint in CONSTRAINTS:
        try:
            item = _source(constraint).build(constraint, key)
        except (MatPCRError, ValueError) as error:
            raise MatPCRError(f"no item {item_id!r}: {error}") from error
        if item is not None and item.item_id == item_id:
            return item
    raise MatPCRError(
        f"no item {item_id!r}: ids look like stability-mp-1138; `items.load` lists them"
    )


def reference(item: Item) -> Any:
    """What the oracle's `check` judges a claim about this item against."""
    return _source(item.constraint).reference(item)


def text(item: Item) -> str:
    """The input in words and numbers, for models that read text only.

    Crystal structures are listed with cell and sites. Patterns and spectra become the highest
    reading in each of many equal stretches of the axis, which keeps positions of peaks as
    measured. A micrograph is described by lengths in pixels.
    """
    return _source(item.constraint).text(item)


def image(item: Item) -> bytes:
    """The input as a PNG: a plotted pattern or spectrum, or a micrograph with its scale bar.

    Raises
    ------
    MatPCRError
        If the item is posed as text.
    """
    if item.modality != "image":
        raise MatPCRError(f"{item.item_id} is posed as text and has no image: use items.text")
    return _source(item.constraint).image(item)


def wording(item: Item) -> Mapping[str, str]:
    """What the templates of ``data/prompts.yml`` are filled with, the input aside."""
    return _source(item.constraint).wording(item)


def prompt(item: Item, version: str = "v1", modality: str | None = None, examples: int = 0) -> str:
    """The question in words, with the input when that is text; see `prompts.prompt`."""
    from matpcr_utils.items import prompts

    return prompts.prompt(item, version, modality, examples)


def answer(item: Item) -> str:
    """A sentence that states the accurate answer."""
    return str(item.truth["sentence"])


def true_claim(item: Item) -> Claim:
    """The accurate answer as a claim."""
    truth = item.truth
    return Claim(truth["quantity"], truth["value"], truth["unit"], truth["basis"])


def accurate(item: Item, claims: Sequence[Claim]) -> bool | None:
    """Whether the claims answer the question right, by the criterion of `accuracy.CRITERIA`."""
    from matpcr_utils.items import accuracy

    return accuracy.accurate(item, claims)


def export(
    folder: str | Path,
    constraint: str = "all",
    n_items: int | None = None,
    seed: int = 0,
) -> Path:
    """Items as JSONL, images and a dataset card; see `dataset.export`."""
    from matpcr_utils.items import dataset

    return dataset.export(folder, constraint, n_items, seed)


def _require(constraint: str) -> None:
    if constraint not in CONSTRAINTS:
        known = ", ".join((*CONSTRAINTS, "all"))
        raise MatPCRError(f"unknown constraint {constraint!r}: choose one of {known}")
