"""Items: stable, balanced, and each exposing exactly one claim that its oracle takes."""

import dataclasses
import json
import re
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from matpcr_utils import items, oracles
from matpcr_utils.claims import CONSTRAINTS, extract_claims
from matpcr_utils.claims.model import CANONICAL_UNITS
from matpcr_utils.errors import MatPCRError
from matpcr_utils.items import contrast, curves, report
from matpcr_utils.items._sampling import round_robin
from matpcr_utils.oracles.magnetism import TRUSTED_MATCHES


@pytest.fixture(scope="module")
def everything():
    return items.load("all")


def of(chosen, constraint):
    return [item for item in chosen if item.constraint == constraint]


def test_at_least_ninety_items_a_constraint_type(everything):
    assert [item.constraint for item in everything[:: items.DEFAULT_N]] == list(CONSTRAINTS)
    for constraint in CONSTRAINTS:
        assert len(of(everything, constraint)) == items.DEFAULT_N >= 90
    assert len({item.item_id for item in everything}) == len(everything)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_fewer_items_are_a_prefix_and_seeds_choose_others(constraint):
    assert items.load(constraint, 7) == items.load(constraint, 30)[:7]
    assert items.load(constraint, 12, seed=3) == items.load(constraint, 12, seed=3)
    other = {item.item_id for item in items.load(constraint, 12, seed=3)}
    assert other != {item.item_id for item in items.load(constraint, 12)}


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("seed", [0, 3])
def test_an_id_stands_for_the_item_whatever_the_seed(constraint, seed):
    for item in items.load(constraint, 12, seed):
        assert items.get(item.item_id) == item


def test_every_accurate_answer_reads_back_as_one_consistent_accurate_claim(everything):
    checked = report.one_claim(everything, seed=1)
    assert len(checked) == 2 * len(everything)
    assert (checked.claims == 1).all()
    assert (checked.outcome == "consistent").all()
    assert (checked.accurate == True).all()  # noqa: E712 - None is neither
    summary = report.one_claim_summary(checked)
    assert (summary.statements == items.DEFAULT_N).all()
    assert (summary.one_claim == items.DEFAULT_N).all()


def test_truths_are_claims_of_what_is_asked(everything):
    for item in everything:
        claim = items.true_claim(item)
        assert claim.quantity == item.asks
        assert item.asks in items.QUESTIONS[item.constraint]
        assert claim.unit == CANONICAL_UNITS[claim.quantity]
        assert item.modality == items.MODALITY[item.constraint]


def test_facts_survive_json_and_still_give_the_reference(everything):
    for item in everything[::17]:
        again = dataclasses.replace(item, facts=json.loads(json.dumps(item.facts)))
        oracle = oracles.get(item.constraint)
        claim = items.true_claim(item)
        first, second = (oracle.check(claim, items.reference(i)) for i in (item, again))
        assert first == second
        assert items.text(again) == items.text(item)
        json.dumps([dict(item.truth), dict(item.difficulty)], allow_nan=False)


def test_simulated_inputs_say_so(everything):
    for item in everything:
        expected = {"microscopy": True, "diffraction": item.difficulty.get("kind") == "simulated"}
        assert item.facts["simulated"] is expected.get(item.constraint, False)
        if item.constraint == "diffraction":
            assert ("simulated" in items.text(item)) == item.facts["simulated"]
    measured = [i for i in of(everything, "diffraction") if not i.facts["simulated"]]
    assert {i.source_id for i in measured} == {"fluorapatite", "Na2Ca3Al2F14"}


def test_classes_are_balanced_and_no_gap_lies_in_the_band(everything):
    energies = np.array([items.reference(i).energy_above_hull for i in of(everything, "stability")])
    assert np.mean(energies <= 0.05) == 0.5
    assert np.mean(energies <= 1e-6) == 0.25
    gaps = np.array([items.reference(i).band_gap for i in of(everything, "metallicity")])
    assert np.mean(gaps == 0) == 0.5
    assert not ((gaps > 0) & (gaps < 0.2)).any()
    entries = [items.reference(i) for i in of(everything, "magnetism")]
    moments = np.array([abs(e.total_magnetization) / e.nsites for e in entries])
    assert np.mean(moments > 0.05) == 0.5
    assert {e.match_quality for e in entries} <= set(TRUSTED_MATCHES)


