"""A folder of one's own files as references: CIF, scans and spectra as text, and TIFF images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references.cif import structure_from_cif
from matpcr_utils.references.patterns import Pattern
from matpcr_utils.references.spectra import Spectrum
from matpcr_utils.references.textfiles import Curve, read_curve

if TYPE_CHECKING:
    from pymatgen.core import Structure

STRUCTURE_SUFFIXES = (".cif",)
CURVE_SUFFIXES = (".xy", ".xye", ".txt", ".csv", ".dat", ".json")
IMAGE_SUFFIXES = (".tif", ".tiff")
KINDS = ("auto", "pattern", "spectrum")
#: A file that doesn't say what it holds is a pattern when its axis could be 2θ.
LARGEST_TWO_THETA = 180.0


@dataclass(frozen=True)
class Folder:
    """What a folder holds, by file name relative to it.

    Attributes
    ----------
    structures : dict of str to pymatgen Structure
        One of each CIF.
    disordered : dict of str to str
        Of the structures with partial occupancy, why: an oracle that needs ordered sites abstains.
    patterns : dict of str to Pattern
    spectra : dict of str to Spectrum
    images : tuple of Path
        Not opened here; `references.sem` reads them.
    problems : dict of str to str
        Files that could not be read and why; empty unless ``strict=False``.
    ignored : tuple of Path
        Files of other kinds.
    """

    structures: dict[str, Structure] = field(default_factory=dict)
    disordered: dict[str, str] = field(default_factory=dict)
    patterns: dict[str, Pattern] = field(default_factory=dict)
    spectra: dict[str, Spectrum] = field(default_factory=dict)
    images: tuple[Path, ...] = ()
    problems: dict[str, str] = field(default_factory=dict)
    ignored: tuple[Path, ...] = ()

    def structure_of(self, pattern: str) -> Structure | None:
        """The structure whose file has the pattern's name, or the only structure there is."""
        stem = str(Path(pattern).with_suffix(""))
        for name, structure in self.structures.items():
            if str(Path(name).with_suffix("")) == stem:
                return structure
        return next(iter(self.structures.values())) if len(self.structures) == 1 else None


def load(
    path: str | Path,
    *,
    wavelength: float | None = None,
    kind: str = "auto",
    recursive: bool = False,
    strict: bool = True,
) -> Folder:
    """Read every file of a folder that can be a reference.

    Parameters
    ----------
    path : path
        The folder.
    wavelength : float, optional
        Å, for patterns whose file doesn't state it.
    kind : {"auto", "pattern", "spectrum"}
        What two-column files hold. ``"auto"`` goes by the file's header, then by its suffix (XY
        and XYE are patterns), then by its axis: within 0 and 180, a pattern.
    recursive : bool
        Also read subfolders.
    strict : bool
        Raise at the first file that can't be read; else gather them in ``problems``.

    Raises
    ------
    MatPCRError
        If there is no such folder or nothing to read in it; in strict mode, if a CIF does not
        parse or holds several structures, a curve holds NaN, is empty or not monotonic, or a
        pattern's wavelength is unknown.
    """
    root = Path(path)
    if kind not in KINDS:
        raise MatPCRError(f"unknown kind {kind!r}: choose one of {', '.join(KINDS)}")
    if not root.is_dir():
        raise MatPCRError(f"{root} is no folder: give the folder that holds your files")
    found = Folder()
    images, ignored = [], []
    for file in _files(root, recursive):
        suffix = file.suffix.lower()
        if suffix in IMAGE_SUFFIXES:
            images.append(file)
            continue
        if suffix not in STRUCTURE_SUFFIXES + CURVE_SUFFIXES:
            ignored.append(file)
            continue
        name = file.relative_to(root).as_posix()
        try:
            if suffix in STRUCTURE_SUFFIXES:
                _add_structure(found, file, name)
            else:
                _add_curve(found, file, name, wavelength, kind)
        except MatPCRError as error:
            if strict:
                raise
            found.problems[name] = str(error)
    if not (found.structures or found.patterns or found.spectra or images or found.problems):
        wanted = ", ".join(STRUCTURE_SUFFIXES + CURVE_SUFFIXES + IMAGE_SUFFIXES)
        raise MatPCRError(f"{root} holds no file to read: put {wanted} files into it")
    return Folder(
        found.structures,
        found.disordered,
        found.patterns,
        found.spectra,
        tuple(images),
        found.problems,
        tuple(ignored),
    )


def _files(root: Path, recursive: bool) -> Iterator[Path]:
    files = root.rglob("*") if recursive else root.glob("*")
    return iter(sorted(f for f in files if f.is_file() and not f.name.startswith(".")))


def disorder(structure: Structure) -> str:
    """Why a structure is disordered: its first site of partial or mixed occupancy, else ``""``."""
    for site in structure:
        if not site.is_ordered:
            place = ", ".join(f"{x:.4g}" for x in site.frac_coords)
            return f"the site ({site.species_string}) at ({place}) is partly or mixedly occupied"
    return ""


def _add_structure(found: Folder, file: Path, name: str) -> None:
    found.structures[name] = structure = structure_from_cif(file)
    reason = disorder(structure)
    if reason:
        found.disordered[name] = reason


def _add_curve(found: Folder, file: Path, name: str, wavelength: float | None, kind: str) -> None:
    curve = read_curve(file)
    if _kind(curve, file, kind) == "spectrum":
        found.spectra[name] = Spectrum.from_arrays(
            curve.x,
            curve.y,
            spectrum_id=name,
            sample=curve.title or file.stem,
            laser_nm=curve.wavelength,
            source=name,
        )
        return
    length = curve.wavelength if curve.wavelength is not None else wavelength
    if length is None:
        raise MatPCRError(
            f"{name}: the file does not state its wavelength: pass wavelength= in Å "
            "(Cu Kα1 is 1.540593)"
        )
    found.patterns[name] = Pattern.from_arrays(
        curve.x,
        curve.y,
        name=curve.title or file.stem,
        wavelength=length,
        second_wavelength=curve.second_wavelength,
        source=name,
    )


def _kind(curve: Curve, file: Path, asked: str) -> str:
    if asked != "auto":
        return asked
    if curve.kind:
        return curve.kind
    if file.suffix.lower() in (".xy", ".xye"):
        return "pattern"
    inside = curve.x.min() >= 0 and curve.x.max() <= LARGEST_TWO_THETA
    return "pattern" if inside else "spectrum"
