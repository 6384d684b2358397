"""What claims are judged against; each source is a submodule, imported on first use."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType

_SUBMODULES = frozenset(module.name for module in pkgutil.iter_modules(__path__))


def __getattr__(name: str) -> ModuleType:
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
