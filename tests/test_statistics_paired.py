from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from matpcr_utils.errors import MatPCRError
from matpcr_utils.statistics import adjust, implied_counts, paired, paired_counts, sign_flip

few = settings(max_examples=60, deadline=None)
pairs = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80)


def test_gpt4o_row_of_the_paper():
    # Paper, section 2.4: 0.434 -> 0.593, p = 7.6e-6, no regressions; 2^-17 exactly.
    found = paired_counts(n=113, before=49, fixes=18, regressions=0)
    assert found.p_value == 2.0**-17
    assert (round(found.before / found.n, 3), round(found.after / found.n, 3)) == (0.434, 0.593)
    assert found.difference == pytest.approx(18 / 113, abs=1e-15)
    assert 0 < found.lower < found.difference < found.upper
    assert str(found).startswith("0.4336 → 0.5929: +0.1593 [")
    assert str(found).endswith("18 fixes, 0 regressions, n = 113, p = 7.6e-06")


@pytest.mark.parametrize(
    ("table", "ends"),
    [
        # Altman et al., Statistics with Confidence (2000), table 6.2 and p. 53.
        ((14, 5, 0, 22), (0.011, 0.226)),
        # Fagerland, Lydersen & Laake, Stat. Med. 33, 2850 (2014), airway hyper-responsiveness.
        ((1, 1, 7, 12), (-0.507, -0.026)),
    ],
)
def test_newcombe_interval_of_published_examples(table, ends):
    both, first_only, second_only, _ = table
    found = paired_counts(sum(table), both + second_only, first_only, second_only)
    assert (found.lower, found.upper) == pytest.approx(ends, abs=5e-4)


def test_exact_mcnemar_of_the_airway_example():
    # The same example: exact conditional McNemar test, p = 0.0703.
    assert paired_counts(21, 8, 1, 7).p_value == pytest.approx(0.0703125, abs=1e-12)


@pytest.mark.parametrize("passed", [0, 40, 90])
def test_no_discordant_pair_gives_one(passed):
    items = np.arange(90) < passed
    found = paired(items, items)
    assert (found.p_value, found.difference, found.fixes, found.regressions) == (1.0, 0.0, 0, 0)
    assert found.lower < 0 < found.upper


def test_no_pair():
    found = paired([], [])
    assert found.difference is None and found.p_value == 1.0
    assert (found.lower, found.upper) == (-1.0, 1.0)
    assert str(found) == "no pairs"


@few
@given(pairs)
def test_counts_and_p_value_follow_from_the_pairs(items):
    before, after = (np.array(column) for column in zip(*items, strict=True))
    found = paired(before, after)
    assert found.after - found.before == found.fixes - found.regressions
    discordant = found.fixes + found.regressions
    if discordant:
        expected = stats.binomtest(found.fixes, discordant, 0.5).pvalue
        assert found.p_value == pytest.approx(expected, rel=1e-12)
    assert -1 <= found.lower <= found.difference + 1e-12
    assert found.difference - 1e-12 <= found.upper <= 1
    swapped = paired(after, before)
    assert (swapped.lower, swapped.upper) == pytest.approx((-found.upper, -found.lower), abs=1e-12)
    assert swapped.p_value == found.p_value


def test_newcombe_covers():
    # A drawn table: 0.35 keep, 0.15 fixed, 0.03 regress; difference 0.12.
    rng = np.random.default_rng(0)
    tables = rng.multinomial(90, [0.35, 0.15, 0.03, 0.47], size=600)
    hits = 0
    for kept, fixes, regressions, failed in tables.tolist():
        found = paired_counts(
            kept + fixes + regressions + failed, kept + regressions, fixes, regressions
        )
        hits += found.lower <= 0.12 <= found.upper
    assert hits / 600 > 0.93


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((10, 11, 0, 0), "before 11"),
        ((10, 4, 7, 0), "fixes 7"),
        ((10, 4, 0, 5), "regressions 5"),
        ((10, 4, -1, 0), "fixes -1"),
        ((10, 4.0, 0, 0), "before 4.0 must be a whole number"),
        ((10, 4, 1, 0, 1.5), "level 1.5"),
    ],
)
def test_bad_counts_are_named(arguments, named):
    with pytest.raises(MatPCRError, match=named):
        paired_counts(*arguments)


def test_pairs_of_different_length_are_named():
    with pytest.raises(MatPCRError, match="1 items before but 2 after"):
        paired([True], [True, False])


def test_published_row_implies_its_counts():
    found = implied_counts("0.434", "0.593", "7.6e-6")
    assert found.unique
    (only,) = found.solutions
    assert (only.n, only.before, only.after, only.fixes, only.regressions) == (113, 49, 67, 18, 0)
    assert only.p_value == 2.0**-17
    assert str(found) == "1 fit with 1 ≤ n ≤ 360 and any number of regressions"


def test_uniqueness_holds_up_to_a_stated_range():
    # The first accidental fit has 369 pairs and 56 regressions; the paper reports no regression,
    # and without one no other number of pairs fits at all.
    assert implied_counts("0.434", "0.593", "7.6e-6", n_max=368).unique
    wider = implied_counts("0.434", "0.593", "7.6e-6", n_max=369)
    assert [(s.n, s.fixes, s.regressions) for s in wider.solutions] == [
        (113, 18, 0),
        (369, 115, 56),
    ]
    strict = implied_counts("0.434", "0.593", "7.6e-6", n_max=1500, max_regressions=0)
    assert [s.n for s in strict.solutions] == [113]
    assert str(strict).endswith("and no regressions")


