"""What an imperfect oracle does to PCR: its bias, and bounds on the total error.

τ is the true share of inconsistent items, d̂ the oracle's recall (share of inconsistent items that
it flags) and f̂ its false-alarm rate (share of consistent items that it flags). Paper, section 4.8.
"""

from __future__ import annotations

from dataclasses import dataclass

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics._inputs import check_share
from matpcr_utils.statistics.concentration import hoeffding_half_width


def reported_pcr(inconsistent: float, recall: float, false_alarm: float) -> float:
    """PCR that the oracle reports: all that it does not flag, 1 − τd̂ − (1 − τ)f̂.

    Parameters
    ----------
    inconsistent : float
        True share τ of inconsistent items.
    recall, false_alarm : float
        d̂ and f̂.
    """
    tau, d, f = _shares(inconsistent, recall, false_alarm)
    return 1 - tau * d - (1 - tau) * f


def oracle_bias(inconsistent: float, recall: float, false_alarm: float) -> float:
    """Reported minus true rate, PCR − PCR* = τ(1 − d̂) − (1 − τ)f̂ (paper, section 4.8).

    Parameters
    ----------
    inconsistent, recall, false_alarm
        As in `reported_pcr`; the true rate is PCR* = 1 − τ.
    """
    tau, d, f = _shares(inconsistent, recall, false_alarm)
    return tau * (1 - d) - (1 - tau) * f


def oracle_bias_bound(recall: float, false_alarm: float) -> float:
    """Bound (1 − d̂) + f̂ on the absolute bias, whatever τ is (paper, section 4.8).

    See Also
    --------
    bias_range : the narrower range that the identity gives.
    """
    _, d, f = _shares(0.0, recall, false_alarm)
    return (1 - d) + f


def bias_range(recall: float, false_alarm: float) -> tuple[float, float]:
    """Least and greatest bias over all τ: −f̂ (nothing inconsistent) and 1 − d̂ (everything).

    The bias is linear in τ, so these ends are reached, and its absolute value is at most
    max(1 − d̂, f̂): never above, and mostly below, `oracle_bias_bound`.
    """
    _, d, f = _shares(0.0, recall, false_alarm)
    return -f, 1 - d


@dataclass(frozen=True, slots=True)
class TotalErrorBound:
    """Bound on the distance of a reported rate from the true rate of the population.

    Attributes
    ----------
    oracle : float
        Bound on the oracle's bias.
    sampling : float
        Hoeffding's half-width, which holds with probability `level`.
    total : float
        Their sum; the trivial bound 1 when the sum is larger.
    n : float
        Independent sources.
    level : float
    """

    oracle: float
    sampling: float
    total: float
    n: float
    level: float


def total_error_bound(
    recall: float, false_alarm: float, n: float, level: float = 0.95
) -> TotalErrorBound:
    """Oracle bias and sampling error together (paper, Supplementary Note 1.7).

    Parameters
    ----------
    recall, false_alarm : float
        d̂ and f̂, taken as known.
    n : float
        Independent sources, as in `hoeffding_half_width`.
    level : float
        Probability with which the bound holds.

    Notes
    -----
    Distribution-free and so loose: at n = 90 its sampling term alone is 0.14. It assumes that
    sources are independent, which the paper calls an idealisation.
    """
    oracle = oracle_bias_bound(recall, false_alarm)
    sampling = hoeffding_half_width(n, level)
    return TotalErrorBound(oracle, sampling, min(1.0, oracle + sampling), n, level)


def false_alarm_from_precision(precision: float, pcr: float, recall: float = 1.0) -> float:
    """False-alarm rate f̂ that a precision audit of the fired cases implies.

    Parameters
    ----------
    precision : float
        Share of the flagged items that are truly inconsistent.
    pcr : float
        Reported rate on the same items; 1 − pcr of them were flagged.
    recall : float
        d̂. The audit of fired cases does not measure it: 1 is an assumption, and anything else
        needs a sample of the items that the oracle left silent (paper, section 4.8).

    Raises
    ------
    MatPCRError
        If the figures contradict each other (more inconsistent items than items).

    Notes
    -----
    With F = 1 − pcr flagged, τd̂ = precision · F and (1 − τ)f̂ = (1 − precision) · F.
    """
    check_share(precision, "precision")
    flagged = 1 - check_share(pcr, "PCR")
    if not 0 < recall <= 1:
        raise MatPCRError(f"recall {recall} must lie above 0 and at most at 1")
    false_alarms = (1 - precision) * flagged
    if false_alarms == 0:
        return 0.0
    consistent = 1 - precision * flagged / recall
    if consistent < false_alarms * (1 - 1e-9):  # equal up to rounding: all of them false alarms
        raise MatPCRError(
            f"precision {precision}, PCR {pcr} and recall {recall} contradict each other: "
            f"{false_alarms:.4g} of the items would be false alarms, but only "
            f"{max(consistent, 0.0):.4g} are consistent"
        )
    return min(1.0, false_alarms / consistent)


def _shares(tau: float, recall: float, false_alarm: float) -> tuple[float, float, float]:
    return (
        check_share(tau, "inconsistent share"),
        check_share(recall, "recall"),
        check_share(false_alarm, "false-alarm rate"),
    )
