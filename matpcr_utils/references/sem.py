"""Electron micrographs from files: pixels, field of view, and the pixel size, twice if possible.

Zeiss (TIFF tag 34118) and FEI (tag 34682) write the pixel size into the header; nearly every
micrograph shows it by its scale bar. The header is exact but goes stale: an image resized after it
was recorded keeps the old figure, while the bar is resized with the image.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references.micrographs import Micrograph
from matpcr_utils.references.scalebar import ScaleBar, ScaleBarNotFound, as_uint8, detect

if TYPE_CHECKING:
    from tifffile import TiffFile, TiffPage

#: nm in the units that Zeiss writes.
_ZEISS_NM = {"pm": 1e-3, "nm": 1.0, "µm": 1e3, "μm": 1e3, "um": 1e3, "mm": 1e6, "m": 1e9}


@dataclass(frozen=True)
class SEMImage:
    """A micrograph as loaded from a file.

    Attributes
    ----------
    pixels : ndarray of uint8, shape (height, width) or (height, width, 3)
        Databar included; deeper images are stretched to 8 bits.
    databar_height : int
        Rows at the bottom that show no sample; 0 when there are none.
    header_pixel_size_nm : float or None
        nm per pixel, as the header states it.
    header_width_nm : float or None
        Width of the field of view, as the header states it.
    vendor : str
        ``"Zeiss"``, ``"FEI"`` or ``""``.
    metadata : mapping
        The vendor's header, as tifffile reads it.
    name : str
        The file's name.
    simulated : bool
        Always False.
    """

    pixels: NDArray[np.uint8]
    databar_height: int
    header_pixel_size_nm: float | None = None
    header_width_nm: float | None = None
    vendor: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)
    name: str = ""
    simulated: bool = False


@dataclass(frozen=True)
class Calibration:
    """Which pixel size an image gets, and why.

    Attributes
    ----------
    pixel_size_nm : float or None
        nm per pixel; None when neither bar nor header gives one that can be trusted.
    source : {"header", "bar", "none"}
    bar : ScaleBar or None
    header_pixel_size_nm : float or None
    ratio : float or None
        The bar's nm per pixel over the header's; None unless there are both.
    agrees : bool or None
        Whether the two agree within the tolerance; None unless there are both.
    note : str
        The reason in words.
    """

    pixel_size_nm: float | None
    source: str
    bar: ScaleBar | None
    header_pixel_size_nm: float | None
    ratio: float | None
    agrees: bool | None
    note: str


def load(path: str | Path, page: int = 0) -> SEMImage:
    """Read a micrograph from TIFF, or from PNG, JPEG or BMP (which carry no vendor's header).

    Parameters
    ----------
    path : str or Path
    page : int
        Which page of a TIFF with several.

    Returns
    -------
    SEMImage

    Raises
    ------
    MatPCRError
        If there is no such file or page, or it can't be read as an image.
    """
    path = Path(path)
    if not path.is_file():
        raise MatPCRError(f"no file {path}: give the path of a TIFF, PNG, JPEG or BMP image")
    with path.open("rb") as stream:
        is_tiff = stream.read(4) in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
    try:
        return _load_tiff(path, path.name, page) if is_tiff else _load_other(path)
    except MatPCRError as error:
        message = str(error)
        named = message if path.name in message else f"{path.name}: {message}"
        raise MatPCRError(named) from error
    except Exception as error:  # the readers raise whatever a broken file makes them trip over
        raise MatPCRError(
            f"{path} can't be read as an image ({' '.join(str(error).split())}): "
            "save it again as TIFF or PNG"
        ) from error


def nanoporous_gold() -> SEMImage:
    """A real micrograph with a Zeiss header and a burned-in 20 nm bracket.

    Nanoporous gold by J. Stuckner, from the package AQUAMI (MIT licence), read out of its archive.

    Raises
    ------
    MatPCRError
        If the archive can't be fetched.
    """
    from matpcr_utils.references import archives

    content = archives.member("aquami", "aquami/micrographs/Sample.tif")
    return replace(_load_tiff(BytesIO(content), "Sample.tif", 0), name="nanoporous gold (measured)")


def with_header(micrograph: Micrograph) -> SEMImage:
    """A generated micrograph as if loaded from a file whose header states its true pixel size."""
    return SEMImage(
        pixels=micrograph.pixels,
        databar_height=micrograph.databar_height,
        header_pixel_size_nm=micrograph.pixel_size_nm,
        header_width_nm=micrograph.pixel_size_nm * micrograph.pixels.shape[1],
        name=micrograph.name,
        simulated=True,
    )


def resized(image: SEMImage, factor: float) -> SEMImage:
    """An image as saved at another size by a program that keeps the header as it was.

    Parameters
    ----------
    image : SEMImage
    factor : float
        0.5 halves width and height.

    Raises
    ------
    MatPCRError
        If `factor` is not positive or leaves less than 32 pixels.
    """
    from PIL import Image

    height, width = image.pixels.shape[:2]
    if not (np.isfinite(factor) and factor * min(height, width) >= 32):
        raise MatPCRError(f"factor = {factor} must leave at least 32 pixels, e.g. 0.5")
    size = (round(width * factor), round(height * factor))
    small = Image.fromarray(image.pixels).resize(size, Image.Resampling.LANCZOS)
    return replace(
        image,
        pixels=np.asarray(small, np.uint8).copy(),
        databar_height=round(image.databar_height * factor),
        name=f"{image.name}, resized to {factor:g}",
    )


def _load_other(path: Path) -> SEMImage:
    from PIL import Image

    with Image.open(path) as image:
        deep = image.mode.startswith(("I", "F"))
        array = np.asarray(image if deep else image.convert("RGB"))
    pixels = _grey_if_grey(as_uint8(array))
    return SEMImage(pixels, databar_height(pixels), name=path.name)


def _load_tiff(source: Path | BytesIO, name: str, page: int) -> SEMImage:
    import tifffile

    with tifffile.TiffFile(source) as tiff:
        if not 0 <= page < len(tiff.pages):
            raise MatPCRError(f"{name} has pages 0 to {len(tiff.pages) - 1}, none {page}")
        pixels = _grey_if_grey(as_uint8(_page_array(tiff.pages[page])))  # type: ignore[arg-type]
        vendor, metadata, pixel, width, rows = _header(tiff)
    known = pixels.shape[0] - rows if rows and rows <= pixels.shape[0] else None
    return SEMImage(
        pixels=pixels,
        databar_height=databar_height(pixels) if known is None else known,
        header_pixel_size_nm=pixel,
        header_width_nm=width,
        vendor=vendor,
        metadata=metadata,
        name=name,
    )


def _page_array(page: TiffPage) -> NDArray[np.generic]:
    array = page.asarray()
    if array.dtype.kind == "c":
        raise MatPCRError("complex numbers are no image: save its magnitude")
    if page.photometric == 3 and page.colormap is not None:  # palette
        colours = np.moveaxis(page.colormap[:, array], 0, -1)
        return (colours >> 8).astype(np.uint8)
    if page.photometric == 0 and array.dtype.kind == "u":  # white is zero
        array = np.iinfo(array.dtype).max - array
    if array.ndim == 3 and array.shape[0] in (3, 4) and array.shape[2] not in (3, 4):
        array = np.moveaxis(array, 0, -1)
    return array


def _grey_if_grey(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """One plane when the three colours are equal, as in most files that say RGB."""
    if pixels.ndim == 3 and (pixels == pixels[..., :1]).all():
        return np.ascontiguousarray(pixels[..., 0])
    return pixels


def _header(tiff: TiffFile) -> tuple[str, dict[str, Any], float | None, float | None, int | None]:
    """Vendor, header, nm per pixel, width in nm, and rows of the field of view."""
    zeiss = tiff.sem_metadata
    if zeiss:
        pixel = _zeiss_nm(zeiss.get("ap_image_pixel_size")) or _zeiss_nm(zeiss.get("ap_pixel_size"))
        return "Zeiss", zeiss, pixel, _zeiss_nm(zeiss.get("ap_width")), None
    fei = tiff.fei_metadata
    if fei:
        scan, image = fei.get("Scan", {}), fei.get("Image", {})
        rows = image.get("ResolutionY")
        return (
            "FEI",
            fei,
            _fei_nm(scan.get("PixelWidth")),
            _fei_nm(scan.get("HorFieldsize")),
            rows if isinstance(rows, int) else None,
        )
    return "", {}, None, None, None


def _zeiss_nm(entry: Any) -> float | None:
    """A Zeiss entry (name, number, unit) in nm."""
    if isinstance(entry, tuple) and len(entry) == 3 and entry[2] in _ZEISS_NM:
        return _positive(entry[1], _ZEISS_NM[entry[2]])
    return None


def _fei_nm(entry: Any) -> float | None:
    """An FEI entry, in metres, in nm."""
    return _positive(entry, 1e9)


def _positive(value: Any, factor: float) -> float | None:
    usable = isinstance(value, int | float) and np.isfinite(value) and value > 0
    return float(value) * factor if usable else None


def databar_height(pixels: NDArray[np.uint8]) -> int:
    """Rows at the bottom of an image that show a databar and no sample.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (height, width) or (height, width, 3)

    Returns
    -------
    int
        0 when there is no databar, or when it can't be told from the image above it.

    Notes
    -----
    A databar is an even, nearly black or white strip of 3 to 30 % of the height, less than half
    of any row covered by text, with a scene above it that is not.
    """
    grey = pixels if pixels.ndim == 2 else pixels.max(axis=2)
    height = len(grey)
    strip = grey[-max(8, height // 25) : -2]
    paper = 255 if (strip > 215).mean() > (strip < 40).mean() else 0
    even = np.abs(grey.astype(np.int16) - paper) < 40
    share = even.mean(axis=1)
    # A row fully of ink is the line that frames the databar; the last rows may be cut off.
    framed = (np.abs(grey.astype(np.int16) - (255 - paper)) < 40).mean(axis=1) > 0.9
    inside = (share > 0.5) | framed
    inside[-3:] = True
    outside = np.flatnonzero(~inside)
    tall = height - (int(outside[-1]) + 1 if len(outside) else 0)
    if tall > 0.3 * height:
        # The scene is as even as the databar: only a frame can say where it ends.
        lines = np.flatnonzero(framed[int(0.7 * height) : -4])
        tall = height - int(0.7 * height) - int(lines[0]) if len(lines) else 0
    plain = tall >= 0.03 * height and share[height - tall :].mean() > 0.6
    return int(tall) if plain else 0


def calibrate(
    image: SEMImage | Micrograph | NDArray[np.generic], tolerance: float = 0.05
) -> Calibration:
    """The pixel size of an image from its header and its scale bar, compared where it has both.

    Parameters
    ----------
    image : SEMImage, Micrograph or ndarray
        Of a generated micrograph only the pixels are used, not its truth.
    tolerance : float
        Relative difference up to which header and bar agree. It has to cover the bar's rounding
        to whole pixels: 1 in 37 is 3 %.

    Returns
    -------
    Calibration
        The header's figure where the bar confirms it or there is no bar; the bar's where they
        differ, with a note.

    Raises
    ------
    MatPCRError
        If `tolerance` is not positive, or the array is no image.
    """
    if not tolerance > 0:
        raise MatPCRError(f"tolerance = {tolerance} must be positive, e.g. 0.05")
    pixels = image.pixels if isinstance(image, SEMImage | Micrograph) else image
    header = image.header_pixel_size_nm if isinstance(image, SEMImage) else None
    try:
        bar, missing = detect(pixels), ""
    except ScaleBarNotFound as error:
        bar, missing = None, str(error)
    if bar is None:
        return _from_header(image, header, missing, tolerance)
    if header is None:
        note = f"the bar of {bar.label} is {bar.length_px:.1f} pixels long; no header to compare"
        return Calibration(bar.pixel_size_nm, "bar", bar, None, None, None, note)
    ratio = bar.pixel_size_nm / header
    if abs(ratio - 1) <= tolerance:
        note = f"header and bar agree: {header:.4g} and {bar.pixel_size_nm:.4g} nm/pixel"
        return Calibration(header, "header", bar, header, ratio, True, note)
    note = (
        f"the header states {header:.4g} nm/pixel, the bar {bar.pixel_size_nm:.4g} "
        f"({ratio:.3g} times as much{_resized(ratio, tolerance)}): the bar is used"
    )
    return Calibration(bar.pixel_size_nm, "bar", bar, header, ratio, False, note)


def _from_header(image: Any, header: float | None, missing: str, tolerance: float) -> Calibration:
    """Without a bar: the header, unless it contradicts itself."""
    if header is None:
        return Calibration(None, "none", None, None, None, None, missing)
    width, columns = image.header_width_nm, image.pixels.shape[1]
    if width and abs(width / columns / header - 1) > tolerance:
        note = (
            f"the header states {header:.4g} nm/pixel, but also a width of {width:.4g} nm, which "
            f"is {width / columns:.4g} nm/pixel over {columns} columns: resized or cropped, and no "
            "bar decides; give the pixel size"
        )
        return Calibration(None, "none", None, header, None, None, note)
    note = f"the header states {header:.4g} nm/pixel; no bar to compare"
    return Calibration(header, "header", None, header, None, None, note)


def _resized(ratio: float, tolerance: float) -> str:
    """Words for a ratio near a small whole number: the mark of a resized image."""
    for factor, word in ((ratio, "down-sampled"), (1 / ratio, "enlarged")):
        whole = round(factor)
        if 2 <= whole <= 8 and abs(factor / whole - 1) <= tolerance:
            return f", as if {word} {whole} times after the header was written"
    return ""
