"""What a model is told between its answers: the oracle's feedback, and the words of the controls.

The feedback of CGSV (paper, section 4.6) has three levels. ``verdict`` says that something
conflicts with physics and nothing else. ``reason`` names the law, in words that depend on the
constraint type and on the reason code alone: they hold no number, and mirror-image reasons share
them, so that neither value nor class of a reference can be in them. ``reference`` adds what the
oracle compared the claim with, an upper bound on what feedback can leak.

One thing can't be kept back. Where a claim has two possible classes (a gap or none, a moment or
none), the bare verdict that it is wrong tells the right one. A model can follow it without any
physics, which is one way in which consistency rises for other reasons than correctness.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from matpcr_utils import items
from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation.conditions import LEVELS
from matpcr_utils.evaluation.grading import Graded
from matpcr_utils.items import Item
from matpcr_utils.oracles.base import Outcome, Verdict

#: The wording that is used unless another is asked for.
VERSION = "v1"


@cache
def wordings() -> Mapping[str, Any]:
    """The content of ``data/feedback.yml``, by version."""
    import yaml

    from matpcr_utils.references import store

    content: Mapping[str, Any] = yaml.safe_load(store.path("feedback.yml").read_text("utf-8"))
    return content


def message(item: Item, graded: Graded, level: str, version: str = VERSION) -> str:
    """What CGSV says of an answer that violates.

    Parameters
    ----------
    item : Item
    graded : Graded
        The answer's grade, with a violation in it. Each law that its claims break is named once.
    level : {"verdict", "reason", "reference"}
    version : str
        Of the wording.

    Raises
    ------
    MatPCRError
        If the level or version is unknown, or there is no violation to speak of.
    """
    words = _words(version)
    if level not in LEVELS:
        raise MatPCRError(f"unknown feedback {level!r}: choose one of {', '.join(LEVELS)}")
    broken = [v for v in graded.verdicts if v.outcome is Outcome.VIOLATION]
    if not broken:
        raise MatPCRError(f"the answer to {item.item_id} violates nothing: there is no feedback")
    said = [words["opening"]]
    if level != "verdict":
        said += [words["reasons"][item.constraint][verdict.reason] for verdict in broken]
    if level == "reference":
        said += [_reference(item, verdict, words["references"]) for verdict in broken]
    # Several claims may break the same law.
    return " ".join(dict.fromkeys(filter(None, [*said, words["closing"]])))


def refine(version: str = VERSION) -> str:
    """What unaided self-refinement says of every answer."""
    return str(_words(version)["refine"])


def neutral(length: int | None = None, version: str = VERSION) -> str:
    """What re-prompting says of every answer: nothing.

    Parameters
    ----------
    length : int, optional
        Characters that it should have, as nearly as whole sentences allow; default, all sentences.
    version : str
    """
    words = _words(version)
    sentences, closing = words["neutral"], words["neutral_closing"]
    choices = [" ".join([*sentences[:n], closing]) for n in range(1, len(sentences) + 1)]
    if length is None:
        return choices[-1]
    return min(choices, key=lambda choice: abs(len(choice) - length))


def _words(version: str) -> Mapping[str, Any]:
    known = wordings()
    if version not in known:
        raise MatPCRError(f"unknown wording {version!r}: choose one of {', '.join(known)}")
    words: Mapping[str, Any] = known[version]
    return words


def _reference(item: Item, verdict: Verdict, templates: Mapping[str, str]) -> str:
    """What the oracle compared a claim with, in words; empty where there is nothing."""
    kind, value = _compared(item, verdict)
    return templates[kind].format(value=value) if value else ""


def _compared(item: Item, verdict: Verdict) -> tuple[str, str]:
    """What kind of value the claim was compared with, and the value as text."""
    details = verdict.details
    if item.constraint == "diffraction":
        low, high = items.reference(item).window
        if low <= (nearest := details.get("nearest_two_theta", 0.0)) <= high:
            return "two_theta", f"{nearest:.2f}"
        # An impossible claim is near no line, and what was not measured helps nobody.
        return "asked_line", f"{item.truth['value']:.2f}"
    if item.constraint == "microscopy":
        if item.asks == "scale":
            return "scale", _plain(details["pixel_size_nm"])
        # Rounded down, so that it fits into the image when it is claimed.
        return "field_of_view", _plain(_floored(details["field_of_view_nm"]))
    if item.constraint == "spectra":
        return "raman_shift", f"{details['nearest']:.1f}" if "nearest" in details else ""
    if item.constraint == "stability":
        return "energy_above_hull", _plain(details["energy_above_hull"])
    if item.constraint == "metallicity":
        return "band_gap", _plain(details["band_gap"])
    return "magnetization", _plain(details["moment_per_atom"])


def _plain(value: float) -> str:
    """Five significant digits, written out."""
    from numpy import format_float_positional

    return format_float_positional(
        value + 0.0, precision=5, unique=False, fractional=False, trim="-"
    )


def _floored(value: float, digits: int = 5) -> float:
    """The nearest number of so many significant digits that is not larger."""
    step = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return math.floor(value / step) * step