@few
@given(st.integers(5, 60), st.data())
def test_true_counts_are_always_among_the_solutions(n, data):
    before = data.draw(st.integers(0, n))
    fixes = data.draw(st.integers(0, n - before))
    regressions = data.draw(st.integers(0, before))
    true = paired_counts(n, before, fixes, regressions)
    found = implied_counts(
        f"{true.before / n:.3f}", f"{true.after / n:.3f}", f"{true.p_value:.1e}", n_min=n, n_max=n
    )
    wanted = (n, before, true.after, fixes, regressions)
    assert wanted in [(s.n, s.before, s.after, s.fixes, s.regressions) for s in found.solutions]


def test_a_loss_needs_regressions():
    # 50 -> 40 of 100 without a regression is impossible; with them, 10 regressions alone give 2^-9.
    figures = ("0.50", "0.40", f"{2.0**-9:.2e}")
    assert not implied_counts(*figures, n_min=100, n_max=100, max_regressions=9).solutions
    (only,) = implied_counts(*figures, n_min=100, n_max=100, max_regressions=10).solutions
    assert (only.fixes, only.regressions) == (0, 10)


def test_digits_state_the_rounding():
    wide = implied_counts("0.5", "0.5", "1.0", n_max=12, max_regressions=0)
    narrow = implied_counts("0.500", "0.500", "1.0", n_max=12, max_regressions=0)
    assert {s.n for s in narrow.solutions} == {2, 4, 6, 8, 10, 12} < {s.n for s in wide.solutions}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("43.4", "0.593", "0.01"), "before '43.4'"),
        (("0.434", "high", "0.01"), "after 'high'"),
        (("0.434", "0.593", "< 0.001"), "p value '< 0.001'"),
        ((0.434, "0.593", "0.01"), "in quotes"),
    ],
)
def test_unreadable_figures_are_named(arguments, named):
    with pytest.raises(MatPCRError, match=named):
        implied_counts(*arguments)


def test_bad_search_range_is_named():
    with pytest.raises(MatPCRError, match="empty"):
        implied_counts("0.4", "0.5", "0.1", n_min=10, n_max=9)
    with pytest.raises(MatPCRError, match="max_regressions -1"):
        implied_counts("0.4", "0.5", "0.1", max_regressions=-1)


def test_corrections_of_four_tests_by_hand():
    # Holm: 4·0.005, 3·0.01, 2·0.03, then never falling. BH: 0.005·4/1, 0.01·4/2, 0.03·4/3 -> 0.04.
    table = adjust({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}).set_index("comparison")
    assert table.holm.tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert table.benjamini_hochberg.tolist() == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert table.holm_significant.tolist() == [True, False, False, True]
    assert table.benjamini_hochberg_significant.all()
    assert (table.tests == 4).all()


def test_the_papers_controls_stay_insignificant_and_gpt4o_survives():
    # Section 4.10: six tests, the controls' p values are 0.615 and 0.20. Only GPT-4o's of the four
    # CGSV values is printed; were all four as large, each adjusted value would be 6p.
    cgsv = {name: 2.0**-17 for name in ("GPT-4o", "second", "third", "fourth")}
    table = adjust(cgsv | {"unaided": 0.615, "re-prompting": 0.20}).set_index("comparison")
    assert table.loc["GPT-4o", "holm"] == pytest.approx(6 * 2.0**-17)
    assert (table.holm[:4] < 1e-3).all()
    assert not table.holm_significant[["unaided", "re-prompting"]].any()


@settings(max_examples=20, deadline=None)  # statsmodels collects garbage in every call
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_only_raise_p_and_holm_is_the_stricter(values):
    table = adjust({str(i): p for i, p in enumerate(values)})
    assert (table.holm >= table.p_value - 1e-12).all()
    assert (table.holm >= table.benjamini_hochberg - 1e-12).all()
    assert (table.holm <= 1).all()
    assert (table.p_value == values).all()


def test_bad_p_values_are_named():
    with pytest.raises(MatPCRError, match="nan of 'a'"):
        adjust({"a": float("nan")})
    with pytest.raises(MatPCRError, match=r"1\.2 of 'a'"):
        adjust({"a": 1.2})
    with pytest.raises(MatPCRError, match="no p value"):
        adjust({})


# Pairs that share sources


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40))
def test_sign_flips_of_single_pairs_are_mcnemar(rows: list[tuple[bool, bool]]) -> None:
    before, after = [a for a, _ in rows], [b for _, b in rows]
    found = sign_flip(before, after, range(len(rows)))
    assert found == pytest.approx(paired(before, after).p_value, rel=1e-12)


@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 5)), min_size=1, max_size=14)
)
def test_sign_flips_are_what_enumeration_gives(rows: list[tuple[bool, bool, int]]) -> None:
    balance: dict[int, int] = {}
    for before, after, source in rows:
        balance[source] = balance.get(source, 0) + int(after) - int(before)
    sums = [
        sum(sign * value for sign, value in zip(signs, balance.values(), strict=True))
        for signs in product((1, -1), repeat=len(balance))
    ]
    seen = abs(sum(balance.values()))
    exact = sum(abs(total) >= seen for total in sums) / len(sums)
    before, after, sources = zip(*rows, strict=True)
    assert sign_flip(before, after, sources) == pytest.approx(exact, rel=1e-12)


def test_copies_are_no_evidence() -> None:
    # Six items fixed: p = 2^-5, however many seeds repeat it.
    before, after = [False] * 18, [True] * 18
    items = [number // 3 for number in range(18)]
    assert paired(before, after).p_value == pytest.approx(2**-17)
    assert sign_flip(before, after, items) == pytest.approx(2**-5)
    assert sign_flip([], [], []) == 1.0
    with pytest.raises(MatPCRError, match="give pairs"):
        sign_flip([True], [True, False], [0])
    with pytest.raises(MatPCRError, match="one source an item"):
        sign_flip([True], [True], [0, 1])
