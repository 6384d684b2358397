"""From files and names to what an oracle judges against, for one chain on the command line."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matpcr_utils import oracles
from matpcr_utils.chapters.parameters import Parameter, resolve
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles import ChainVerdict

#: What each constraint can be judged against: the options that name it.
SOURCES: dict[str, tuple[str, ...]] = {
    "diffraction": ("structure", "material"),
    "microscopy": ("image",),
    "spectra": ("spectrum",),
    "stability": ("material",),
    "metallicity": ("material",),
    "magnetism": ("material",),
}
_EXAMPLES = {
    "structure": "--structure FILE.cif",
    "image": "--image FILE.tif",
    "spectrum": "--spectrum FILE",
    "material": "--material mp-1138",
}


def tolerances(constraint: str, given: Mapping[str, Any]) -> Any:
    """The oracle's tolerances, some of them changed.

    Raises
    ------
    MatPCRError
        If the oracle has no such tolerance, or a value does not fit.
    """
    default = oracles.get(constraint).Tolerances()
    groups = [default, *(group for group in _values(default) if dataclasses.is_dataclass(group))]
    known = [
        Parameter(field.name, str(field.type), getattr(group, field.name), "")
        for group in groups
        for field in dataclasses.fields(group)
        if not dataclasses.is_dataclass(getattr(group, field.name))
    ]
    return _replaced(default, resolve(f"the {constraint} oracle", known, given))


def _values(record: Any) -> list[Any]:
    return [getattr(record, field.name) for field in dataclasses.fields(record)]


def _replaced(record: Any, changes: Mapping[str, Any]) -> Any:
    """A record with fields changed, its own or those of a record within it."""
    new: dict[str, Any] = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if dataclasses.is_dataclass(value):
            new[field.name] = _replaced(value, changes)
        elif field.name in changes:
            new[field.name] = changes[field.name]
    return dataclasses.replace(record, **new)


def reference(
    constraint: str,
    *,
    wavelength: float | None = None,
    window: tuple[float, float] | None = None,
    pixel_size: float | None = None,
    **given: Any,
) -> Any:
    """What the oracle of a constraint judges against.

    Parameters
    ----------
    constraint : str
    wavelength : float, optional
        Of the radiation, in angstrom (diffraction); default, copper Kα.
    window : tuple of float, optional
        Measured 2θ in degree (diffraction); default, 10 to 90.
    pixel_size : float, optional
        In nm (microscopy), in place of what the scale bar and the header say.
    **given
        ``structure``, ``image``, ``spectrum`` (paths) or ``material`` (an id); exactly one that
        fits the constraint.

    Raises
    ------
    MatPCRError
        If none or several are given, or one that does not fit, or it can't be read.
    """
    source, value = _only(constraint, {k: v for k, v in given.items() if v is not None})
    optics = {"wavelengths": wavelength, "window": window}
    optics = {name: setting for name, setting in optics.items() if setting is not None}
    if pixel_size is not None and constraint != "microscopy":
        raise MatPCRError(f"a pixel size is microscopy's: leave it out for {constraint}")
    if optics and constraint != "diffraction":
        raise MatPCRError(
            f"wavelength and window are diffraction's: leave them out for {constraint}"
        )
    if constraint == "diffraction":
        return _diffraction(source, value, optics)
    if constraint == "microscopy":
        return _field_of_view(value, pixel_size)
    if constraint == "spectra":
        return _spectrum(value)
    return _material(value)


def _only(constraint: str, given: Mapping[str, Any]) -> tuple[str, Any]:
    fitting = SOURCES[constraint]
    options = " or ".join(_EXAMPLES[source] for source in fitting)
    for source in given:
        if source not in fitting:
            raise MatPCRError(f"{constraint} can't be judged on --{source}: give {options}")
    if len(given) != 1:
        found = " and ".join(f"--{source}" for source in given) or "nothing"
        raise MatPCRError(f"{constraint} is judged on one reference, not {found}: give {options}")
    return next(iter(given.items()))


def _diffraction(source: str, value: Any, optics: Mapping[str, Any]) -> Any:
    from matpcr_utils.references.diffraction import DiffractionReference

    if source == "structure":
        return DiffractionReference.from_cif(value, **optics)
    entry = _material(value)
    return DiffractionReference.from_structure(entry.structure, name=entry.formula, **optics)


def _material(material_id: str) -> Any:
    from matpcr_utils.references import dft

    return dft.entry(material_id)


def _field_of_view(path: Path, pixel_size: float | None) -> Any:
    from matpcr_utils.oracles.microscopy import FieldOfView
    from matpcr_utils.references import sem

    image = sem.load(path)
    if pixel_size is not None:
        height, width = image.pixels.shape[:2]
        return FieldOfView(pixel_size, width, height - image.databar_height, image.name, "given")
    calibration = sem.calibrate(image)
    if calibration.pixel_size_nm is None:
        raise MatPCRError(f"{image.name}: {calibration.note}")
    return FieldOfView.of(image, calibration)


def _spectrum(value: str | Path) -> Any:
    """A file of one's own, or a shipped spectrum by its id."""
    from matpcr_utils.references import spectra
    from matpcr_utils.references.textfiles import read_curve

    path = Path(value)
    if not path.suffix and not path.exists():
        return spectra.get(str(value))
    if not path.is_file():
        raise MatPCRError(f"no file {path}: give a spectrum of two columns, or a shipped one's id")
    curve = read_curve(path)
    if curve.kind == "pattern":
        raise MatPCRError(f"{path.name} holds a diffraction pattern: give a spectrum over 1/cm")
    return spectra.Spectrum.from_arrays(
        curve.x, curve.y, spectrum_id=path.stem, sample=curve.title or path.stem, source=path.name
    )


def as_dict(constraint: str, judged: ChainVerdict) -> dict[str, Any]:
    """A chain's verdict as plain values, for JSON."""
    return {
        "constraint": constraint,
        "outcome": str(judged.outcome),
        "claims": [
            {
                **{k: _plain(v) for k, v in dataclasses.asdict(claim).items() if k != "span"},
                "span": list(claim.span),
                "outcome": str(verdict.outcome),
                "reason": verdict.reason,
                "sentence": verdict.sentence,
                "details": {key: _plain(value) for key, value in verdict.details.items()},
            }
            for claim, verdict in zip(judged.claims, judged.verdicts, strict=True)
        ],
    }


def _plain(value: Any) -> Any:
    """NumPy scalars and arrays as Python values; None for NaN and infinity, which JSON lacks."""
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
