"""What the control on spectra shows: causes of false alarms, two criteria, a grid of thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import ClaimTable
from matpcr_utils.controls.spectra import (
    default_references,
    draw_prior,
    eligible,
    known,
    plant,
    true_claims,
)
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.spectra import CONSTRAINT, CRITERIA, Tolerances, accepted, check_many
from matpcr_utils.references.spectrum_table import SpectrumTable

if TYPE_CHECKING:
    import pandas as pd

    from matpcr_utils.controls import ControlResult

#: A band of the literature and one of the spectrum are the same within this many 1/cm.
_SAME_BAND = 12.0


def explain(
    result: ControlResult,
    tolerances: Tolerances | None = None,
    references: SpectrumTable | None = None,
) -> pd.DataFrame:
    """Why each true claim of a control was flagged: the first thing that, if mended, lets it pass.

    Parameters
    ----------
    result : ControlResult
        Of this constraint.
    tolerances : Tolerances, optional
        Those of the control.
    references : SpectrumTable, optional
        What the control ran on; default, all that the package ships.

    Returns
    -------
    DataFrame
        A row for each spectrum and known band: how many claims were flagged, how far the axis is
        off (median over the spectrum's accepted bands, 1/cm), and the cause.
    """
    import pandas as pd

    references = default_references() if references is None else references
    tolerances = Tolerances() if tolerances is None else tolerances
    rows = np.flatnonzero(~result.planted & result.verdicts.violation)
    index = result.index[rows]
    value = result.claims.value[rows]
    bands = known(references)
    offset = np.array(
        [_axis_offset(references, i, bands[i], tolerances) for i in range(len(bands))]
    )
    weak = replace(tolerances, prominence=1e-9, background_share=0.0)
    trials = (
        ("axis off", value + offset[index], tolerances),
        ("too weak", value, weak),
        ("axis off, and too weak", value + offset[index], weak),
        ("in the noise", value + offset[index], replace(weak, noise_multiple=3.0)),
    )
    cause = np.full(len(rows), "no maximum of its own", dtype="U32")
    for name, claimed, relaxed in reversed(trials):
        claims = ClaimTable.numbers("raman_shift", claimed)
        cause[check_many(claims, references, relaxed, index=index).consistent] = name
    names = [getattr(references.spectra[i], "spectrum_id", str(i)) for i in index]
    nearest = [
        float(bands[i][np.argmin(np.abs(bands[i] - v))]) for i, v in zip(index, value, strict=True)
    ]
    table = pd.DataFrame(
        {
            "spectrum": names,
            "band": nearest,
            "axis off by": np.round(offset[index], 1),
            "cause": cause,
        }
    )
    columns = list(table)
    return table.groupby(columns, as_index=False).size().rename(columns={"size": "flagged"})


def _axis_offset(
    references: SpectrumTable, number: int, bands: NDArray[np.float64], tolerances: Tolerances
) -> float:
    """Median distance from the known bands to the accepted maxima that belong to them."""
    mine = accepted(references, tolerances)[references.maxima.owner == number]
    position = references.prepared[number].position[mine]
    if not len(position) or not len(bands):
        return 0.0
    distance = position[:, None] - bands
    nearest = distance[np.argmin(np.abs(distance), axis=0), np.arange(len(bands))]
    near = np.abs(nearest) < _SAME_BAND
    return float(np.median(nearest[near])) if near.any() else 0.0


def compare_criteria(
    *,
    planted: float = 0.3,
    n: int | None = None,
    draws: int = 200,
    tolerances: Tolerances | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """The criterion of the paper beside the one it superseded, on the same claims.

    Returns
    -------
    DataFrame
        For each criterion: planted violations missed, true claims flagged, precision (planted
        among the flagged) and the pass rate of chance claims.
    """
    import pandas as pd

    from matpcr_utils import controls
    from matpcr_utils.statistics import rate

    tolerances = Tolerances() if tolerances is None else tolerances
    rows = []
    for criterion in CRITERIA:
        options: dict[str, Any] = {
            "references": default_references(),
            "tolerances": replace(tolerances, criterion=criterion),
            "seed": seed,
        }
        result = controls.run(CONSTRAINT, planted=planted, n=n, **options)
        fired = result.verdicts.violation
        rows.append(
            {
                "criterion": criterion,
                "missed of the planted": str(result.false_negatives),
                "flagged of the true": str(result.false_positives),
                "precision": str(rate(int((fired & result.planted).sum()), int(fired.sum()))),
                "chance claims that pass": str(
                    controls.chance(CONSTRAINT, draws=draws, **options).passes
                ),
            }
        )
    return pd.DataFrame(rows).set_index("criterion")


def sensitivity(
    windows: Sequence[float],
    prominences: Sequence[float],
    *,
    n: int | None = None,
    draws: int = 100,
    seed: int = 0,
) -> pd.DataFrame:
    """Pass rates of true, planted and chance claims over a grid of two tolerances.

    Returns
    -------
    DataFrame
        A row for each pair, with columns ``window``, ``prominence``, ``true``, ``planted`` and
        ``chance``. The planted claims lie clear of the widest window, so they are the same at each.

    Raises
    ------
    MatPCRError
        If a grid is empty.
    """
    import pandas as pd

    if not len(windows) or not len(prominences):
        raise MatPCRError("windows and prominences must hold at least one value each")
    references = default_references()
    widest = Tolerances(window=max(windows))
    pool = np.flatnonzero(eligible(references, widest))
    rng = np.random.default_rng(seed)
    index = np.resize(pool, max(n or 0, len(pool), 500))
    true = true_claims(references, index, widest, rng)
    false = plant(true, references, index, widest, rng)
    everywhere = np.repeat(np.arange(len(references)), draws)
    chance = draw_prior(references, everywhere, rng)
    rows = []
    for window in windows:
        for prominence in prominences:
            tolerances = Tolerances(window=window, prominence=prominence)
            row: dict[str, float] = {"window": window, "prominence": prominence}
            for name, claims, where in (
                ("true", true, index),
                ("planted", false, index),
                ("chance", chance, everywhere),
            ):
                verdicts = check_many(claims, references, tolerances, index=where)
                row[name] = float(verdicts.consistent.sum() / (~verdicts.abstain).sum())
            rows.append(row)
    return pd.DataFrame(rows)


def line_readings(sample: str, shift: float, reach: float = 10.0) -> pd.DataFrame:
    """Where each shipped spectrum of a sample shows one line: its most prominent maximum nearby.

    Parameters
    ----------
    sample : str
        As in `references.spectra`.
    shift, reach : float
        1/cm: where to look, and how far on either side.

    Returns
    -------
    DataFrame
        Columns ``spectrum``, ``instrument`` (laboratory, maker, laser) and ``position`` (1/cm).

    Raises
    ------
    MatPCRError
        If no spectrum of that sample shows a maximum there.
    """
    import pandas as pd

    references = default_references()
    rows = []
    for spectrum, found in zip(references.spectra, references.prepared, strict=True):
        near = np.flatnonzero(np.abs(found.position - shift) <= reach)
        if getattr(spectrum, "sample", "") != sample or not len(near):
            continue
        best = near[np.argmax(found.prominence[near])]
        names = (getattr(spectrum, name) for name in ("laboratory", "instrument", "laser_nm"))
        label = " ".join(
            f"{name:g} nm" if isinstance(name, float) else name for name in names if name
        )
        rows.append(
            {
                "spectrum": getattr(spectrum, "spectrum_id", ""),
                "instrument": label or "not stated",
                "position": float(found.position[best]),
            }
        )
    if not rows:
        raise MatPCRError(f"no spectrum of {sample!r} has a maximum within {reach:g} of {shift:g}")
    return pd.DataFrame(rows)