def test_balance_holds_in_every_prefix():
    for n in (2, 10, 50):
        classes = [i.difficulty["class"] for i in items.load("metallicity", n)]
        assert classes.count("zero_gap") == n / 2


def test_sources_are_shared_where_inputs_are(everything):
    for constraint, most in (("spectra", 3), ("microscopy", 2)):
        sources = [item.source_id for item in of(everything, constraint)]
        assert 1 < max(map(sources.count, sources)) <= most
    for item in everything:
        # An id or key of a database would be an invitation to recall instead of reading.
        assert item.source_id not in items.text(item) or item.source_id in item.facts["material"]


@pytest.mark.parametrize("constraint", ["diffraction", "spectra"])
def test_text_of_a_curve_holds_the_answer(everything, constraint):
    for item in of(everything, constraint):
        rows = items.text(item).splitlines()[2:]
        place, height = np.array([row.split() for row in rows], float).T
        assert len(rows) <= curves.STRETCHES and height.max() == 100.0
        room = {"diffraction": 0.1, "spectra": 2.0}[constraint]
        near = np.abs(place - item.truth["value"]) <= room
        assert near.any()
        region = item.facts["region"]
        if constraint == "diffraction":
            low, high = region or (-np.inf, np.inf)
            inside = (place >= low) & (place <= high)
            assert near[np.argmax(np.where(inside, height, -1))]


def test_text_of_a_micrograph_gives_the_answer_by_a_division(everything):
    for item in of(everything, "microscopy"):
        text = items.text(item)
        bar = float(re.search(r"(\d+) pixels long", text)[1])
        number, unit = re.search(r"“([\d.]+) ?(\S+)”", text).groups()
        scale = float(number) * {"nm": 1, "µm": 1e3, "μm": 1e3, "um": 1e3}[unit] / bar
        value, room = scale, 0.03
        if item.asks == "feature_size":
            value, room = scale * float(re.search(r"([\d.]+) pixels\.$", text)[1]), 0.1
        assert abs(value / item.truth["value"] - 1) < room


def test_text_of_a_structure_lists_every_site():
    item = items.get("stability-mp-9107")
    entry = items.reference(item)
    lines = items.text(item).splitlines()
    assert lines[0] == "Formula: NaZrCuS3 (2 formula units, 12 atoms in the cell)"
    assert lines[1] == "Space group: Cmcm (63)"
    assert len(lines) == 4 + entry.nsites
    symbols = [line.split()[0] for line in lines[4:]]
    assert symbols == [site.specie.symbol for site in entry.structure]
    coordinates = np.array([line.split()[1:] for line in lines[4:]], float)
    off = (coordinates - entry.structure.frac_coords + 0.5) % 1 - 0.5
    assert np.abs(off).max() < 1e-4


@pytest.mark.parametrize("constraint", ["diffraction", "microscopy", "spectra"])
def test_images_are_png_and_reproducible(constraint):
    item = items.load(constraint, 1)[0]
    first = items.image(item)
    picture = Image.open(BytesIO(first))
    assert picture.format == "PNG"
    facts = item.facts
    assert picture.size == (facts.get("width_px", 1320), facts.get("height_px", 720))
    assert items.image(items.get(item.item_id)) == first


def test_structures_have_no_image():
    item = items.load("stability", 1)[0]
    with pytest.raises(MatPCRError, match="posed as text"):
        items.image(item)


