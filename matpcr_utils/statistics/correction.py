"""PCR corrected for the oracle's errors, with an interval that carries their uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics._inputs import (
    check_counts,
    check_level,
    check_resampling,
    check_share,
)

METHODS = ("lang-reiczigel", "delta", "bootstrap")


@dataclass(frozen=True, slots=True)
class CorrectedPCR:
    """Error-corrected rate.

    Attributes
    ----------
    estimate : float
        Corrected rate, cut to [0, 1].
    raw : float
        The same before the cut; outside [0, 1] the reported rate and the audit contradict.
    lower, upper : float
        Ends of the interval, cut to [0, 1].
    reported : float
        The rate as the oracle gave it.
    recall, false_alarm : float
        d̂ and f̂ from the audited counts.
    method : str
    level : float
    degenerate : bool
        A rate is 0 or 1 in its sample, and `method` gives it no width: the interval is too narrow.
    resamples, seed : int or None
        Of the bootstrap.
    """

    estimate: float
    raw: float
    lower: float
    upper: float
    reported: float
    recall: float
    false_alarm: float
    method: str
    level: float
    degenerate: bool
    resamples: int | None = None
    seed: int | None = None

    def __str__(self) -> str:
        return (
            f"{self.reported:.4f} reported, {self.estimate:.4f} "
            f"[{self.lower:.4f}, {self.upper:.4f}] corrected"
        )


def rogan_gladen(pcr: float, recall: float, false_alarm: float) -> float:
    """True rate behind a reported one, (PCR − (1 − d̂)) / (d̂ − f̂); not cut to [0, 1].

    Parameters
    ----------
    pcr : float
        Reported rate.
    recall, false_alarm : float
        d̂ and f̂, taken as known.

    Raises
    ------
    MatPCRError
        If d̂ <= f̂: the oracle flags consistent items as often as inconsistent ones.

    Notes
    -----
    The identity of `oracle_bias` solved for PCR*; Rogan & Gladen, Am. J. Epidemiol. 107, 71 (1978).
    """
    check_share(pcr, "PCR")
    d, f = check_share(recall, "recall"), check_share(false_alarm, "false-alarm rate")
    if d <= f:
        raise MatPCRError(
            f"recall {d:.4g} is not above the false-alarm rate {f:.4g}: the oracle's flags say "
            "nothing about consistency, and no correction exists; use a better oracle"
        )
    return (pcr - (1 - d)) / (d - f)


def corrected_pcr(
    consistent: int,
    n: int,
    *,
    detected: int,
    planted: int,
    false_alarms: int,
    sound: int,
    n_sources: int | None = None,
    method: str = "lang-reiczigel",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> CorrectedPCR:
    """Error-corrected PCR from the evaluation's counts and the audit's counts.

    Parameters
    ----------
    consistent, n : int
        Items that the oracle passed, and checkable items.
    detected, planted : int
        Violations that the oracle flagged, and violations in the audit.
    false_alarms, sound : int
        Consistent items that the oracle flagged, and consistent items in the audit.
    n_sources : int, optional
        Independent sources of the `n` items, when they share them. It takes the place of `n` in the
        sampling error, as if a source's items always agreed.
    method : {"lang-reiczigel", "delta", "bootstrap"}
        Lang–Reiczigel adds pseudo-counts, so that an audit without an error still leaves
        uncertainty. The delta method (Rogan & Gladen 1978) and the percentile bootstrap of the
        three counts do not: see `CorrectedPCR.degenerate`.
    level : float
        Confidence level in (0, 1).
    resamples, seed : int
        Of the bootstrap. A resample whose recall is not above its false-alarm rate has no corrected
        rate and could be anything: it counts as 0 at the lower end and as 1 at the upper.

    Raises
    ------
    MatPCRError
        If a count lies outside its range, a sample is empty, or recall is not above the
        false-alarm rate.

    Notes
    -----
    Lang & Reiczigel, Prev. Vet. Med. 113, 13 (2014), with recall as sensitivity and 1 − f̂ as
    specificity. The audit's samples must be independent of the evaluation's.
    """
    check_level(level)
    for count, of, name, of_name in (
        (consistent, n, "consistent", "n"),
        (detected, planted, "detected", "planted"),
        (false_alarms, sound, "false_alarms", "sound"),
    ):
        check_counts(count, of, name, of_name)
        if of == 0:
            raise MatPCRError(f"{of_name} is 0: a rate needs at least one item")
    if n_sources is not None and not 1 <= n_sources <= n:
        raise MatPCRError(f"{n_sources} sources must lie between 1 and n = {n}")
    if method not in METHODS:
        raise MatPCRError(f"unknown interval {method!r}: choose one of {', '.join(METHODS)}")
    reported, d, f = consistent / n, detected / planted, false_alarms / sound
    raw = rogan_gladen(reported, d, f)
    rates = np.array([reported, d, f])
    sizes = np.array([n if n_sources is None else n_sources, planted, sound])
    drawn = method == "bootstrap"
    if drawn:
        check_resampling(resamples, level, seed)
        lower, upper = _bootstrap(rates, sizes, level, resamples, seed)
    else:
        lower, upper = (_delta if method == "delta" else _lang_reiczigel)(rates, sizes, level)
    return CorrectedPCR(
        estimate=min(1.0, max(0.0, raw)),
        raw=raw,
        lower=min(1.0, max(0.0, lower)),
        upper=min(1.0, max(0.0, upper)),
        reported=reported,
        recall=d,
        false_alarm=f,
        method=method,
        level=level,
        degenerate=method != "lang-reiczigel" and bool(((rates == 0) | (rates == 1)).any()),
        resamples=resamples if drawn else None,
        seed=seed if drawn else None,
    )


def _standard_error(rates: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    """Corrected rate and its first-order standard error."""
    reported, d, f = rates
    true = rogan_gladen(reported, d, f)
    variances = rates * (1 - rates) / sizes
    weights = np.array([1.0, (1 - true) ** 2, true**2])
    return true, sqrt(float(weights @ variances)) / (d - f)


def _delta(rates: np.ndarray, sizes: np.ndarray, level: float) -> tuple[float, float]:
    true, error = _standard_error(rates, sizes)
    z = NormalDist().inv_cdf((1 + level) / 2)
    return true - z * error, true + z * error


def _lang_reiczigel(rates: np.ndarray, sizes: np.ndarray, level: float) -> tuple[float, float]:
    z = NormalDist().inv_cdf((1 + level) / 2)
    added = np.array([z**2, 2.0, 2.0])
    shrunk = (rates * sizes + added / 2) / (sizes + added)
    if shrunk[1] <= shrunk[2]:
        raise MatPCRError(
            f"{int(sizes[1])} planted and {int(sizes[2])} sound items are too few to tell the "
            "oracle's recall from its false-alarm rate: audit more"
        )
    true, error = _standard_error(shrunk, sizes + added)
    # The pseudo-counts pull the estimate; the shift puts the interval's middle back.
    spread = shrunk * (1 - shrunk) / (sizes + added)
    shift = 2 * z**2 * (true * spread[2] - (1 - true) * spread[1])
    return true + shift - z * error, true + shift + z * error


def _bootstrap(
    rates: np.ndarray, sizes: np.ndarray, level: float, resamples: int, seed: int
) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    reported, d, f = (rng.binomial(sizes, rates, size=(resamples, 3)) / sizes).T
    informative = d > f
    gap = np.where(informative, d - f, 1.0)
    true = np.clip((reported - (1 - d)) / gap, 0, 1)
    low, high = (1 - level) / 2, (1 + level) / 2
    return (
        float(np.quantile(np.where(informative, true, 0.0), low)),
        float(np.quantile(np.where(informative, true, 1.0), high)),
    )
