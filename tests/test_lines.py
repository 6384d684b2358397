"""Reference lines: right, the same for a supercell, and cached safely."""

from __future__ import annotations

import multiprocessing
import warnings
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import joblib
import numpy as np
import pytest
from pymatgen.core import Lattice, Structure

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import lines as module
from matpcr_utils.references.lines import Lines, lines_of, lines_table


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MATPCR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def silicon() -> Structure:
    # Certified lattice parameter of SRM 640c.
    return Structure.from_spacegroup("Fd-3m", Lattice.cubic(5.4311946), ["Si"], [[0, 0, 0]])


def zincite() -> Structure:
    # Abrahams & Bernstein, Acta Cryst. B25, 1233 (1969).
    sites = [[1 / 3, 2 / 3, 0], [1 / 3, 2 / 3, 0.3826]]
    return Structure.from_spacegroup(
        "P6_3mc", Lattice.hexagonal(3.2495, 5.2069), ["Zn", "O"], sites
    )


def triclinic() -> Structure:
    lattice = Lattice.from_parameters(4.1, 5.3, 6.7, 81, 97, 104)
    return Structure(lattice, ["Na", "Cl", "O"], [[0, 0, 0], [0.31, 0.42, 0.57], [0.6, 0.1, 0.2]])


def same(a: Lines, b: Lines) -> bool:
    return (
        len(a) == len(b)
        and np.allclose(a.d, b.d, rtol=1e-9)
        and np.allclose(a.intensity, b.intensity, atol=1e-6)
        and a.hkl == b.hkl
    )


def test_silicon_lines_are_those_of_the_powder_card() -> None:
    # ICDD 27-1402, Cu Kα1: 28.442, 47.302, 56.121, 69.130, 76.377, 88.026.
    found = lines_of(silicon(), reach=90)
    assert found.hkl == ("111", "220", "311", "400", "331", "422")
    card = [28.442, 47.302, 56.121, 69.130, 76.377, 88.026]
    np.testing.assert_allclose(found.two_theta(), card, atol=0.006)
    assert found.intensity.max() == 100.0


def test_hexagonal_lines_carry_three_indices_of_the_conventional_cell() -> None:
    found = lines_of(zincite(), reach=60)
    # ICDD 36-1451.
    assert found.hkl == ("100", "002", "101", "102", "110")
    np.testing.assert_allclose(
        found.two_theta(), [31.770, 34.422, 36.253, 47.539, 56.603], atol=0.006
    )


def test_families_at_one_spacing_share_a_line() -> None:
    found = lines_of(silicon())
    assert "511, 333" in found.hkl


@pytest.mark.parametrize("structure", [silicon(), zincite(), triclinic()], ids=lambda s: s.formula)
@pytest.mark.parametrize(
    "scaling", [[2, 1, 3], [[1, 1, 0], [0, 1, 0], [0, 1, 2]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]]
)
def test_supercell_has_the_lines_of_its_primitive_cell(
    structure: Structure, scaling: list[int]
) -> None:
    larger = structure.make_supercell(scaling, in_place=False)
    assert len(larger) > len(structure)
    assert same(lines_of(structure), lines_of(larger))
    assert same(lines_of(structure), lines_of(structure.get_primitive_structure()))


def test_spacings_do_not_depend_on_the_wavelength() -> None:
    copper, molybdenum = lines_of(silicon(), reach=90), lines_of(silicon(), 0.70930, reach=90)
    np.testing.assert_allclose(copper.d, molybdenum.d[: len(copper)], rtol=1e-9)
    assert len(molybdenum) > len(copper)


def test_two_theta_is_nan_where_bragg_has_no_solution() -> None:
    found = lines_of(silicon(), 0.70930, reach=120)
    angles = found.two_theta(1.540593)
    assert np.array_equal(np.isnan(angles), found.d < 1.540593 / 2)
    assert np.isnan(angles).any()


def test_partial_occupancy_is_refused_in_one_line() -> None:
    alloy = Structure(Lattice.cubic(3.6), [{"Fe": 0.5, "Ni": 0.5}], [[0, 0, 0]])
    with pytest.raises(MatPCRError, match="partial occupancy") as caught:
        lines_of(alloy)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wavelength": 0.0}, "wavelength = 0.0"),
        ({"wavelength": float("nan")}, "wavelength = nan"),
        ({"reach": 180.0}, "reach = 180.0"),
        ({"reach": 0.0}, "reach = 0.0"),
    ],
)
def test_bad_numbers_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(MatPCRError, match=message):
        lines_of(silicon(), **options)


def test_element_without_scattering_factors_is_refused() -> None:
    lawrencium = Structure(Lattice.cubic(4.0), ["Lr"], [[0, 0, 0]])
    with pytest.raises(MatPCRError, match="no lines for Lr"):
        lines_of(lawrencium)


