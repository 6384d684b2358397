"""Do the statistics of before and after find what a script of known behaviour does?

Cohorts of the scripted evaluee are simulated under CGSV and under a control. The acceptance
figures: the 95 % intervals of the rates of fixes, regressions and withdrawn claims cover the truth
in at least 93 of 100 cohorts, and of 1,000 cohorts of a control without an effect (as many
regressions as fixes in the long run) between 2 and 7 % are called significant at 5 %.

The exact test keeps below 5 %, and far below it when few pairs change: of 10 discordant pairs it
rejects in 2.1 % at most. Cohorts have 96 items, of which about 40 change, so that its size is
between 3 and 4 %. Beside it stands what the test over all pairs does when three seeds repeat one
answer, as greedily decoded models do.
"""

import time

COVERED, COHORTS, ITEMS = 100, 1000, 96
#: Cohorts that are put into one table.
TOGETHER = 100


def main() -> None:
    """Print coverage, size and power, and fail when an acceptance figure is missed."""
    from rich.console import Console

    console = Console()
    started = time.perf_counter()
    missed = [*_coverage(console), *_size(console)]
    console.print(f"{time.perf_counter() - started:.0f} s")
    if missed:
        raise SystemExit("Error: missed: " + "; ".join(missed))


def _coverage(console):
    from rich.table import Table

    from matpcr_utils.evaluation import cohorts, revision
    from matpcr_utils.evaluation.evaluees.reviser import Reviser

    script = Reviser(p_consistent=0.45, p_fix=0.35, q_regress=0.15, r_drop=0.1, s_retreat=0.4)
    table = Table(
        title=f"95 % intervals that cover the truth, of {COVERED} cohorts of {ITEMS} items"
    )
    columns = ("condition", "items", "seeds", "rate", "truth", "mean estimate", "covered")
    for column in columns:
        table.add_column(column, justify="right" if column in columns[4:] else "left")
    missed = []
    for condition in cohorts.CONDITIONS:
        true = cohorts.truth(script, condition)
        # Materials are one source each; every pattern allows a retreat, and some share a source.
        for constraint, seeds in (("stability", 1), ("stability", 3), ("diffraction", 1)):
            (said,) = _tables(script, condition, constraint, COVERED, seeds=seeds)
            found = revision.rates(said)
            found = found[found["constraint"] == constraint]
            for name, rate in true.items():
                if name == "retreat" and constraint == "stability":
                    continue
                rows = found[found["rate"] == name]
                covered = int(((rows["lower"] <= rate) & (rate <= rows["upper"])).sum())
                mean = f"{rows['estimate'].mean():.4f}"
                table.add_row(
                    condition, constraint, str(seeds), name, f"{rate:.4f}", mean, str(covered)
                )
                if covered < 93:
                    missed.append(f"{name} of {constraint}, {condition}, {seeds} seeds: {covered}")
    console.print(table)
    return missed


def _size(console):
    from rich.table import Table

    from matpcr_utils.evaluation import cohorts, revision
    from matpcr_utils.evaluation.evaluees.reviser import Reviser
    from matpcr_utils.statistics import mcnemar_power

    null = Reviser(p_consistent=0.5, p_fix=0.3, q_regress=0.3)
    effect = Reviser(p_consistent=0.5, p_fix=0.3, q_regress=0.1)
    table = Table(title=f"Significant at 5 %, of {COHORTS} cohorts of {ITEMS} items (refinement)")
    for column in ("cohorts", "sign-flip over sources", "McNemar over pairs", "enumerated"):
        table.add_column(column, justify="left" if column == "cohorts" else "right")
    missed = []
    for name, script, options in (
        ("no effect, one seed", null, {}),
        ("no effect, three seeds", null, {"seeds": 3}),
        ("no effect, one answer three times", null, {"seeds": 3, "copies": True}),
        ("fixes 0.3, regressions 0.1, one seed", effect, {}),
    ):
        flagged = {"p_value": 0, "p_mcnemar": 0}
        for said in _tables(script, "refine", "stability", COHORTS, **options):
            found = revision.changes(said, resamples=100)
            found = found[found["constraint"] == "stability"]
            for test in flagged:
                flagged[test] += int((found[test] <= 0.05).sum())
        shares = {test: count / COHORTS for test, count in flagged.items()}
        # Half of the answers are consistent before.
        true = cohorts.truth(script, "refine")
        exact = mcnemar_power(ITEMS, true["fix"] / 2, true["regression"] / 2)
        table.add_row(
            name,
            f"{shares['p_value']:.3f}",
            f"{shares['p_mcnemar']:.3f}",
            "" if options else f"{exact:.4f}",
        )
        if script is null and not 0.02 <= shares["p_value"] <= 0.07:
            missed.append(f"{name}: {shares['p_value']:.3f}")
    console.print(table)
    return missed


def _tables(script, condition, constraint, count, **options):
    """Cohorts in tables of many, each under a name of its own."""
    import pandas as pd

    from matpcr_utils.evaluation import cohorts

    for start in range(0, count, TOGETHER):
        yield pd.concat(
            [
                cohorts.simulate(
                    script, condition, constraint, n_items=ITEMS, cohort=cohort, **options
                ).assign(condition=f"{condition} {cohort}")
                for cohort in range(start, min(start + TOGETHER, count))
            ]
        )


if __name__ == "__main__":
    main()
