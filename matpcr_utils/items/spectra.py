"""Items on measured Raman spectra: where is the strongest band, of all or of a range?

The spectra are shown as measured, from 100 1/cm on, with their background and spikes. A band is
asked for only when it is clear which one is meant, and when a source other than our own peak search
knows it: standards and the literature, `references.bands`, or the D and G bands of carbon.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from matpcr_utils.errors import MatPCRError
from matpcr_utils.items import curves
from matpcr_utils.items.model import Item

if TYPE_CHECKING:
    from matpcr_utils.references.spectra import Spectrum

SAMPLING = (
    "measured spectra in random order, at most three questions each: the strongest band above 100 "
    "1/cm, and those of ranges that hold one clear band"
)
#: 1/cm; nothing below is shown or asked, for the laser line rules there.
FROM = 100.0
#: 1/cm; ranges that may be asked about.
REGIONS = (
    *((120, 230), (230, 400), (560, 680), (660, 770), (740, 880), (950, 1200)),
    *((1015, 1080), (1250, 1450), (1550, 1650), (2980, 3140)),
)
#: Questions on one spectrum at most.
PER_SPECTRUM = 3
#: A band is clear when every other in its range reaches at most this share of its height.
RIVAL = 0.75
#: 1/cm; how far a band may lie from where the literature has it, on uncalibrated axes.
KNOWN_WITHIN = 10.0
#: 1/cm; a flat or noisy top that is broader has no place to two wavenumbers.
WIDEST_SUMMIT = 6.0
#: 1/cm; where disordered carbon has its D and G bands, whatever the laser.
CARBON = ((1300.0, 1380.0), (1550.0, 1620.0))


def candidates(constraint: str, seed: int) -> Iterator[Item]:
    """Every question that can be asked, in random order, until `PER_SPECTRUM` are used up."""
    from matpcr_utils.references import spectra

    keys = [
        (spectrum.spectrum_id, region) for spectrum in spectra.load() for region in (None, *REGIONS)
    ]
    used: dict[str, int] = {}
    for position in np.random.default_rng([seed, 0x5BEC]).permutation(len(keys)):
        name, region = keys[int(position)]
        if used.get(name, 0) < PER_SPECTRUM and (item := _item(name, region)) is not None:
            used[name] = used.get(name, 0) + 1
            yield item


def build(constraint: str, key: str) -> Item | None:
    """The item of a spectrum's id, followed by ``_low-high`` for a range."""
    name, _, region = key.partition("_")
    if not region:
        return _item(name, None)
    low, _, high = region.partition("-")
    bounds = (int(low), int(high))
    if bounds not in REGIONS:
        raise MatPCRError(f"the range {region} is none that is asked about")
    return _item(name, bounds)


def reference(item: Item) -> Spectrum:
    """The measured spectrum."""
    from matpcr_utils.references import spectra

    return spectra.get(item.facts["spectrum_id"])


def text(item: Item) -> str:
    """The highest reading in each stretch of the axis."""
    x, y = curve(item)
    return curves.table(x, y, f"{_title(item)}\nRaman shift (1/cm), intensity (%):", 1)


def image(item: Item) -> bytes:
    """The readings, plotted."""
    x, y = curve(item)
    return curves.plot(x, y, "Raman shift (cm⁻¹)", "intensity (counts)", _title(item))


def curve(item: Item) -> tuple[curves.Array, curves.Array]:
    """Raman shifts (1/cm) and counts that the item shows."""
    return _shown(reference(item))


def wording(item: Item) -> Mapping[str, str]:
    """The range that is asked about."""
    region = item.facts["region"]
    where = "above 100 cm⁻¹" if region is None else f"between {region[0]} and {region[1]} cm⁻¹"
    return {"region": where}


def _title(item: Item) -> str:
    laser = item.facts["laser_nm"]
    return "Raman spectrum" if laser is None else f"Raman spectrum, excited at {laser:g} nm"


def _shown(spectrum: Spectrum) -> tuple[curves.Array, curves.Array]:
    seen = spectrum.shift >= FROM
    return spectrum.shift[seen], spectrum.intensity[seen]


@cache
def _item(name: str, region: tuple[int, int] | None) -> Item | None:
    from matpcr_utils.oracles import spectra as oracle
    from matpcr_utils.references import spectra
    from matpcr_utils.references.peaks import prepared
    from matpcr_utils.references.spectrum_table import SpectrumTable

    spectrum, limits = spectra.get(name), oracle.Tolerances()
    found = prepared(spectrum, limits.preparation)
    low, high = region or (FROM, float(found.shift[-1]))
    if low < spectrum.shift.min() or high > spectrum.shift.max():
        return None
    bands = oracle.accepted(SpectrumTable.from_spectra([found], limits.preparation), limits)
    bands &= (found.position >= low) & (found.position <= high)
    if not bands.any():
        return None
    order = np.flatnonzero(bands)[np.argsort(-found.prominence[bands])]
    best = int(order[0])
    place = float(found.position[best])
    rival = float(found.prominence[order[1]] / found.prominence[best]) if len(order) > 1 else 0.0
    inside = (found.shift >= low) & (found.shift <= high)
    top = float(found.shift[inside][np.argmax(found.signal[inside])])
    at, _ = curves.highest(*_shown(spectrum))
    if (
        rival > RIVAL
        or abs(top - place) > limits.window / 2
        or found.right[best] - found.left[best] > WIDEST_SUMMIT
        or not _known(spectrum.sample, place)
        or np.abs(at - place).min() > 1.5  # else the text rendering would not show it
    ):
        return None
    key = name if region is None else f"{name}_{region[0]}-{region[1]}"
    laser = spectrum.laser_nm
    return Item(
        item_id=f"spectra-{key}",
        source_id=name,
        constraint="spectra",
        modality="image",
        facts={
            "asks": "raman_shift",
            "spectrum_id": name,
            "region": None if region is None else list(region),
            "laser_nm": None if laser is None or np.isnan(laser) else laser,
            "sample": spectrum.sample,
            "simulated": False,
        },
        difficulty={
            "share_of_range": float(found.prominence[best] / found.dynamic_range),
            "rival": rival,
            "signal_to_noise": float(found.prominence[best] / max(found.noise_at[best], 1e-300)),
            "background_share": float(
                found.background_span / (found.background_span + found.dynamic_range)
            ),
            "sample": spectrum.sample,
        },
        truth={
            "quantity": "raman_shift",
            "value": place,
            "unit": "1/cm",
            "basis": None,
            "sentence": f"The strongest band is at {place:.1f} cm⁻¹.",
        },
    )


def _known(sample: str, place: float) -> bool:
    """Whether a source beside our own peak search has a band here."""
    from matpcr_utils.references.bands import KNOWN_BANDS

    if sample == "carbon":
        return any(low <= place <= high for low, high in CARBON)
    shifts = KNOWN_BANDS[sample].shifts if sample in KNOWN_BANDS else ()
    return any(abs(place - shift) <= KNOWN_WITHIN for shift in shifts)
