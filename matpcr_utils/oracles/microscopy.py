"""Microscopy: does a claimed feature fit into the picture, and is the scale what the bar says?

The scale bar gives nm per pixel; times the size of the image it gives the field of view. A feature
larger than the field of view can't have been seen in it (paper, section 4.3 and supplementary note
1.2). The criterion is an upper bound: a feature far smaller than what is shown passes.

Beyond the paper, a claim of the scale itself (nm per pixel) is compared with the calibration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import Claim, ClaimTable, quantity_code
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.base import (
    Outcome,
    Verdict,
    VerdictTable,
    as_table,
    positions_of,
    require_own,
)

if TYPE_CHECKING:
    from matpcr_utils.references.micrographs import Micrograph
    from matpcr_utils.references.sem import Calibration, SEMImage

CONSTRAINT = "microscopy"
EXTENTS = ("width", "height", "diagonal")

REASONS: dict[str, Outcome] = {
    "fits_field_of_view": Outcome.CONSISTENT,
    "smaller_than_pixel": Outcome.CONSISTENT,
    "larger_than_field_of_view": Outcome.VIOLATION,
    "scale_agrees": Outcome.CONSISTENT,
    "scale_differs": Outcome.VIOLATION,
    "not_a_length": Outcome.VIOLATION,
    "no_scale": Outcome.ABSTAIN,
}

_SENTENCES = {
    "fits_field_of_view": "{claimed:.4g} nm fits into the field of view, whose {extent} is "
    "{limit:.4g} nm",
    "smaller_than_pixel": "{claimed:.4g} nm fits into the field of view, though it is less than "
    "one pixel of {pixel:.4g} nm and can't have been resolved",
    "larger_than_field_of_view": "{claimed:.4g} nm is larger than the field of view, whose "
    "{extent} is {limit:.4g} nm",
    "scale_agrees": "{claimed:.4g} nm/pixel is within {tolerance:.0%} of the calibrated "
    "{pixel:.4g} nm/pixel",
    "scale_differs": "{claimed:.4g} nm/pixel is not within {tolerance:.0%} of the calibrated "
    "{pixel:.4g} nm/pixel",
    "not_a_length": "{claimed:g} {unit} is no size: it must be positive and finite",
    "no_scale": "the image has no calibration, so its field of view is not known",
}

#: A calibration this far off would be another one: 10 is eleven times the field of view.
MAX_SIZE_TOLERANCE = 10.0
#: Coarsest pixel size in nm: a metre a pixel is no micrograph.
MAX_PIXEL_SIZE = 1e9

#: Relative room for binary rounding, so that a claim of exactly the field of view passes.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class FieldOfView:
    """What an image can show: its pixel size and its size without the databar.

    Attributes
    ----------
    pixel_size_nm : float or None
        nm per pixel; None without a calibration.
    width_px, height_px : int
        Pixels of the picture; the databar does not count.
    name : str
    source : str
        Where the pixel size is from: ``"bar"``, ``"header"``, ``"truth"`` or ``""``.
    note : str
        What a reader should know of the calibration, e.g. that bar and header disagree.

    Raises
    ------
    MatPCRError
        If a size is not positive, or the pixel size above `MAX_PIXEL_SIZE`.
    """

    pixel_size_nm: float | None
    width_px: int
    height_px: int
    name: str = ""
    source: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if min(self.width_px, self.height_px) < 1:
            raise MatPCRError(
                f"field of view of {self.width_px} x {self.height_px} pixels: both must be at "
                "least 1"
            )
        size = self.pixel_size_nm
        if size is not None and not 0 < size <= MAX_PIXEL_SIZE:
            raise MatPCRError(
                f"pixel size = {size} nm must be positive and at most {MAX_PIXEL_SIZE:g} (1 m): "
                "leave it out when it is not known"
            )

    @classmethod
    def of(cls, image: SEMImage | Micrograph, calibration: Calibration) -> FieldOfView:
        """The field of view of an image (loaded or generated) under a calibration."""
        height, width = image.pixels.shape[:2]
        return cls(
            pixel_size_nm=calibration.pixel_size_nm,
            width_px=width,
            height_px=height - image.databar_height,
            name=image.name,
            source=calibration.source,
            note=calibration.note,
        )

    def extent_nm(self, extent: str = "diagonal") -> float | None:
        """Width, height or diagonal in nm; None without a calibration."""
        size = _extent(np.array([self.width_px]), np.array([self.height_px]), extent)
        return None if self.pixel_size_nm is None else float(size[0]) * self.pixel_size_nm


@dataclass(frozen=True)
class FieldOfViewTable:
    """Fields of view as columns, for `check_many`.

    Attributes
    ----------
    pixel_size_nm : ndarray of float, shape (n,)
        NaN without a calibration.
    width_px, height_px : ndarray of int, shape (n,)
    names : tuple of str, n of them
    """

    pixel_size_nm: NDArray[np.float64]
    width_px: NDArray[np.int64]
    height_px: NDArray[np.int64]
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.pixel_size_nm)

    @classmethod
    def from_fields(cls, fields: Sequence[FieldOfView]) -> FieldOfViewTable:
        """Gather `FieldOfView` objects into columns, in order."""
        sizes = [np.nan if f.pixel_size_nm is None else f.pixel_size_nm for f in fields]
        return cls(
            pixel_size_nm=np.array(sizes, np.float64),
            width_px=np.array([f.width_px for f in fields], np.int64),
            height_px=np.array([f.height_px for f in fields], np.int64),
            names=tuple(f.name for f in fields),
        )

    def extent_nm(self, extent: str = "diagonal") -> NDArray[np.float64]:
        """Width, height or diagonal of each in nm; NaN without a calibration."""
        return _extent(self.width_px, self.height_px, extent) * self.pixel_size_nm


@dataclass(frozen=True)
class Tolerances:
    """What a claim is held against.

    Attributes
    ----------
    extent : {"diagonal", "width", "height"}
        Which extent of the field of view bounds a feature. By default the diagonal: nothing seen
        in the image is longer. The paper's "image dimensions" leave it open; width and height are
        stricter, and wrong for a fibre that runs from corner to corner.
    size_tolerance : float
        Relative room above that extent; 0 by default, and a feature as large as the extent passes.
        A calibration by a short bar is good to a pixel of its length, so 0.03 is fair there.
    scale_tolerance : float
        Relative difference up to which a claimed scale agrees with the calibration. Not in the
        paper, which bounds sizes only; 0.1 forgives a bar read by eye, and no slip of a unit.

    Raises
    ------
    MatPCRError
        If `extent` is unknown, or a tolerance is negative or not finite; `size_tolerance` must be
        below `MAX_SIZE_TOLERANCE` and `scale_tolerance` below 1, for at 1 every small scale passes.
    """

    extent: str = "diagonal"
    size_tolerance: float = 0.0
    scale_tolerance: float = 0.1

    def __post_init__(self) -> None:
        if self.extent not in EXTENTS:
            raise MatPCRError(f"extent {self.extent!r} must be one of {', '.join(EXTENTS)}")
        for name, top in (("size_tolerance", MAX_SIZE_TOLERANCE), ("scale_tolerance", 1.0)):
            value = getattr(self, name)
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not (number and 0 <= float(value) < top):
                raise MatPCRError(
                    f"{name} = {value!r} must be a number from 0 to below {top:g}, e.g. 0.1"
                )


def check(claim: Claim, reference: FieldOfView, tolerances: Tolerances | None = None) -> Verdict:
    """Judge one claim of a feature's size (nm) or of the scale (nm/pixel) against one image.

    Parameters
    ----------
    claim : Claim
        ``feature_size`` or ``scale``.
    reference : FieldOfView
    tolerances : Tolerances, optional

    Returns
    -------
    Verdict
        `details` holds the claimed value, the pixel size, and the extent that bounds a size.

    Raises
    ------
    MatPCRError
        If the claim is another constraint's, or its value is NaN.
    """
    t = Tolerances() if tolerances is None else tolerances
    table = FieldOfViewTable.from_fields([reference])
    reason = str(check_many([claim], table, t).reason_names[0])
    details: dict[str, Any] = {
        "claimed": float(claim.value),
        "unit": claim.unit,
        "pixel_size_nm": reference.pixel_size_nm,
        "extent": t.extent,
        "field_of_view_nm": reference.extent_nm(t.extent),
        "calibrated_by": reference.source,
    }
    sentence = _SENTENCES[reason].format_map(
        {
            "claimed": details["claimed"],
            "unit": claim.unit,
            "pixel": reference.pixel_size_nm,
            "extent": t.extent,
            "limit": details["field_of_view_nm"],
            "tolerance": t.scale_tolerance,
        }
    )
    return Verdict(REASONS[reason], reason, sentence, details)


def check_many(
    claims: ClaimTable | Sequence[Claim],
    references: FieldOfViewTable | Sequence[FieldOfView],
    tolerances: Tolerances | None = None,
    *,
    index: NDArray[np.intp] | None = None,
) -> VerdictTable:
    """Judge claim i against field of view ``index[i]`` (i when `index` is None).

    Zero, negative and infinite values are no lengths and violate whatever the image. A feature
    smaller than a pixel passes, with a reason of its own: the paper's criterion is an upper bound.

    Parameters
    ----------
    claims : ClaimTable or sequence of Claim, n of them
    references : FieldOfViewTable or sequence of FieldOfView
    tolerances : Tolerances, optional
    index : ndarray of int, shape (n,), optional

    Raises
    ------
    MatPCRError
        As `check`; and when `index` does not fit.
    """
    t = Tolerances() if tolerances is None else tolerances
    table = _claims(claims)
    if not isinstance(references, FieldOfViewTable):
        references = FieldOfViewTable.from_fields(references)
    rows = positions_of(len(table), len(references), index)
    pixel = references.pixel_size_nm[rows]
    limit = references.extent_nm(t.extent)[rows] * (1 + t.size_tolerance) * (1 + _ROUNDING)
    value, size = table.value, table.quantity == quantity_code("feature_size")
    with np.errstate(invalid="ignore"):
        off = np.abs(value - pixel) > t.scale_tolerance * pixel * (1 + _ROUNDING)
    conditions: Mapping[str, NDArray[np.bool_]] = {
        "not_a_length": ~((value > 0) & (value < np.inf)),
        "no_scale": np.isnan(pixel),
        "larger_than_field_of_view": size & (value > limit),
        "smaller_than_pixel": size & (value < pixel * (1 - _ROUNDING)),
        "fits_field_of_view": size,
        "scale_differs": off,
        "scale_agrees": ~size,
    }
    codes = [list(REASONS).index(reason) for reason in conditions]
    reason = np.select(list(conditions.values()), codes).astype(np.int8)
    return VerdictTable(reason, REASONS)


def _extent(width: NDArray[Any], height: NDArray[Any], extent: str) -> NDArray[np.float64]:
    """An extent in pixels."""
    chosen = {"width": width, "height": height, "diagonal": np.hypot(width, height)}
    return np.asarray(chosen[extent], np.float64)


def _claims(claims: ClaimTable | Sequence[Claim]) -> ClaimTable:
    """Columns of the claims, refused when one of them is not this oracle's to judge."""
    table = as_table(claims)
    require_own(table, CONSTRAINT)
    broken = np.isnan(table.value)
    if broken.any():
        raise MatPCRError(
            f"claim {int(np.argmax(broken))} is NaN: drop the claim or give its number"
        )
    return table
