"""Positive control and chance-pass rate for microscopy, on generated (simulated) micrographs.

The references are fields of view; beside them stands what is true of each image (its pixel size and
the sizes of its features), which the oracle does not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.claims.model import ClaimTable, quantity_code
from matpcr_utils.errors import MatPCRError
from matpcr_utils.oracles.microscopy import FieldOfView, FieldOfViewTable, Tolerances

if TYPE_CHECKING:
    import pandas as pd

    from matpcr_utils.controls import ControlResult
    from matpcr_utils.controls.scalebar import Trial
    from matpcr_utils.references.micrographs import Micrograph
    from matpcr_utils.references.sem import Calibration

#: Generated micrographs behind the default references.
DEFAULT_IMAGES = 60
#: Share of the claims that state the scale; the others state a size.
SCALE_SHARE = 0.25
#: Share of the true sizes that are exactly the extent of the true field of view.
EDGE_SHARE = 0.05
#: A planted value lies beyond every reference by a factor drawn log-uniformly from this range.
FACTOR = (1.05, 100.0)
#: nm; the ends of the plain prior.
PRIOR_RANGE = (1.0, 1e6)

CONSTRUCTION = (
    f"A true claim is the size of a feature that was drawn ({1 - SCALE_SHARE:.0%} of the claims, "
    f"{EDGE_SHARE:.0%} of these being the extent of the field of view itself) or the true scale. "
    f"A planted size is the largest extent of all references times a factor from {FACTOR[0]:g} to "
    f"{FACTOR[1]:g} (log-uniform), so that it fits into none of them, their tolerance included; a "
    "planted scale lies beyond the coarsest or below the finest scale of all references by such a "
    "factor."
)
PRIOR = f"feature size log-uniform from {PRIOR_RANGE[0]:g} nm to {PRIOR_RANGE[1] / 1e6:g} mm"

_SIZE, _SCALE = quantity_code("feature_size"), quantity_code("scale")


@dataclass(frozen=True)
class MicrographReferences(FieldOfViewTable):
    """Fields of view with the truth beside them; the oracle reads only the fields of view.

    Attributes
    ----------
    true_pixel_size_nm : ndarray of float, shape (n,)
    features_nm : tuple of ndarray, n of them
        True sizes of each image's features.
    """

    true_pixel_size_nm: NDArray[np.float64] = None  # type: ignore[assignment]
    features_nm: tuple[NDArray[np.float64], ...] = ()

    def true_extent_nm(self, extent: str) -> NDArray[np.float64]:
        """Extent of each true field of view in nm."""
        return self.extent_nm(extent) / self.pixel_size_nm * self.true_pixel_size_nm


def from_micrographs(
    images: Sequence[Micrograph], calibrations: Sequence[Calibration] | None = None
) -> MicrographReferences:
    """References of generated micrographs.

    Parameters
    ----------
    images : sequence of Micrograph
    calibrations : sequence of Calibration, optional
        What was detected in each; by default the true pixel sizes are used.

    Raises
    ------
    MatPCRError
        If there is not one calibration an image.
    """
    if calibrations is None:
        fields = [
            FieldOfView(
                image.pixel_size_nm,
                image.pixels.shape[1],
                image.pixels.shape[0] - image.databar_height,
                image.name,
                "truth",
            )
            for image in images
        ]
    elif len(calibrations) != len(images):
        raise MatPCRError(
            f"{len(calibrations)} calibrations for {len(images)} images: give one an image"
        )
    else:
        fields = [FieldOfView.of(i, c) for i, c in zip(images, calibrations, strict=True)]
    table = FieldOfViewTable.from_fields(fields)
    return MicrographReferences(
        table.pixel_size_nm,
        table.width_px,
        table.height_px,
        table.names,
        true_pixel_size_nm=np.array([image.pixel_size_nm for image in images]),
        features_nm=tuple(image.features_nm for image in images),
    )


@cache
def _generated(n_images: int) -> MicrographReferences:
    from matpcr_utils.references.micrographs import generate

    return from_micrographs([generate(seed) for seed in range(n_images)])


def default_references() -> MicrographReferences:
    """`DEFAULT_IMAGES` generated micrographs under their true calibration."""
    return _generated(DEFAULT_IMAGES)


def eligible(references: FieldOfViewTable, tolerances: Tolerances) -> NDArray[np.bool_]:
    """References with a calibration: without one the oracle abstains, and nothing can be missed."""
    return np.isfinite(references.pixel_size_nm)


def true_claims(
    references: MicrographReferences,
    index: NDArray[np.intp],
    tolerances: Tolerances,
    rng: np.random.Generator,
) -> ClaimTable:
    """The size of a drawn feature, the extent of the field of view, or the scale; all true."""
    n = len(index)
    pick = rng.random(n)
    size = np.array(
        [
            features[int(share * len(features))] if len(features) else np.nan
            for features, share in zip(
                (references.features_nm[i] for i in index), pick, strict=True
            )
        ]
    )
    edge = (rng.random(n) < EDGE_SHARE) | np.isnan(size)
    size = np.where(edge, references.true_extent_nm(tolerances.extent)[index], size)
    is_scale = rng.random(n) < SCALE_SHARE
    value = np.where(is_scale, references.true_pixel_size_nm[index], size)
    return _claims(is_scale, value)


def plant(
    claims: ClaimTable,
    references: FieldOfViewTable,
    index: NDArray[np.intp],
    tolerances: Tolerances,
    rng: np.random.Generator,
) -> ClaimTable:
    """Values beyond every reference, by `FACTOR`."""
    low, high = np.log(FACTOR)
    factor = np.exp(rng.uniform(low, high, len(claims)))
    largest = np.nanmax(references.extent_nm(tolerances.extent)) * (1 + tolerances.size_tolerance)
    coarsest = np.nanmax(references.pixel_size_nm) * (1 + tolerances.scale_tolerance)
    finest = np.nanmin(references.pixel_size_nm) * (1 - tolerances.scale_tolerance)
    up = rng.random(len(claims)) < 0.5
    is_scale = claims.quantity == _SCALE
    scale = np.where(up, coarsest * factor, finest / factor)
    return _claims(is_scale, np.where(is_scale, scale, largest * factor))


def draw_prior(
    references: FieldOfViewTable, index: NDArray[np.intp], rng: np.random.Generator
) -> ClaimTable:
    """Sizes from the plain prior."""
    low, high = np.log(PRIOR_RANGE)
    return ClaimTable.numbers("feature_size", np.exp(rng.uniform(low, high, len(index))))


def _claims(is_scale: NDArray[np.bool_], value: NDArray[np.float64]) -> ClaimTable:
    numbers = ClaimTable.numbers("feature_size", value)
    quantity = np.where(is_scale, _SCALE, _SIZE).astype(np.int8)
    return ClaimTable(quantity, numbers.value, numbers.label, numbers.basis)


def edges(tolerances: Tolerances | None = None) -> pd.DataFrame:
    """Verdicts at the edges: the extents themselves, a pixel, no length, no calibration.

    The image is 1000 x 750 pixels of 2 nm: 2000 nm wide, 1500 nm high, 2500 nm across.
    """
    import pandas as pd

    from matpcr_utils.claims.model import Claim
    from matpcr_utils.oracles.microscopy import check

    t = Tolerances() if tolerances is None else tolerances
    image, blind = FieldOfView(2.0, 1000, 750), FieldOfView(None, 1000, 750)
    extent = float(image.extent_nm(t.extent) or 0)
    slack = 1 + t.scale_tolerance
    cases: list[tuple[str, str, float, FieldOfView]] = [
        ("exactly the extent that bounds it", "feature_size", extent, image),
        ("one part in a million more", "feature_size", extent * (1 + 1e-6), image),
        ("as wide as the image", "feature_size", 2000.0, image),
        ("micrometres read as millimetres", "feature_size", 0.4e6, image),
        ("one pixel", "feature_size", 2.0, image),
        ("less than a pixel", "feature_size", 0.5, image),
        ("zero", "feature_size", 0.0, image),
        ("infinite", "feature_size", np.inf, image),
        ("a size, no calibration", "feature_size", 100.0, blind),
        ("the scale at its tolerance", "scale", 2.0 * slack, image),
        ("the scale beyond its tolerance", "scale", 2.0 * slack + 1e-3, image),
        ("the scale upside down (pixels per nm)", "scale", 0.5, image),
    ]
    rows = []
    for what, quantity, value, reference in cases:
        claim = Claim(quantity, value)
        verdict = check(claim, reference, t)
        rows.append((what, f"{value:.7g} {claim.unit}", str(verdict.outcome), verdict.reason))
    return pd.DataFrame(rows, columns=["case", "claim", "verdict", "reason"])


def explain(results: Sequence[ControlResult], trial: Trial, tolerances: Tolerances) -> pd.DataFrame:
    """Why true claims were flagged when the scale was detected: a row a cause and reason.

    Parameters
    ----------
    results : sequence of ControlResult
        On the references that `trial` gave.
    trial : Trial
    tolerances : Tolerances
        Those of the results.

    Raises
    ------
    AssertionError
        If a flag has no cause: the detection was right, and its error is not the one that flags.
    """
    import pandas as pd

    alarms = pd.concat([result.false_alarms() for result in results], ignore_index=True)
    image = alarms["reference"].to_numpy(np.intp)
    error = trial.pixel_size_error[image]
    # The true value is 1 / (1 + error) times the detected one.
    beyond = np.where(
        alarms["quantity"] == "scale",
        np.abs(1 / (1 + error) - 1) > tolerances.scale_tolerance,
        1 / (1 + error) > 1 + tolerances.size_tolerance,
    )
    correct = trial.correct[image]
    unexplained = alarms[correct & ~beyond]
    if len(unexplained):
        raise AssertionError(
            f"{len(unexplained)} true claims were flagged without a cause; the first:\n"
            f"{unexplained.iloc[0].to_string()}"
        )
    rounding = "bar found; its length is rounded to whole pixels, which moved the scale"
    alarms["cause"] = np.where(correct, rounding, "detection failed")
    alarms["|error of the scale|"] = np.abs(error)
    grouped = alarms.groupby(["cause", "reason"])
    table = grouped.agg(
        images=("reference", "nunique"),
        claims=("reference", "size"),
        largest=("|error of the scale|", "max"),
    )
    table["largest"] = [f"{value:.2%}" for value in table["largest"]]
    return table.rename(columns={"largest": "largest error of the scale"}).reset_index()


def by_extent(
    references: MicrographReferences, *, planted: float, n: int, seed: int
) -> pd.DataFrame:
    """The control and the chance-pass rate for each extent that may bound a size."""
    import pandas as pd

    from matpcr_utils import controls
    from matpcr_utils.oracles.microscopy import EXTENTS

    rows = []
    for extent in EXTENTS:
        options: dict[str, Any] = {
            "references": references,
            "tolerances": Tolerances(extent),
            "seed": seed,
        }
        result = controls.run("microscopy", planted=planted, n=n, **options)
        chance = controls.chance("microscopy", draws=100, **options)
        rows.append(
            {
                "extent": extent,
                "false-negative rate": str(result.false_negatives),
                "false-positive rate": str(result.false_positives),
                "chance passes": str(chance.passes),
            }
        )
    return pd.DataFrame(rows)


def by_scale_tolerance(
    references: MicrographReferences,
    tolerances: Sequence[float] = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
) -> pd.DataFrame:
    """True scales that are flagged, and wrong ones that pass, at each scale tolerance.

    The wrong ones are off by a factor of 1.25 either way (a bar misread by a quarter), by 2 (an
    image resized after calibration) and by 1000 (a slip of the unit).
    """
    import pandas as pd

    from matpcr_utils.oracles.microscopy import check_many

    true = references.true_pixel_size_nm
    factors = {"true": [1.0], "off by 1.25": [0.8, 1.25], "off by 2": [0.5, 2.0]}
    factors["off by 1000"] = [1e-3, 1e3]
    rows = []
    for tolerance in tolerances:
        row: dict[str, object] = {"scale tolerance": tolerance}
        for name, values in factors.items():
            verdicts = [
                check_many(
                    ClaimTable.numbers("scale", true * factor),
                    references,
                    Tolerances(scale_tolerance=tolerance),
                )
                for factor in values
            ]
            judged = sum(int((~v.abstain).sum()) for v in verdicts)
            passed = sum(int(v.consistent.sum()) for v in verdicts)
            row[f"{name}, passes"] = passed / judged if judged else np.nan
        rows.append(row)
    return pd.DataFrame(rows)
