"""Chains with their claims marked, tables of chains and claims, and the recovery figure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from matpcr_utils.claims import Claim, extract_claims
from matpcr_utils.errors import MatPCRError
from matpcr_utils.plotting import COLORS, axes
from matpcr_utils.statistics import rate

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas.io.formats.style import Styler

    from matpcr_utils.claims.recovery import Recovery


def told(claim: Claim) -> str:
    """A claim in a few words: "two_theta = 28.44 degree"."""
    if isinstance(claim.value, str):
        return f"{claim.quantity} = {claim.value}"
    per = f" per {claim.basis.replace('_', ' ')}" if claim.basis else ""
    unit = claim.unit.partition("/atom")[0]
    return f"{claim.quantity} = {claim.value:.6g} {unit}{per}"


class Marked:
    """A chain with its claims marked, for a notebook; as text, the claims in brackets."""

    def __init__(self, chain: str, constraint: str) -> None:
        self.chain = chain
        self.claims = extract_claims(chain, constraint)

    def _pieces(self) -> list[tuple[str, Claim | None]]:
        pieces: list[tuple[str, Claim | None]] = []
        done = 0
        for claim in self.claims:
            start, end = claim.span
            start = max(start, done)  # two claims may share words
            pieces += [(self.chain[done:start], None), (self.chain[start:end], claim)]
            done = max(done, end)
        return [*pieces, (self.chain[done:], None)]

    def _repr_html_(self) -> str:
        style = "background:#F6D58A;color:#222;padding:0 .15em;border-radius:.2em"
        parts = [
            escape(text)
            if claim is None
            else f'<mark style="{style}" title="{escape(told(claim))}">{escape(text)}</mark>'
            for text, claim in self._pieces()
        ]
        body = "".join(parts).replace("\n", "<br>").replace("$", "&#36;").replace("\\", "&#92;")
        return f'<p class="tex2jax_ignore" style="line-height:1.7">{body}</p>'

    def __repr__(self) -> str:
        return "".join(
            text if claim is None else f"[{text} → {told(claim)}]" for text, claim in self._pieces()
        )


def mark(chain: str, constraint: str) -> Marked:
    """A chain with the claims that a constraint can check marked; hover to see what was read."""
    return Marked(chain, constraint)


def cases(chains: dict[str, Sequence[str]], careful: Sequence[str] | None = None) -> Styler:
    """A table of chains and what is read from each.

    Parameters
    ----------
    chains : dict of str to sequence of str
        Chains by constraint.
    careful : sequence of str, optional
        What a careful reader would say, in the order of the chains; a column of its own.

    Raises
    ------
    MatPCRError
        If `careful` has another length than the chains.
    """
    import pandas as pd

    rows = [(constraint, chain) for constraint, many in chains.items() for chain in many]
    if careful is not None and len(careful) != len(rows):
        raise MatPCRError(f"{len(careful)} careful readings for {len(rows)} chains: give one each")
    columns = {
        "Constraint": [constraint for constraint, _ in rows],
        "Chain": [_plain(chain) for _, chain in rows],
    }
    if careful is not None:
        columns["A careful reader"] = list(careful)
    columns["Read here"] = [
        "<br>".join(escape(told(c)) for c in extract_claims(chain, constraint)) or "no claim"
        for constraint, chain in rows
    ]
    shown = pd.DataFrame(columns).style.hide(axis="index")
    left: list[Any] = [{"selector": "th, td", "props": [("text-align", "left")]}]
    return shown.set_table_styles(left).set_table_attributes('class="tex2jax_ignore"')


def recovery_table(results: Sequence[Recovery]) -> Styler:
    """Shares recovered, missed and misread, a row a quantity."""
    import pandas as pd

    rows = [
        {
            "Quantity": r.quantity,
            "Typos": f"{r.typos:.1%}",
            "Recovered": str(r.recovered),
            "Missed": r.missed.count,
            "Misread": r.misread.count,
        }
        for r in results
    ]
    return pd.DataFrame(rows).style.hide(axis="index")


def recovery(results: Sequence[Recovery]) -> Figure:
    """Shares recovered, missed and misread against the typo rate, pooled over quantities."""
    shares = sorted({r.typos for r in results})
    figure, panel = axes(height=3.2)
    kinds = (("recovered", "consistent"), ("missed", "abstain"), ("misread", "violation"))
    for name, color in kinds:
        pooled = []
        for share in shares:
            mine = [getattr(r, name) for r in results if r.typos == share]
            pooled.append(rate(sum(m.count for m in mine), sum(m.n for m in mine), "wilson"))
        x = [100 * share for share in shares]
        middle = [p.estimate for p in pooled]
        panel.plot(x, middle, "o-", color=COLORS[color], label=name)
        panel.fill_between(
            x, [p.lower for p in pooled], [p.upper for p in pooled], color=COLORS[color], alpha=0.2
        )
    panel.set_xlabel("letters damaged (%)")
    panel.set_ylabel("share of stated claims")
    panel.set_ylim(-0.03, 1.05)
    panel.legend(loc="center right")
    return figure


def _plain(chain: str) -> str:
    return escape(chain).replace("\n", "<br>").replace("$", "&#36;").replace("\\", "&#92;")
