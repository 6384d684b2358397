"""How sure a rate is: intervals, tests, and what an imperfect oracle or a guesser does to it.

`rates` and `bootstrap` give the physical-consistency rate (PCR) its interval, `cells` does so for a
whole table; `paired` and `implied` compare before with after, and `power` says how many pairs that
takes; `comparisons` corrects for many tests; `concentration`, `oracle_error` and `correction` bound
and correct the measurement itself; `chance` removes what a guesser scores.
"""

from matpcr_utils.statistics.bootstrap import (
    BootstrapDifference,
    BootstrapRate,
    bootstrap,
    bootstrap_counts,
    bootstrap_difference,
    bootstrap_pcr,
)
from matpcr_utils.statistics.cells import pcr_cells
from matpcr_utils.statistics.chance import ChanceCorrected, chance_corrected
from matpcr_utils.statistics.comparisons import adjust
from matpcr_utils.statistics.concentration import (
    effective_sources,
    hoeffding,
    hoeffding_half_width,
    required_n,
)
from matpcr_utils.statistics.correction import CorrectedPCR, corrected_pcr, rogan_gladen
from matpcr_utils.statistics.implied import Implied, ImpliedCounts, implied_counts
from matpcr_utils.statistics.macro import MacroRate, bootstrap_macro
from matpcr_utils.statistics.oracle_error import (
    TotalErrorBound,
    bias_range,
    false_alarm_from_precision,
    oracle_bias,
    oracle_bias_bound,
    reported_pcr,
    total_error_bound,
)
from matpcr_utils.statistics.paired import Paired, paired, paired_counts, sign_flip
from matpcr_utils.statistics.power import mcnemar_pairs, mcnemar_power
from matpcr_utils.statistics.rates import Rate, pcr, rate, rate_by_source

__all__ = [
    "BootstrapDifference",
    "BootstrapRate",
    "ChanceCorrected",
    "CorrectedPCR",
    "Implied",
    "ImpliedCounts",
    "MacroRate",
    "Paired",
    "Rate",
    "TotalErrorBound",
    "adjust",
    "bias_range",
    "bootstrap",
    "bootstrap_counts",
    "bootstrap_difference",
    "bootstrap_macro",
    "bootstrap_pcr",
    "chance_corrected",
    "corrected_pcr",
    "effective_sources",
    "false_alarm_from_precision",
    "hoeffding",
    "hoeffding_half_width",
    "implied_counts",
    "mcnemar_pairs",
    "mcnemar_power",
    "oracle_bias",
    "oracle_bias_bound",
    "paired",
    "paired_counts",
    "pcr",
    "pcr_cells",
    "rate",
    "rate_by_source",
    "reported_pcr",
    "required_n",
    "rogan_gladen",
    "sign_flip",
    "total_error_bound",
]
