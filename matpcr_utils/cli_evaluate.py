"""The command ``matpcr evaluate``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation.conditions import ALLOCATIONS, KINDS, LEVELS

if TYPE_CHECKING:
    import pandas as pd


@click.command()
@click.option("--model", help="As Inspect AI names it, e.g. openai/gpt-4o or matpcr/instrument.")
@click.option(
    "--constraint",
    "constraints",
    multiple=True,
    default=("all",),
    show_default="all",
    help="A constraint type; may be repeated.",
)
@click.option(
    "--seeds", type=click.IntRange(1), default=3, show_default=True, help="Answers an item."
)
@click.option("--n-items", type=click.IntRange(1), help="Items a constraint type.  [default: 96]")
@click.option("--items-seed", type=click.IntRange(0), default=0, help="Chooses other items.")
@click.option("--prompt-version", default="v1", show_default=True, help="Wording: v1, v2 or v3.")
@click.option(
    "--modality",
    type=click.Choice(["image", "text"]),
    help="How items are shown.  [default: as the paper poses each]",
)
@click.option(
    "--examples",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Worked examples before the question.",
)
@click.option(
    "--condition",
    type=click.Choice(KINDS),
    default="plain",
    show_default=True,
    help="Follow-ups: none; the oracle's feedback; self-refinement; neutral re-prompting.",
)
@click.option("--rounds", type=click.IntRange(1), help="Follow-ups an item, at most.  [default: 2]")
@click.option(
    "--feedback",
    type=click.Choice(LEVELS),
    help="What cgsv tells: that something is wrong, which law, the value.  [default: reason]",
)
@click.option(
    "--match",
    type=click.Path(path_type=Path),
    help="Folder of the cgsv run whose calls and tokens reprompt spends again.",
)
@click.option(
    "--allocation",
    type=click.Choice(ALLOCATIONS),
    help="Which items get them: any, or those that violated.  [default: shuffled]",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the run; the same one goes on.  [default: one of the model and the condition "
    "in _build/evaluations]",
)
@click.option(
    "-M",
    "model_args",
    nargs=2,
    multiple=True,
    metavar="NAME VALUE",
    help="Argument of the model's provider; may be repeated.",
)
@click.option("--base-url", help="Of an OpenAI-compatible server.")
@click.option("--max-retries", type=click.IntRange(0), default=5, show_default=True)
@click.option(
    "--chains",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Judge a CSV or JSONL of item_id, model, seed, chain instead of asking a model.",
)
@click.option(
    "--log",
    "logs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Judge an Inspect log, or a folder of them, instead; may be repeated.",
)
def evaluate(
    model: str | None,
    constraints: tuple[str, ...],
    out: Path | None,
    model_args: tuple[tuple[str, str], ...],
    chains: Path | None,
    logs: tuple[Path, ...],
    **options: Any,
) -> None:
    """Ask a model the items, judge its answers, and print its PCR.

    Interrupted? Run the same command again: it goes on where it stopped.

    \b
    matpcr evaluate --model matpcr/instrument --constraint stability
    matpcr evaluate --model openai/gpt-4o --seeds 3
    matpcr evaluate --model openai/gpt-4o --condition cgsv --feedback reason
    matpcr evaluate --chains my_chains.csv
    """
    from matpcr_utils.evaluation import results

    if sum((model is not None and chains is None, chains is not None, bool(logs))) != 1:
        raise MatPCRError("give one of --model, --chains and --log: that is what is judged")
    if chains is not None or logs:
        table = results.from_logs(logs) if chains is None else results.from_chains(chains, model)
        show(results.summary(table))
        show_changes(table)
        return
    from matpcr_utils.evaluation import run

    assert model is not None
    try:
        done = run.evaluate(
            model,
            constraints,
            out=out,
            model_args={name: _value(text) for name, text in model_args},
            display="rich" if sys.stdout.isatty() else "none",
            **options,
        )
    except KeyboardInterrupt:
        raise click.ClickException(
            "interrupted: run the same command again to go on; what was answered is kept"
        ) from None
    show(done.summary)
    show_changes(done.table)
    click.echo(f"every chain: {done.folder / 'results.csv'}")
    if not done.complete:
        raise click.ClickException("some requests failed: run the same command again to ask these")


def show(summary: pd.DataFrame) -> None:
    """Print the cells, a table a model and way of asking, a row a constraint type."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 100)
    ways = ["model", "condition", "prompt_version"]
    for way, cells in summary.groupby(ways, sort=False):
        table = Table(title=", ".join(filter(None, map(str, way))), box=box.SIMPLE_HEAD)
        columns = ("constraint", "shown as", "PCR [95 %]", "n", "coverage", "accuracy", "chance")
        for name in columns:
            table.add_column(name, no_wrap=True)
        left_out = bool((cells["unsupported"] + cells["errors"]).sum())
        if left_out:
            table.add_column("unsupported / failed")
        for row in cells.to_dict("records"):
            left = [f"{row['unsupported']} / {row['errors']}"] if left_out else []
            table.add_row(*_cells(row), *left)
        console.print(table)


def show_changes(table: pd.DataFrame) -> None:
    """Print how first answers became last ones, where follow-ups were put."""
    if not (table["round"] > 0).any():
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from matpcr_utils.evaluation import revision

    asked = table[table["condition"].isin(table["condition"][table["round"] > 0])]
    found = revision.pairs(asked)
    # Both have the same cells in the same order.
    moved = revision.changes(found).join(revision.counts(found)["dropped"])
    console = Console(width=None if sys.stdout.isatty() else 100)
    for way, rows in moved.groupby(["model", "condition", "prompt_version"], sort=False):
        title = f"first → last answer: {', '.join(filter(None, map(str, way)))}"
        shown = Table(title=title, box=box.SIMPLE_HEAD)
        numbers = ("n", "fixed", "spoiled", "dropped", "Holm p")
        for name in ("constraint", "PCR", "difference [95 %]", *numbers):
            shown.add_column(name, no_wrap=True)
        for row in rows.to_dict("records"):
            difference = f"{row['lower']:+.3f}, {row['upper']:+.3f}"
            shown.add_row(
                str(row["constraint"]),
                f"{_number(row['pcr_before'])} → {_number(row['pcr_after'])}",
                f"{row['difference']:+.3f} [{difference}]" if row["n"] else "–",
                *(str(row[name]) for name in ("n", "fixes", "regressions", "dropped")),
                f"{row['holm']:.2g}" if row["n"] else "–",
            )
        console.print(shown)


def _cells(row: Any) -> list[str]:
    pcr = _number(row["pcr"])
    return [
        str(row["constraint"]),
        str(row["modality"]),
        f"{pcr} [{row['lower']:.3f}, {row['upper']:.3f}]" if row["n"] else pcr,
        str(row["n"]),
        *(_number(row[name]) for name in ("coverage", "accuracy", "chance")),
    ]


def _number(value: Any) -> str:
    """Three decimals; a dash for what is missing."""
    import pandas as pd

    return "–" if pd.isna(value) else f"{value:.3f}"


def _value(text: str) -> Any:
    """A number where the text is one, else the text."""
    import yaml

    return yaml.safe_load(text)