def test_second_call_reads_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    first = lines_of(silicon())
    monkeypatch.setattr(module._Cell, "reduce", None)  # a computation would fail now
    assert same(first, lines_of(silicon()))


def test_key_covers_structure_radiation_and_reach() -> None:
    stretched = silicon()
    stretched.scale_lattice(stretched.volume * 1.01)
    keys = [
        module._key(silicon(), 1.54, 90),
        module._key(stretched, 1.54, 90),
        module._key(silicon(), 1.55, 90),
        module._key(silicon(), 1.54, 91),
    ]
    from joblib import hash as content_hash

    assert len({content_hash(key) for key in keys}) == 4
    assert "pymatgen" in keys[0][-1]


@pytest.mark.parametrize("damage", [b"", b"not a pickle", None])
def test_damaged_entry_is_computed_again(cache: Path, damage: bytes | None) -> None:
    first = lines_of(silicon())
    (entry,) = cache.rglob("output.pkl")
    content = entry.read_bytes()
    entry.write_bytes(content[: len(content) // 2] if damage is None else damage)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(first, lines_of(silicon()))
    assert len(entry.read_bytes()) > len(content) // 2


def _write_lines(barrier: Barrier, answers: SimpleQueue[list[list[float]]]) -> None:
    joblib.memory._FUNCTION_HASHES.clear()  # as a fresh process, which has checked no code yet
    cells = [
        Structure.from_spacegroup(
            "Pm-3m", Lattice.cubic(a), ["Cs", "Cl"], [[0, 0, 0], [0.5, 0.5, 0.5]]
        )
        for a in (3.9, 4.0, 4.1, 4.2)
    ]
    barrier.wait()
    answers.put([lines_of(cell).d.tolist() for cell in cells])


def test_parallel_writers_agree(cache: Path) -> None:
    """Four processes start together on one empty cache and all write the same entries."""
    fork = multiprocessing.get_context("fork")
    barrier, answers = fork.Barrier(4), fork.SimpleQueue()
    processes = [fork.Process(target=_write_lines, args=(barrier, answers)) for _ in range(4)]
    for process in processes:
        process.start()
    found = [answers.get() for _ in processes]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert all(answer == found[0] for answer in found)
    assert len(list(cache.rglob("output.pkl"))) == 4
    assert not list(cache.rglob("*.thread-*"))  # no temporary file is left behind


def test_folder_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MATPCR_CACHE", str(tmp_path / "file"))
    with pytest.raises(MatPCRError, match="set MATPCR_CACHE"):
        lines_of(silicon())


def test_table_keeps_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    structures = [silicon(), zincite(), triclinic()]
    serial = lines_table(structures, reach=60)
    assert [len(found) for found in serial] == [len(lines_of(s, reach=60)) for s in structures]
    assert all(same(a, lines_of(s, reach=60)) for a, s in zip(serial, structures, strict=True))


def test_table_in_worker_processes_is_the_serial_one(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    structures = [triclinic(), silicon(), zincite()]
    monkeypatch.setattr(module, "_WORTH_WORKERS", 1)
    parallel = lines_table(structures, reach=70, progress=True)
    assert "Reference lines" in capfd.readouterr().err
    assert all(same(a, lines_of(s, reach=70)) for a, s in zip(parallel, structures, strict=True))


def test_cell_without_a_space_group_is_taken_as_it_is() -> None:
    # Two atoms closer than the distance tolerance: spglib gives up.
    odd = Structure(Lattice.cubic(4.0), ["Na", "Na"], [[0, 0, 0], [0, 0, 0.0005]])
    found = lines_of(odd, reach=60)
    assert found.hkl[:2] == ("100", "110")
    np.testing.assert_allclose(found.d[:2], [4.0, 4.0 / np.sqrt(2)], rtol=1e-9)


@pytest.mark.parametrize(
    ("edge", "wavelength"), [(4000.0, 1.54), (5.43, 0.01), (5.43, 1e-300)], ids=str
)
def test_more_reflections_than_can_be_computed_are_refused(edge: float, wavelength: float) -> None:
    cell = Structure(Lattice.cubic(edge), ["Po"], [[0, 0, 0]])
    with pytest.raises(MatPCRError, match=r"reflections up to 2θ = 125° at .* above 300,000"):
        lines_of(cell, wavelength)


def test_nothing_within_reach_is_no_line() -> None:
    assert len(lines_of(silicon(), 100.0)) == 0
    # Of zincite only 001, which is extinct, has a spacing above half of this wavelength.
    assert len(lines_of(zincite(), 7.6, 125.0)) == 0


@pytest.mark.parametrize("wavelength", [0.0, -1.0, np.nan, np.inf])
def test_a_wavelength_that_is_no_length_is_refused(wavelength: float) -> None:
    with pytest.raises(MatPCRError, match="must be a positive length in angstrom"):
        lines_of(silicon(), wavelength)
