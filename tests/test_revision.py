"""Before and after: the tables are what one counts by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation import results, revision, transcripts
from matpcr_utils.statistics import adjust, bootstrap_difference, paired, rate, rate_by_source

C, V, A = "consistent", "violation", "abstain"
REASONS = {C: "zero_gap_agrees", V: "zero_gap_contradicted", A: "no_claim"}


def judged(
    talks: list[list[Any]],
    constraint: str = "metallicity",
    sources: list[str] | None = None,
    seeds: list[int] | None = None,
    **columns: Any,
) -> pd.DataFrame:
    """A judged table: of each conversation its answers, each an outcome or outcome and accurate."""
    rows = []
    for number, talk in enumerate(talks):
        for place, answer in enumerate(talk):
            outcome, accurate, *reason = answer if isinstance(answer, tuple) else (answer, None)
            seed = seeds[number] if seeds else 0
            rows.append(
                {
                    **transcripts.COLUMNS,
                    "item_id": f"{constraint}-{sources[number] if sources else number}",
                    "source_id": sources[number] if sources else str(number),
                    "constraint": constraint,
                    "model": "m/m",
                    "condition": "cgsv-reason-2",
                    "modality": "text",
                    "seed": seed,
                    "round": place,
                    "outcome": outcome,
                    "reason": reason[0] if reason else REASONS[outcome],
                    "sentence": "",
                    "n_claims": 0 if outcome == A else 1,
                    "accurate": accurate,
                    **columns,
                }
            )
    frame = pd.DataFrame(rows)
    return frame.assign(accurate=frame["accurate"].astype("boolean"))


def cell(table: pd.DataFrame, constraint: str = "metallicity") -> dict[str, Any]:
    (row,) = table[table["constraint"] == constraint].to_dict("records")
    return row


def rate_of(table: pd.DataFrame, name: str, constraint: str = "metallicity") -> dict[str, Any]:
    return cell(table[table["rate"] == name], constraint)


def test_the_published_row_follows_from_its_integers() -> None:
    # Paper, section 2.4: GPT-4o, 0.434 → 0.593, p = 7.6e-6; n = 113, 49 → 67, 18 fixes.
    talks = [[C]] * 49 + [[V, C]] * 18 + [[V, V, V]] * 46
    found = cell(revision.changes(judged(talks)))
    assert (found["n"], found["before"], found["after"]) == (113, 49, 67)
    assert (found["fixes"], found["regressions"]) == (18, 0)
    for name in ("p_value", "p_mcnemar", "p_first_seed"):
        assert found[name] == pytest.approx(2.0**-17, rel=1e-12)
    assert round(found["pcr_before"], 3) == 0.434 and round(found["pcr_after"], 3) == 0.593
    assert found["difference"] == pytest.approx(18 / 113)


def test_one_of_everything() -> None:
    talks = [
        [(C, True)],
        [(V, False), (C, True)],  # fixed
        [(V, False), (V, False), (C, False)],  # retreated
        [(V, False), A],  # dropped
        [(C, True), (V, False)],  # regressed: a new violation
        [(V, False, "gap_zero_contradicted"), (V, False, "gap_negative")],  # another one
        [A],
        [A, (C, True)],
    ]
    table = judged(talks)
    change = cell(revision.changes(table))
    assert (change["n"], change["before"], change["after"]) == (5, 2, 3)
    assert (change["fixes"], change["regressions"], change["p_value"]) == (2, 1, 1.0)
    counted = cell(revision.counts(table))
    assert counted["conversations"] == 8 and counted["asked_again"] == 6
    assert (counted["claims_before"], counted["claims_after"]) == (6, 6)
    assert (counted["abstained_before"], counted["abstained_after"]) == (2, 2)
    assert counted["dropped"] == 1 and counted["new_violations"] == 2
    rates = revision.rates(table)
    for name, count, n in (
        ("fix", 2, 4),
        ("regression", 1, 2),
        ("drop", 1, 5),
        ("retreat", 1, 2),
        ("accuracy before", 2, 5),
        ("accuracy after", 2, 5),
    ):
        found = rate_of(rates, name)
        assert (found["count"], found["n"]) == (count, n), name
        assert found["estimate"] == count / n
        assert found["lower"] < count / n < found["upper"]
        exact = rate(count, n)
        assert (found["lower"], found["upper"]) == (exact.lower, exact.upper)
    went = revision.flow(table)
    ours = went[went["constraint"] == "metallicity"].set_index(["before", "after"])["count"]
    assert ours.to_dict() == {
        **{(C, C): 1, (C, V): 1, (C, A): 0, (V, C): 2, (V, V): 1, (V, A): 1},
        **{(A, C): 1, (A, V): 0, (A, A): 1},
    }


def test_a_violation_that_comes_and_goes_is_counted() -> None:
    other = (V, None, "gap_negative")
    table = judged([[V, other, C], [V, other, V], [V, V, V]])
    assert revision.pairs(table)["new_violations"].tolist() == [1, 2, 0]


def test_errors_and_what_was_not_asked_are_left_out() -> None:
    table = judged([[C], [V, C], [V, A], [A]])
    table.loc[table.index[-2], ["reason", "error"]] = ["error", "500"]
    table.loc[table.index[-1], "unsupported"] = True
    found = revision.pairs(table)
    assert found["item_id"].tolist() == ["metallicity-0", "metallicity-1"]
    assert cell(revision.counts(table))["conversations"] == 2


def test_constraint_types_are_shown_alone_and_pooled() -> None:
    one = judged([[V, C]] * 7 + [[C]] * 3)
    other = judged([[V, V, V]] * 4 + [[C]] * 6, "stability")
    found = revision.changes(pd.concat([one, other]))
    assert found["constraint"].tolist() == ["metallicity", "stability", "pooled"]
    assert found["n"].tolist() == [10, 10, 20] and found["fixes"].tolist() == [7, 0, 7]
    # Items of both types that come from one material are one source.
    assert found["n_sources"].tolist() == [10, 10, 10]
    apart = adjust({"a": 2**-6, "b": 1.0})
    assert found["holm"].tolist()[:2] == apart["holm"].tolist()
    assert found["benjamini_hochberg"].tolist()[:2] == apart["benjamini_hochberg"].tolist()
    assert (
        found["tests"].tolist() == [2, 2, 1] and found["holm"].iloc[2] == found["p_value"].iloc[2]
    )


def test_the_family_is_all_that_is_compared() -> None:
    runs = [
        judged([[V, C]] * fixes + [[C]] * 20, condition=condition, constraint=constraint)
        for condition, fixes in (("cgsv-reason-2", 12), ("refine-2", 2), ("reprompt-same-2", 6))
        for constraint in ("metallicity", "stability")
    ]
    found = revision.changes(pd.concat(runs))
    assert (found["tests"] == np.where(found["constraint"] == "pooled", 3, 6)).all()
    pooled = found[found["constraint"] == "pooled"]
    family = adjust(dict(zip("abc", pooled["p_value"], strict=True)))
    assert pooled["holm"].tolist() == family["holm"].tolist()


def test_seeds_are_no_new_items() -> None:
    # Six items fixed with each of three seeds: McNemar over the pairs takes them for eighteen.
    sources = [str(number // 3) for number in range(18)]
    seeds = [number % 3 for number in range(18)]
    table = judged([[V, C]] * 18, sources=sources, seeds=seeds)
    found = cell(revision.changes(table))
    assert found["p_mcnemar"] == pytest.approx(2**-17)
    assert found["p_value"] == pytest.approx(2**-5) == found["p_first_seed"]
    assert (found["n"], found["n_sources"]) == (18, 6)
    # The interval knows, too: six sources that agree, not eighteen.
    fix = rate_of(revision.rates(table), "fix")
    assert fix["lower"] == pytest.approx(0.025 ** (1 / 6)) and fix["upper"] == 1.0


def test_intervals_resample_sources() -> None:
    rng = np.random.default_rng(0)
    talks = [[C] if p < 0.3 else [V, C] if p < 0.6 else [V, V, V] for p in rng.random(60)]
    sources = [str(number // 3) for number in range(60)]
    seeds = [number % 3 for number in range(60)]
    table = judged(talks, sources=sources, seeds=seeds)
    found = cell(revision.changes(table, resamples=2000))
    before = [talk[0] == C for talk in talks]
    after = [talk[-1] == C for talk in talks]
    wanted = bootstrap_difference(before, after, sources, resamples=2000)
    assert (found["lower"], found["upper"]) == (wanted.lower, wanted.upper)
    fixed = [talk == [V, C] for talk in talks if talk != [C]]
    held = [source for source, talk in zip(sources, talks, strict=True) if talk != [C]]
    fix, wanted_fix = rate_of(revision.rates(table), "fix"), rate_by_source(fixed, held)
    assert (fix["lower"], fix["upper"]) == (wanted_fix.lower, wanted_fix.upper)


def test_nothing_to_compare_is_missing_and_not_zero() -> None:
    table = judged([[A], [V, A]])
    found = cell(revision.changes(table))
    assert found["n"] == 0
    for name in ("pcr_before", "pcr_after", "difference", "p_value", "holm"):
        assert pd.isna(found[name]), name
    assert (found["lower"], found["upper"], found["tests"]) == (-1.0, 1.0, 0)
    retreat = rate_of(revision.rates(table), "retreat")
    assert pd.isna(retreat["estimate"]) and (retreat["lower"], retreat["upper"]) == (0.0, 1.0)
    assert cell(revision.counts(table))["dropped"] == 1


def test_what_can_not_be_compared_is_refused() -> None:
    table = judged([[V, C], [C]])
    with pytest.raises(MatPCRError, match="no answer"):
        revision.pairs(table.head(0))
    with pytest.raises(MatPCRError, match="judge it first"):
        revision.pairs(table[list(transcripts.COLUMNS)])
    with pytest.raises(MatPCRError, match="round 1 does not follow"):
        revision.pairs(table[table["round"] == 1])
    with pytest.raises(MatPCRError, match="round 0 does not follow"):
        revision.pairs(pd.concat([table, table]))


outcomes = st.sampled_from([C, V, A])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(outcomes, min_size=1, max_size=3), min_size=1, max_size=25), st.randoms())
def test_every_conversation_is_counted_once(talks: list[list[str]], order: Any) -> None:
    table = judged(talks)
    shuffled = table.sample(frac=1, random_state=order.randrange(1000))
    found = revision.pairs(shuffled)
    assert len(found) == len(talks)
    ends = {f"metallicity-{n}": (talk[0], talk[-1]) for n, talk in enumerate(talks)}
    for row in found.to_dict("records"):
        assert (row["outcome_before"], row["outcome_after"]) == ends[row["item_id"]]
    change = cell(revision.changes(found, resamples=100))
    both = [(a == C, b == C) for a, b in ends.values() if A not in (a, b)]
    test = paired([a for a, _ in both], [b for _, b in both])
    assert (change["n"], change["fixes"], change["regressions"]) == (
        test.n,
        test.fixes,
        test.regressions,
    )
    assert test.n == 0 or change["p_value"] == pytest.approx(test.p_value)
    assert change["after"] - change["before"] == change["fixes"] - change["regressions"]
    went = revision.flow(found)
    assert went.groupby("constraint")["count"].sum().tolist() == [len(talks)] * 2
    rates = revision.rates(found)
    assert ((rates["lower"] >= 0) & (rates["upper"] <= 1)).all()


def test_runs_of_one_round_have_nothing_to_tell() -> None:
    table = judged([[C], [V]], condition="plain")
    assert cell(revision.changes(table))["difference"] == 0.0
    assert cell(revision.counts(table))["asked_again"] == 0
    assert results.final(table).equals(table)
