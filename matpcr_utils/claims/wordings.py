"""The other direction: one claim in many surface forms.

Used to measure how often the reader recovers a claim, whatever its wording, and to write chains
whose claims are known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from matpcr_utils.claims.model import CONSTRAINTS, Claim
from matpcr_utils.errors import MatPCRError
from matpcr_utils.quantities import PINT_UNITS, factor

#: (pint unit, how it is written after the number); ``$`` stands for a LaTeX form.
_UNITS: dict[str, tuple[tuple[str, str], ...]] = {
    "two_theta": (
        ("degree", "°"),
        ("degree", " deg"),
        ("degree", " degrees"),
        ("degree", "$^{\\circ}$"),
    ),
    "d_spacing": (
        *(("angstrom", " Å"), ("angstrom", " angstrom"), ("angstrom", "$~\\mathrm{\\AA}$")),
        *(("nanometer", " nm"), ("picometer", " pm")),
    ),
    "scattering_vector": (
        *(("1/angstrom", " Å⁻¹"), ("1/angstrom", " 1/Å"), ("1/angstrom", "$\\,\\text{Å}^{-1}$")),
        *(("1/nanometer", " nm^-1"), ("1/angstrom", " inverse angstroms")),
    ),
    "feature_size": (
        *(("nanometer", " nm"), ("nanometer", "-nm"), ("micrometer", " µm"), ("micrometer", " μm")),
        *(("micrometer", " um"), ("micrometer", " microns"), ("angstrom", " Å")),
        *(("nanometer", "$\\,\\mathrm{nm}$"), ("nanometer", " nanometers")),
    ),
    "scale": (
        *(("nanometer/pixel", " nm/px"), ("nanometer/pixel", " nm per pixel")),
        *(
            ("angstrom/pixel", " Å/px"),
            ("picometer/pixel", " pm/pixel"),
            ("nanometer/pixel", " nm px⁻¹"),
        ),
    ),
    "raman_shift": (
        *(("1/centimeter", " cm⁻¹"), ("1/centimeter", " cm-1"), ("1/centimeter", " cm^{-1}")),
        *(("1/centimeter", " wavenumbers"), ("1/centimeter", "$\\,\\mathrm{cm^{-1}}$")),
    ),
    "energy_above_hull": (
        *(
            ("electron_volt", " eV"),
            ("millielectron_volt", " meV"),
            ("electron_volt", "$\\,\\mathrm{eV}$"),
        ),
    ),
    "band_gap": (
        *(
            ("electron_volt", " eV"),
            ("millielectron_volt", " meV"),
            ("electron_volt", "$\\,\\text{eV}$"),
        ),
    ),
    "magnetization": (
        *(
            ("bohr_magneton", " μB"),
            ("bohr_magneton", " µ_B"),
            ("bohr_magneton", " Bohr magnetons"),
        ),
        *(("bohr_magneton", "$\\,\\mu_{\\mathrm{B}}$"), ("bohr_magneton", " mu_B")),
    ),
}
_PER: dict[str, tuple[str, ...]] = {
    "atom": (" per atom", "/atom"),
    "formula_unit": (" per formula unit", "/f.u."),
    "cell": (" per cell", "/cell", " per unit cell"),
}
_FRAMES: dict[str, tuple[str, ...]] = {
    "two_theta": (
        *(
            "The strongest line is at 2θ = {}.",
            "The main peak appears at {} two-theta.",
            "2theta: {}",
        ),
        *("I read {} in 2θ for the first reflection.", "**2θ ≈ {}**", "| Main peak (2θ) | {} |"),
        *('{{"two_theta": "{}"}}', "The peak sits near {}.", "It is not at 12.3° but at {} 2θ."),
    ),
    "d_spacing": (
        *("The reflection corresponds to d = {}.", "an interplanar spacing of {}", "d-spacing: {}"),
        *(
            '{{"d_spacing": "{}"}}',
            "By Bragg's law, d = λ/(2 sin θ) = {}.",
            "The d-spacing is about {}.",
        ),
    ),
    "scattering_vector": (
        *(
            "The peak is at q = {}.",
            "scattering vector of {}",
            "|Q| ≈ {}",
            "a momentum transfer of {}",
        ),
    ),
    "feature_size": (
        *("The largest particle is about {} across.", "feature size: {}", "a grain of {}"),
        *("The scale bar reads 500 nm, so the particle diameter is {}.", '{{"diameter": "{}"}}'),
        *(
            "The pore is {} rather than 7 nm wide.",
            "| Particle diameter | {} |",
            "It measures ~{}.",
        ),
    ),
    "scale": (
        "The scale is {}.",
        "scale: {}",
        "Using the 200 nm bar, I get {}.",
        "The calibration is {}.",
    ),
    "raman_shift": (
        *("The most intense Raman band is at {}.", "Raman shift: {}", "A peak at {} dominates."),
        *("Excited at 532 nm, the main peak appears at {}.", '{{"raman_shift": "{}"}}', "**{}**"),
    ),
    "energy_above_hull": (
        *("E_hull = {}", "The energy above hull is {}.", "It lies {} above the convex hull."),
        *("$E_\\mathrm{{hull}} \\approx$ {}", '{{"energy_above_hull": "{}"}}', "Ehull ~ {}"),
        *("The formation energy is −1.9 eV/atom and the energy above the hull {}.",),
    ),
    "band_gap": (
        *("The band gap is {}.", "E_g = {}", "$E_g \\approx$ {}", "It has a direct gap of {}."),
        *(
            "The gap is not 9.5 eV but {}.",
            "| Band gap | {} |",
            '{{"band_gap": "{}"}}',
            "a {} band gap",
        ),
        *("The photon energy is 2.33 eV; the band gap is {}.",),
    ),
    "magnetization": (
        *("The total magnetization is {}.", "total moment: {}", "The net moment amounts to {}."),
        *('{{"total_magnetization": "{}"}}', "I expect {}.", "| Moment | {} |"),
    ),
}
_SENTENCES: dict[str, tuple[str, ...]] = {
    "stable": (
        *(
            "This compound is thermodynamically stable.",
            "I would not call it unstable.",
            "**Stable**",
        ),
        *(
            '{"stable": true}',
            "It lies on the convex hull.",
            "The phase is stable against decomposition.",
        ),
        *("Is it stable? Yes.", "It is stable rather than unstable.", "| Stable | yes |"),
    ),
    "unstable": (
        *("The structure is not stable.", "It is unstable.", "It cannot be considered stable."),
        *(
            '{"is_stable": false}',
            "The phase isn't thermodynamically stable.",
            "It is far from stable.",
        ),
        *("Stable: no", "It is not on the hull."),
    ),
    "metastable": (
        *(
            "The phase is metastable.",
            "It is not stable but metastable.",
            '{"stability": "metastable"}',
        ),
        *("a meta-stable polymorph", "It is metastable rather than stable."),
    ),
    "zero_gap": (
        *(
            "The compound is metallic.",
            "It is a metal.",
            "It has no band gap.",
            '{"is_metal": true}',
        ),
        *("The material is gapless.", "I would not call it a nonmetal.", "It lacks a band gap."),
        *("It is a metal rather than a semiconductor.", "Metallic: yes"),
    ),
    "nonzero_gap": (
        *(
            "It is not a metal.",
            "The compound is a semiconductor.",
            "It is insulating.",
            "Nonmetal.",
        ),
        *(
            '{"is_metal": false}',
            "It isn't metallic.",
            "It has a finite band gap.",
            "Metallic? No.",
        ),
    ),
    "semimetal": ("It is a semimetal.", "a semi-metal", "The phase is a Dirac semimetal."),
    "finite_net": (
        *(
            "The compound is ferromagnetic.",
            "It carries a net magnetic moment.",
            '{"ordering": "FM"}',
        ),
        *("It is ferrimagnetic.", "The net moment is not zero.", "It is not non-magnetic."),
        *('{"is_magnetic": true}',),
    ),
    "zero_net": (
        *("It is non-magnetic.", "It has no net magnetic moment.", "The net moment is zero."),
        *(
            '{"magnetic": false}',
            "The material isn't magnetic.",
            "It is diamagnetic.",
            "The moments cancel.",
        ),
    ),
    "antiferromagnetic": (
        *(
            "It orders antiferromagnetically.",
            "The ground state is antiferromagnetic.",
            "Ordering: AFM",
        ),
        *("It is not ferromagnetic but antiferromagnetic.", "an antiferromagnet"),
    ),
}
#: Sentences with numbers and words that are no claim, by constraint.
DISTRACTORS: dict[str, tuple[str, ...]] = {
    "diffraction": (
        *("Cu Kα radiation was used (λ = 1.5406 Å).", "The x axis runs from 10° to 90°."),
        *(
            "The FWHM is 0.2°.",
            "The lattice parameter is a = 5.43 Å.",
            "The (111) plane comes first.",
        ),
    ),
    "microscopy": (
        *(
            "The scale bar is 500 nm.",
            "The image is 1024 × 768 px.",
            "The working distance is 8.5 mm.",
        ),
        *("The field of view is 2.3 µm.", "It was taken at 15 kV in 2019.", "Its area is 90 nm²."),
    ),
    "spectra": (
        *("A 532 nm laser was used.", "The axis spans 100 to 3200 cm⁻¹.", "The FWHM is 4 cm⁻¹."),
        *("The spectral resolution is 2 cm⁻¹.", "There is no band at 2900 cm⁻¹."),
    ),
    "stability": (
        *("Its formation energy is −1.2 eV/atom.", "It is dynamically stable.", "Is it stable?"),
        *("The threshold is 0.05 eV/atom.", "The question is whether it is stable or unstable."),
    ),
    "metallicity": (
        *(
            "It is a transition metal oxide.",
            "The photon energy is 2.3 eV.",
            "Metals such as Fe differ.",
        ),
        *("If it were metallic, it would shine.", "The plane-wave cutoff is 520 eV."),
    ),
    "magnetism": (
        *("The Curie temperature is 1043 K.", "The local moment on each Mn is 4 μB."),
        *("If it were ferromagnetic, it would stick.", "The field is 2 T.", "Is it magnetic?"),
    ),
}

#: Where the numbers of drawn claims lie, in canonical units.
RANGES: dict[str, tuple[float, float]] = {
    "two_theta": (5, 150),
    "d_spacing": (0.8, 12),
    "scattering_vector": (0.3, 8),
    "feature_size": (3, 90000),
    "scale": (0.02, 300),
    "raman_shift": (60, 4000),
    "energy_above_hull": (1e-4, 1.5),
    "band_gap": (0.05, 9),
    "magnetization": (-3, 12),
}
_LABELS: dict[str, tuple[str, ...]] = {
    "stability": ("stable", "unstable", "metastable"),
    "metallicity": ("zero_gap", "nonzero_gap", "semimetal"),
    "magnetism": ("finite_net", "zero_net", "antiferromagnetic"),
}
_BASES: dict[str, tuple[str | None, ...]] = {
    "energy_above_hull": ("atom", "formula_unit", "cell"),
    "magnetization": ("atom", "formula_unit", "cell", None),
}


def draw(quantity: str, rng: np.random.Generator) -> Claim:
    """A claim of a quantity: a label, or a number of five digits, uniform in `RANGES`.

    Raises
    ------
    MatPCRError
        If there is no such quantity.
    """
    if quantity in _LABELS:
        return Claim(quantity, _pick(_LABELS[quantity], rng))
    if quantity not in RANGES:
        known = ", ".join((*RANGES, *_LABELS))
        raise MatPCRError(f"unknown quantity {quantity!r}: choose one of {known}")
    value = float(f"{rng.uniform(*RANGES[quantity]):.5g}")
    bases = _BASES.get(quantity, (None,))
    return Claim(quantity, value, basis=bases[int(rng.integers(len(bases)))])


def state(claim: Claim, rng: np.random.Generator, *, distract: bool = False) -> str:
    """A chain that states one claim, in a surface form drawn at random.

    Parameters
    ----------
    claim : Claim
        Numbers are stated to six significant digits.
    rng : numpy.random.Generator
    distract : bool
        Whether to put a sentence that claims nothing before it and another after it.

    Raises
    ------
    MatPCRError
        If the claim's number is not finite, or there is no wording for its label.

    Examples
    --------
    >>> state(Claim("band_gap", 1.1), np.random.default_rng(0))
    'a 1.1 eV band gap'
    """
    text = _label(claim, rng) if isinstance(claim.value, str) else _number(claim, claim.value, rng)
    if not distract:
        return text
    constraint = next(name for name, known in CONSTRAINTS.items() if claim.quantity in known)
    before, after = rng.choice(DISTRACTORS[constraint], size=2, replace=False)
    return f"{before}\n{text}\n{after}"


def _label(claim: Claim, rng: np.random.Generator) -> str:
    if claim.value not in _SENTENCES:
        raise MatPCRError(f"no wording for {claim.value!r}: choose one of {', '.join(_SENTENCES)}")
    return _pick(_SENTENCES[str(claim.value)], rng)


def _number(claim: Claim, value: float, rng: np.random.Generator) -> str:
    if not math.isfinite(value):
        raise MatPCRError(f"{claim.quantity} = {value} cannot be stated: give a finite number")
    unit, written = _UNITS[claim.quantity][rng.integers(len(_UNITS[claim.quantity]))]
    number = _write(value * factor(PINT_UNITS[claim.quantity], unit), rng, written.startswith("$"))
    if written.startswith("$"):
        quoted = f"${number}{written[1:]}"
    else:
        quoted = number + (" " + written[1:] if written[0] == "-" and "×" in number else written)
    if claim.basis is not None:
        quoted += _pick(_PER[claim.basis], rng)
    return _pick(_FRAMES[claim.quantity], rng).format(quoted)


def _write(value: float, rng: np.random.Generator, latex: bool) -> str:
    """A number to six significant digits, in one of the styles that fit its size."""
    plain = f"{value:.6g}"
    if "e" in plain or (value and rng.random() < 0.2):
        digits, power = f"{value:.5e}".split("e")
        digits = digits.rstrip("0").rstrip(".")
        if latex:
            plain = f"{digits} \\times 10^{{{int(power)}}}"
        else:
            raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
            plain = _pick(
                (f"{digits} × 10{raised}", f"{digits}e{int(power)}", f"{digits}×10^{int(power)}"),
                rng,
            )
    elif abs(value) >= 1000 and rng.random() < 0.5:
        plain = f"{float(plain):,.{len(plain.partition('.')[2])}f}"
    return plain.replace("-", "−", 1) if plain.startswith("-") and rng.random() < 0.5 else plain


def _pick(options: Sequence[str], rng: np.random.Generator) -> str:
    return options[int(rng.integers(len(options)))]
