"""Raman bands of known materials, from standards and the literature, not from our own spectra."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownBands:
    """Bands that a material is known to show.

    Attributes
    ----------
    shifts : tuple of float
        1/cm, ascending: bands that a reader is expected to see.
    source : str
    weak : tuple of float
        1/cm: first-order bands below about 5 % of the strongest, and second-order ones. Too weak
        to be expected, but a claim of one is not false either.
    """

    shifts: tuple[float, ...]
    source: str
    weak: tuple[float, ...] = ()


#: By the sample names of `references.spectra`. Carbon has no entry: the D and G bands of
#: disordered carbon move by tens of 1/cm with disorder and laser, so no number is true beforehand.
KNOWN_BANDS: dict[str, KnownBands] = {
    "silicon": KnownBands(
        (520.45,),
        "CWA 18133:2024, first-order line at room temperature; second order: Temple and Hathaway, "
        "Phys. Rev. B 7 (1973) 3685",
        # The second of these is a plateau, from 920 to 985.
        weak=(303.0, 925.0, 940.0, 955.0, 970.0, 985.0),
    ),
    "calcite": KnownBands(
        (155.21, 281.26, 711.95, 1085.91),
        "CWA 18133:2024; modes in De La Pierre et al., J. Chem. Phys. 140 (2014) 164509",
        weak=(1435.22, 1748.91),
    ),
    "polystyrene": KnownBands(
        (620.9, 795.8, 1001.4, 1031.8, 1155.3, 1450.5, 1583.1, 1602.3, 2852.4, 2904.5, 3054.3),
        "ASTM E1840-96 (2022)",
    ),
    "titanium dioxide in a polymer": KnownBands(
        (144.0, 399.0, 516.0, 639.0),
        "anatase: Ohsaka, Izumi and Fujiki, J. Raman Spectrosc. 7 (1978) 321",
        weak=(197.0,),
    ),
}