def test_bands_asked_for_are_known_elsewhere(everything):
    from matpcr_utils.references.bands import KNOWN_BANDS

    for item in of(everything, "spectra"):
        if item.facts["sample"] != "carbon":
            known = np.array(KNOWN_BANDS[item.facts["sample"]].shifts)
            assert np.abs(known - item.truth["value"]).min() <= 10
        low, high = item.facts["region"] or (100, np.inf)
        assert low < item.truth["value"] < high


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: items.load("colour"), "unknown constraint 'colour'"),
        (lambda: items.load("stability", 0), "n_items = 0"),
        (lambda: items.load("stability", 3, -1), "seed = -1"),
        (lambda: items.load("spectra", 5000), "5000 spectra items were asked for"),
        (lambda: items.get("colour-1"), "no item 'colour-1'"),
        (lambda: items.get("stability-mp-0"), "not among the 2938"),
        (lambda: items.get("metallicity-mp-13"), "no item 'metallicity-mp-13'"),
        (lambda: items.get("spectra-nothing"), "no spectrum 'nothing'"),
        (lambda: items.get("spectra-icv-bwtek-532-100-scal_1-2"), "none that is asked about"),
        (lambda: items.get("diffraction-fluorapatite_1-2"), "none that is asked about"),
        (lambda: items.get("microscopy-0002-size"), "no item 'microscopy-0002-size'"),
        (lambda: items.get("microscopy-0002-scale"), "no item 'microscopy-0002-scale'"),
        (lambda: items.get("microscopy-1-size"), "no item 'microscopy-1-size'"),
    ],
)
def test_bad_requests_are_refused_in_one_line(call, message):
    with pytest.raises(MatPCRError, match=re.escape(message)) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_an_entry_in_the_band_is_no_item():
    from matpcr_utils.references import dft

    table = dft.load()
    row = int(np.flatnonzero((table.band_gap > 0.05) & (table.band_gap < 0.2))[0])
    with pytest.raises(MatPCRError, match="no item"):
        items.get(f"metallicity-{table.material_id[row]}")


@given(
    sizes=st.lists(st.integers(0, 12), min_size=1, max_size=4),
    seed=st.integers(0, 1000),
)
def test_round_robin_visits_strata_in_turn_without_repeats(sizes, seed):
    ends = np.cumsum(sizes)
    strata = [np.arange(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    found = list(round_robin(strata, seed, 1))
    assert [stratum for stratum, _ in found] == [i % len(sizes) for i in range(len(found))]
    rows = [row for _, row in found]
    assert len(set(rows)) == len(rows)
    assert all(row in strata[stratum] for stratum, row in found)
    assert len(found) // len(sizes) == min(sizes)


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=300),
    stretches=st.integers(1, 90),
)
def test_highest_keeps_the_top_and_does_not_depend_on_direction(values, stretches):
    x, y = np.arange(len(values), dtype=float), np.array(values)
    at, high = curves.highest(x, y, stretches)
    assert high.max() == y.max()
    assert len(at) <= stretches and (np.diff(at) > 0).all()
    assert (y[at.astype(int)] == high).all()
    back = curves.highest(x[::-1], y[::-1], stretches)
    assert (back[0] == at).all() and (back[1] == high).all()


def test_contrast_separates_the_two_yardsticks(everything):
    found = contrast.table(everything).set_index("constraint")
    others = found.drop(index="stability")
    assert (others.accurate == 0).all()
    assert (others.consistent == others["items"]).all()
    assert found.loc["stability", "flagged"] == found.loc["stability", "accurate"] == 24


def test_tables_of_the_report(everything):
    overview = report.overview(everything).set_index("constraint")
    assert (overview["items"] == items.DEFAULT_N).all()
    assert overview.loc["microscopy", "simulated"] == items.DEFAULT_N
    assert overview.loc["stability", "sources"] == items.DEFAULT_N
    assert list(report.rules().constraint) == list(CONSTRAINTS)
    shown = report.wordings_table(everything[0]).data
    assert list(shown.columns) == list(items.PROMPT_VERSIONS)


def test_extraction_reads_no_claim_out_of_an_image_question(everything):
    """A model that repeats the question has not answered it."""
    asked = {(i.constraint, i.asks, str(i.facts.get("region"))): i for i in everything}
    for item in asked.values():
        if item.modality == "image":
            question = items.prompt(item).split("\n\n")[0]
            assert extract_claims(question, item.constraint) == []
