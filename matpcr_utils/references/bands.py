"""Raman bands of known materials, from standards and the literature, not from our own spectra."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownBands:
    """Bands that a material is known to show.

    Attributes
    ----------
    shifts : tuple of float
        1/cm, ascending. Bands that the source calls weak (below about 5 % of the strongest) and
        second-order ones are left out.
    source : str
    """

    shifts: tuple[float, ...]
    source: str


#: By the sample names of `references.spectra`. Carbon has no entry: the D and G bands of
#: disordered carbon move by tens of 1/cm with disorder and laser, so no number is true beforehand.
KNOWN_BANDS: dict[str, KnownBands] = {
    "silicon": KnownBands((520.45,), "CWA 18133:2024, first-order line at room temperature"),
    "calcite": KnownBands(
        (155.21, 281.26, 711.95, 1085.91),
        "CWA 18133:2024; modes in De La Pierre et al., J. Chem. Phys. 140 (2014) 164509",
    ),
    "polystyrene": KnownBands(
        (620.9, 795.8, 1001.4, 1031.8, 1155.3, 1450.5, 1583.1, 1602.3, 2852.4, 2904.5, 3054.3),
        "ASTM E1840-96 (2022)",
    ),
    "titanium dioxide in a polymer": KnownBands(
        (144.0, 399.0, 516.0, 639.0),
        "anatase: Ohsaka, Izumi and Fujiki, J. Raman Spectrosc. 7 (1978) 321",
    ),
}
