"""How often the scale bar of a micrograph is found and read: a trial on images with known truth."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics import Rate, rate

if TYPE_CHECKING:
    import pandas as pd

    from matpcr_utils.references.micrographs import Micrograph
    from matpcr_utils.references.sem import Calibration

#: First seed of images that were not looked at while the detector was written.
HELD_OUT = 90_000
#: Relative error of the length up to which a bar counts as found.
LENGTH_TOLERANCE = 0.03


@dataclass(frozen=True)
class Trial:
    """Generated micrographs and what was detected in each.

    Attributes
    ----------
    images : tuple of Micrograph
    calibrations : tuple of Calibration
    seconds : ndarray of float, shape (n,)
        Time of each detection.
    """

    images: tuple[Micrograph, ...]
    calibrations: tuple[Calibration, ...]
    seconds: NDArray[np.float64]

    @property
    def length_error(self) -> NDArray[np.float64]:
        """Relative error of the bar's length; NaN where no bar was found or none was drawn."""
        return np.array(
            [
                c.bar.length_px / image.bar_px - 1 if c.bar and image.bar_px else np.nan
                for image, c in zip(self.images, self.calibrations, strict=True)
            ]
        )

    @property
    def pixel_size_error(self) -> NDArray[np.float64]:
        """Relative error of the pixel size; NaN where no bar was found."""
        return np.array(
            [
                np.nan if c.pixel_size_nm is None else c.pixel_size_nm / image.pixel_size_nm - 1
                for image, c in zip(self.images, self.calibrations, strict=True)
            ]
        )

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Label read exactly and length within `LENGTH_TOLERANCE`; or no bar, and none found."""
        label = np.array(
            [
                (c.bar.label_nm if c.bar else None) == image.label_nm
                for image, c in zip(self.images, self.calibrations, strict=True)
            ]
        )
        barred = np.array([image.bar_px is not None for image in self.images])
        return label & (~barred | (np.abs(self.length_error) <= LENGTH_TOLERANCE))

    @property
    def rate(self) -> Rate:
        """Share of correct ones, with a 95 % Clopper–Pearson interval."""
        return rate(int(self.correct.sum()), len(self.images))

    def summary(self) -> pd.DataFrame:
        """Success by what the images look like: a row a style, the first all of them."""
        import pandas as pd

        groups: dict[str, list[bool]] = {"all": [True] * len(self.images)}
        for name, value in _STYLES:
            groups[value] = [str(image.metadata[name]) == value for image in self.images]
        rows = []
        for group, members in groups.items():
            chosen = np.array(members)
            found = rate(int(self.correct[chosen].sum()), int(chosen.sum()))
            if found.n:
                interval = f"{found.lower:.3f} to {found.upper:.3f}"
                rows.append((group, found.n, found.count, f"{found.estimate:.1%}", interval))
        columns = ["style", "images", "found and read", "share", "95 % interval"]
        return pd.DataFrame(rows, columns=columns)

    def failures(self) -> pd.DataFrame:
        """The images on which detection failed: what is true, what was found, and the reason."""
        import pandas as pd

        rows = []
        for i in np.flatnonzero(~self.correct):
            image, calibration = self.images[i], self.calibrations[i]
            bar = calibration.bar
            rows.append(
                {
                    "image": image.name,
                    "bar": f"{image.style.bar}, {image.style.tone}, {image.style.place}",
                    "true label": image.label or "none",
                    "true length / px": image.bar_px or 0,
                    "read label": bar.label if bar else "none",
                    "found length / px": f"{bar.length_px:.1f}" if bar else "",
                    "what went wrong": _what(image, calibration),
                }
            )
        return pd.DataFrame(rows)

    def take(self, rows: NDArray[Any]) -> Trial:
        """The chosen images, by position or mask."""
        chosen = np.arange(len(self.images))[rows]
        return Trial(
            tuple(self.images[i] for i in chosen),
            tuple(self.calibrations[i] for i in chosen),
            self.seconds[chosen],
        )


_STYLES = (
    ("bar", "solid"),
    ("bar", "bracket"),
    ("tone", "dark"),
    ("tone", "light"),
    ("place", "databar"),
    ("place", "image"),
    ("unit", "nm"),
    ("unit", "µm"),
    ("label_side", "above"),
    ("label_side", "below"),
    ("label_side", "left"),
    ("label_side", "right"),
    ("bar", "half-bracket"),
    ("bar", "interrupted"),
    ("bar", "outlined"),
    ("bar", "arrow"),
)


def _what(image: Micrograph, calibration: Calibration) -> str:
    bar = calibration.bar
    if image.bar_px is None:
        return "a bar was found where there is none"
    if bar is None:
        return calibration.note.partition(";")[0]
    if bar.label_nm != image.label_nm:
        return "the label was misread"
    return "the ends of the bar were misplaced"


def trial(seeds: Sequence[int], **options: Any) -> Trial:
    """Generate a micrograph a seed and look for its scale bar.

    Parameters
    ----------
    seeds : sequence of int
        From `HELD_OUT` on, images that were not looked at while the detector was written.
    **options
        For `micrographs.generate`: ``unusual=True``, ``bar="none"`` …

    Raises
    ------
    MatPCRError
        If there are no seeds, or an option is unknown.
    """
    from matpcr_utils.references.micrographs import generate
    from matpcr_utils.references.sem import calibrate

    if not len(seeds):
        raise MatPCRError("a trial of 0 images measures nothing: give at least one seed")
    images = tuple(generate(int(seed), **options) for seed in seeds)
    calibrations, seconds = [], []
    for image in images:
        started = time.perf_counter()
        calibrations.append(calibrate(image))
        seconds.append(time.perf_counter() - started)
    return Trial(images, tuple(calibrations), np.array(seconds))
