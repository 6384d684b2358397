"""Items on powder patterns: where is the strongest line, of all or of a range?

Most patterns are simulated from real structures of the DFT snapshot and marked so; two are
measured. A pattern is used only when it is clear which line is meant and when the noise leaves its
top where the line is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from matpcr_utils.errors import MatPCRError
from matpcr_utils.items import curves
from matpcr_utils.items._sampling import salt_of
from matpcr_utils.items.model import Item

if TYPE_CHECKING:
    from matpcr_utils.items.simulation import Settings
    from matpcr_utils.references.diffraction import DiffractionReference
    from matpcr_utils.references.lines import Lines
    from matpcr_utils.references.patterns import MeasuredPattern

SAMPLING = (
    "patterns simulated from structures of the DFT snapshot in random order, one question each, "
    "every tenth item from one of the two measured patterns; one in three asks about a range"
)
#: Degree on 2θ; the range asked about, for one in `RANGE_EVERY` simulated patterns.
REGIONS = ((20, 35), (35, 50), (50, 70))
RANGE_EVERY = 3
#: Degree on 2θ; the ranges asked about on the measured patterns. The synchrotron's wavelength is a
#: quarter of a copper tube's, and so are its angles.
MEASURED: dict[str, tuple[tuple[int, int] | None, ...]] = {
    "fluorapatite": (None, (20, 30), (36, 45), (45, 60), (60, 70), (70, 80), (80, 90)),
    "Na2Ca3Al2F14": (None, (20, 24)),
}
#: Every so many items one is on a measured pattern, as long as there are any.
MEASURED_EVERY = 10
#: A line is clear when every other one in its range reaches at most this share of it.
RIVAL = 0.85
#: Degree; how far the top of the pattern may lie from the line, noise and doublet included.
TOP_WITHIN = 0.08


def candidates(constraint: str, seed: int) -> Iterator[Item]:
    """Simulated patterns in random order, a measured one now and then."""
    from matpcr_utils.references import dft

    rng = np.random.default_rng([seed, 0xD1F])
    keys = [(name, region) for name, regions in MEASURED.items() for region in regions]
    ordered = [keys[i] for i in rng.permutation(len(keys))]
    measured = (item for key in ordered if (item := _measured(*key)) is not None)
    given = 0
    for name in rng.permutation(dft.load().material_id):
        if given % MEASURED_EVERY == 1 and (item := next(measured, None)) is not None:
            given += 1
            yield item
        if (item := _simulated(str(name))) is not None:
            given += 1
            yield item


def build(constraint: str, key: str) -> Item | None:
    """The item of a material's id or a measured pattern's name, with ``_low-high`` for a range."""
    name, _, region = key.partition("_")
    if name not in MEASURED:
        return _simulated(name)
    bounds = None
    if region:
        low, _, high = region.partition("-")
        bounds = (int(low), int(high))
    if bounds not in MEASURED[name]:
        raise MatPCRError(f"the range {region} is none that is asked about")
    return _measured(name, bounds)


def reference(item: Item) -> DiffractionReference:
    """Lines of the structure, in the window that is shown."""
    return _reference(item.facts["pattern"])


def text(item: Item) -> str:
    """The highest reading in each stretch of the axis."""
    heading = f"{_title(item)}\n2θ (degree), intensity (%):"
    return curves.table(*curve(item), heading, 3)


def image(item: Item) -> bytes:
    """The scan, plotted."""
    x, y = curve(item)
    return curves.plot(x, y, "2θ (degree)", "counts", _title(item))


def curve(item: Item) -> tuple[curves.Array, curves.Array]:
    """Angles (degree) and counts that the item shows."""
    return _curve(item.facts["pattern"])


def wording(item: Item) -> Mapping[str, str]:
    """Material, radiation and the range that is asked about."""
    region = item.facts["region"]
    where = "of the whole pattern" if region is None else f"between {region[0]}° and {region[1]}°"
    return {
        "region": where,
        "material": item.facts["material"],
        "radiation": item.facts["radiation"],
    }


def _title(item: Item) -> str:
    facts = item.facts
    kind = ", simulated" if facts["simulated"] else ""
    return f"Powder diffraction pattern of {facts['material']}, {facts['radiation']}{kind}"


def _pattern(name: str) -> MeasuredPattern:
    from matpcr_utils.references import patterns

    return patterns.get(name)


@lru_cache(maxsize=16)
def _curve(name: str) -> tuple[curves.Array, curves.Array]:
    """What is shown of a pattern: measured as it is, or simulated from its name."""
    if name in MEASURED:
        pattern = _pattern(name)
        return pattern.two_theta, pattern.counts
    from matpcr_utils.items.simulation import Settings, scan

    return scan(_lines(name), Settings.of(name))


@cache
def _lines(material_id: str) -> Lines:
    """Lines as `_reference` computes them, so that the cache holds each structure once."""
    found = _reference(material_id).lines
    assert found is not None
    return found


@lru_cache(maxsize=512)
def _reference(name: str) -> DiffractionReference:
    from matpcr_utils.items.simulation import WINDOW
    from matpcr_utils.references import dft
    from matpcr_utils.references.diffraction import CU_KALPHA, DiffractionReference

    if name in MEASURED:
        return DiffractionReference.from_pattern(_pattern(name))
    entry = dft.entry(name)
    return DiffractionReference.from_structure(entry.structure, CU_KALPHA, WINDOW, entry.formula)


@cache
def _simulated(name: str) -> Item | None:
    from matpcr_utils.items.simulation import WINDOW, Settings, profile
    from matpcr_utils.references import dft

    entry, draw = dft.entry(name), salt_of(f"range of {name}")
    region = REGIONS[draw // RANGE_EVERY % len(REGIONS)] if draw % RANGE_EVERY == 0 else None
    settings = Settings.of(name)
    low, high = region or WINDOW
    clear = _clear_line(_lines(name), low, high, settings.fwhm)
    if clear is None:
        return None
    line, rival, count = clear
    angle, expected = profile(_lines(name), settings)
    _, noisy = _curve(name)
    inside = (angle >= low) & (angle <= high)
    place = float(angle[inside][np.argmax(expected[inside])])
    seen = float(angle[inside][np.argmax(noisy[inside])])
    if max(abs(place - line), abs(seen - place)) > TOP_WITHIN:
        return None
    height = float(expected[inside].max())
    return _item(
        name,
        region,
        place,
        facts={"material": entry.formula, "radiation": "Cu Kα (1.5406 Å)", "simulated": True},
        difficulty={**_settings(settings, height), "rival": rival, "lines": count},
    )


def _settings(settings: Settings, height: float) -> dict[str, float | str]:
    background = settings.background * settings.peak_counts
    return {
        "fwhm": settings.fwhm,
        "signal_to_noise": height / float(np.sqrt(height + background)),
        "kind": "simulated",
    }


@cache
def _measured(name: str, region: tuple[int, int] | None) -> Item | None:
    pattern, found = _pattern(name), _reference(name)
    low, high = region or found.window
    assert found.lines is not None
    inside = (pattern.two_theta >= low) & (pattern.two_theta <= high)
    counts = pattern.counts[inside]
    place = float(pattern.two_theta[inside][np.argmax(counts)])
    width = 4 * float(np.median(np.diff(pattern.two_theta)))
    clear = _clear_line(found.lines, low, high, width, pattern.wavelength)
    # On a measured pattern the top itself is the answer; the line only has to be the same one.
    if clear is None or abs(clear[0] - place) > 2 * TOP_WITHIN:
        return None
    height = float(counts.max() - np.median(counts))
    return _item(
        name,
        region,
        place,
        facts={
            "material": _named(name, pattern.structure.composition.reduced_formula),
            "radiation": f"λ = {pattern.wavelength:.4f} Å",
            "simulated": False,
        },
        difficulty={
            "signal_to_noise": height / float(np.sqrt(max(counts.max(), 1.0))),
            "rival": clear[1],
            "lines": clear[2],
            "kind": "measured",
        },
    )


def _named(name: str, formula: str) -> str:
    from pymatgen.core import Composition

    try:
        return formula if Composition(name).reduced_formula == formula else f"{name} ({formula})"
    except ValueError:  # a mineral's name is no formula
        return f"{name} ({formula})"


def _clear_line(
    lines: Lines, low: float, high: float, width: float, wavelength: float | None = None
) -> tuple[float, float, int] | None:
    """Angle of the strongest line in a range, its strongest rival's share, and how many count.

    Lines below a hundredth of the strongest do not count.

    None when it isn't clear which line is meant: a rival nearly as strong, or one near the end of
    the range. Lines closer than `width` are one peak of a pattern.
    """
    from matpcr_utils.references.lines import CU_KALPHA1

    angle = lines.two_theta(CU_KALPHA1 if wavelength is None else wavelength)
    inside = (angle >= low) & (angle <= high)
    if not inside.any():
        return None
    position, height = angle[inside], lines.intensity[inside]
    strongest = int(np.argmax(height))
    line = float(position[strongest])
    rivals = height[np.abs(position - line) > width] / height[strongest]
    rival = float(rivals.max()) if len(rivals) else 0.0
    near_end = min(line - low, high - line) < 0.5
    # A strong line just outside would raise the end of the range above everything in it.
    outside = (angle >= low - 1.0) & (angle <= high + 1.0) & ~inside
    stronger = outside.any() and lines.intensity[outside].max() > 0.5 * height[strongest]
    if rival > RIVAL or near_end or stronger:
        return None
    return line, rival, int((height >= 0.01 * height.max()).sum())


def _item(
    name: str,
    region: tuple[int, int] | None,
    place: float,
    facts: Mapping[str, Any],
    difficulty: Mapping[str, float | str],
) -> Item:
    # Only measured patterns carry several questions, so only their ids name the range.
    key = f"{name}_{region[0]}-{region[1]}" if region and name in MEASURED else name
    return Item(
        item_id=f"diffraction-{key}",
        source_id=name,
        constraint="diffraction",
        modality="image",
        facts={
            "asks": "two_theta",
            "pattern": name,
            "region": None if region is None else list(region),
            **facts,
        },
        difficulty=difficulty,
        truth={
            "quantity": "two_theta",
            "value": place,
            "unit": "degree",
            "basis": None,
            "sentence": f"The strongest line is at 2θ = {place:.3f}°.",
        },
    )
