"""The commands ``matpcr transcripts …``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from matpcr_utils.errors import MatPCRError


@click.group()
def transcripts() -> None:
    """The recorded answers that ship with the package."""


@transcripts.command()
def show() -> None:
    """List the recordings: what was asked, when, and the command that asks it again."""
    from matpcr_utils.evaluation import recorded

    for row in recorded.overview().to_dict("records"):
        click.echo(
            f"{row['recording']}: {row['items']} items, {row['seeds']} seeds, "
            f"{row['answers']} answers, {row['first']}\n  {row['command']}"
        )


@transcripts.command()
@click.argument("run", type=click.Path(path_type=Path, exists=True))
def compare(run: Path) -> None:
    """Compare the answers of a RUN, its folder or transcripts, with the recorded ones.

    Exits with 1 if an answer differs.
    """
    from matpcr_utils.evaluation import recorded
    from matpcr_utils.evaluation.transcripts import read_chains

    beside = recorded.compare(read_chains(run / "transcripts.parquet" if run.is_dir() else run))
    if not len(beside):
        raise MatPCRError(f"{run} holds no answer that is recorded: see matpcr transcripts show")
    for row in beside[~beside["same"]].to_dict("records"):
        click.echo(f"{row['model']} {row['item_id']}, seed {row['seed']}, differs:")
        click.echo(f"  recorded: {row['recorded']!r}\n  new:      {row['new']!r}")
    click.echo(f"{beside['same'].sum()} of {len(beside)} answers as recorded")
    sys.exit(0 if beside["same"].all() else 1)


@transcripts.command()
@click.argument("name")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the run; the same one goes on.  [default: _build/recordings/NAME]",
)
def record(name: str, out: Path | None) -> None:
    """Ask again what the recording NAME holds, and put the answers into the package."""
    from matpcr_utils.evaluation import recorded

    display = "rich" if sys.stdout.isatty() else "none"
    click.echo(recorded.record(name, out, display=display))
