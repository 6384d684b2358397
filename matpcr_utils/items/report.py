"""What a set of items looks like: counts, and the check that each exposes one claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matpcr_utils import items
from matpcr_utils.claims.model import CONSTRAINTS
from matpcr_utils.items import diffraction, materials, microscopy, spectra
from matpcr_utils.items.accuracy import CRITERIA
from matpcr_utils.items.model import Item

if TYPE_CHECKING:
    import pandas as pd
    from pandas.io.formats.style import Styler

#: How the items of each constraint type were chosen, in words.
SAMPLING: dict[str, str] = {
    "diffraction": diffraction.SAMPLING,
    "microscopy": microscopy.SAMPLING,
    "spectra": spectra.SAMPLING,
    **materials.SAMPLING,
}


def overview(chosen: Sequence[Item]) -> pd.DataFrame:
    """One row a constraint type: items, sources, how many are simulated, and what is asked."""
    import pandas as pd

    rows = []
    for name in CONSTRAINTS:
        own = [item for item in chosen if item.constraint == name]
        if not own:
            continue
        asked = [item.asks for item in own]
        rows.append(
            {
                "constraint": name,
                "modality": items.MODALITY[name],
                "items": len(own),
                "sources": len({item.source_id for item in own}),
                "simulated": sum(bool(item.facts["simulated"]) for item in own),
                "asked for": ", ".join(
                    f"{what.replace('_', ' ')} {asked.count(what)}" for what in dict.fromkeys(asked)
                ),
            }
        )
    return pd.DataFrame(rows)


def rules(constraints: Sequence[str] = tuple(CONSTRAINTS)) -> pd.DataFrame:
    """How the items of each constraint type are sampled, and when an answer is accurate."""
    import pandas as pd

    rows = [
        {"constraint": c, "sampled": SAMPLING[c], "accurate if": CRITERIA[c]} for c in constraints
    ]
    return pd.DataFrame(rows)


def one_claim(chosen: Sequence[Item], seed: int = 0) -> pd.DataFrame:
    """State every accurate answer, read it back and judge it.

    Each item's answer is stated twice: by its own sentence, and in a surface form of
    `claims.wordings` drawn at random.

    Parameters
    ----------
    chosen : sequence of Item
    seed : int
        Of the surface forms.

    Returns
    -------
    DataFrame
        A row an item and statement: how many claims were read, the oracle's outcome on them and
        whether they are accurate.
    """
    import numpy as np
    import pandas as pd

    from matpcr_utils import oracles
    from matpcr_utils.claims import extract_claims, wordings

    rng = np.random.default_rng(seed)
    rows = []
    for item in chosen:
        stated = {"own": items.answer(item), "drawn": wordings.state(items.true_claim(item), rng)}
        for form, chain in stated.items():
            claims = extract_claims(chain, item.constraint)
            judged = oracles.check_chain(chain, item.constraint, items.reference(item))
            rows.append(
                {
                    "item_id": item.item_id,
                    "constraint": item.constraint,
                    "form": form,
                    "chain": chain,
                    "claims": len(claims),
                    "outcome": str(judged.outcome),
                    "accurate": items.accurate(item, claims),
                }
            )
    return pd.DataFrame(rows)


def one_claim_summary(checked: pd.DataFrame) -> pd.DataFrame:
    """Counts of `one_claim` by constraint type and form."""
    grouped = checked.groupby(["constraint", "form"], sort=False)
    return grouped.agg(
        statements=("claims", "size"),
        one_claim=("claims", lambda n: int((n == 1).sum())),
        consistent=("outcome", lambda o: int((o == "consistent").sum())),
        accurate=("accurate", lambda a: int((a == True).sum())),  # noqa: E712 - None is neither
    ).reset_index()


def wordings_table(item: Item, modality: str | None = None, examples: int = 0) -> Styler:
    """The prompt of an item in every wording, side by side, line breaks kept."""
    import pandas as pd

    prompts = {v: items.prompt(item, v, modality, examples) for v in items.PROMPT_VERSIONS}
    shown = pd.DataFrame([prompts]).style.hide(axis="index")
    style = {"white-space": "pre-wrap", "text-align": "left", "vertical-align": "top"}
    return shown.set_properties(**style)  # type: ignore[arg-type]
