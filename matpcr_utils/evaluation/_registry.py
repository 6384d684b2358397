"""What Inspect AI finds through the entry point ``inspect_ai``.

Inspect files tasks and solvers under the name of the Python package, ``matpcr_utils/stability``;
here each is also filed as ``matpcr/stability``, the name that the documentation and the provider
use.
"""

from inspect_ai._util.registry import RegistryInfo, registry_add, registry_info

from matpcr_utils.evaluation.cgsv import cgsv, refine, reprompt
from matpcr_utils.evaluation.providers import matpcr
from matpcr_utils.evaluation.scorers import (
    abstention,
    accuracy,
    coverage,
    interval,
    oracle,
    pcr,
    rate,
)
from matpcr_utils.evaluation.solver import ask
from matpcr_utils.evaluation.tasks import (
    TASKS,
    diffraction,
    magnetism,
    metallicity,
    microscopy,
    spectra,
    stability,
)

__all__ = [
    "abstention",
    "accuracy",
    "ask",
    "cgsv",
    "coverage",
    "diffraction",
    "interval",
    "magnetism",
    "matpcr",
    "metallicity",
    "microscopy",
    "oracle",
    "pcr",
    "rate",
    "refine",
    "reprompt",
    "spectra",
    "stability",
]


def _file_under_short_names() -> None:
    for made in (*TASKS.values(), ask, cgsv, refine, reprompt):
        own = registry_info(made)
        short = f"matpcr/{own.name.rpartition('/')[2]}"
        registry_add(made, RegistryInfo(type=own.type, name=short, metadata=own.metadata))
        # The last name stands on it; the package's own stays the one that logs carry.
        registry_add(made, own)


_file_under_short_names()
