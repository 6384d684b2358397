"""The command line: ``matpcr --help`` lists what it can do.

Each command imports what it needs when it runs, so that help and errors come at once.

Exit codes: 0 done (for ``check``: consistent), 1 a violation or a failed chapter, 2 bad input,
3 the oracle abstains.
"""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from matpcr_utils import __version__
from matpcr_utils.cli_evaluate import evaluate
from matpcr_utils.cli_items import items
from matpcr_utils.cli_transcripts import transcripts
from matpcr_utils.errors import MatPCRError

_EXIT = {"consistent": 0, "violation": 1, "abstain": 3}


class _Failure(click.ClickException):
    """Printed as one line, ``Error: …``."""

    exit_code = 2


class _ChapterFailure(_Failure):
    """A chapter was found and run, and a cell of it failed."""

    exit_code = 1


class _Group(click.Group):
    """Turns the package's own errors into a line and an exit code, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MatPCRError as error:
            from matpcr_utils.chapters.execute import ChapterError

            failure = _ChapterFailure if isinstance(error, ChapterError) else _Failure
            raise failure(str(error)) from error
        except OSError as error:
            if error.errno == errno.EPIPE or error.filename is None:
                raise  # a closed pipe is click's to handle; the rest is no file of the user's
            raise _Failure(
                f"{error.filename}: {error.strerror}: name a file or folder that you may use"
            ) from error


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="matpcr")
def main() -> None:
    """Does what a language model says about materials obey physics?"""


main.add_command(evaluate)
main.add_command(items)
main.add_command(transcripts)


# Chapters


@main.command()
def chapters() -> None:
    """List the chapters of the book."""
    from matpcr_utils.chapters.library import listed

    for chapter in listed():
        click.echo(f"{chapter.name:24} {chapter.title}")


@main.command()
@click.argument("chapter")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def parameters(chapter: str, as_json: bool) -> None:
    """List a CHAPTER's parameters with type, default and meaning."""
    from matpcr_utils.chapters.library import find

    found = find(chapter)
    if as_json:
        rows = [
            {"name": p.name, "type": p.type, "default": p.default, "help": p.help}
            for p in found.parameters
        ]
        click.echo(_json(rows))
        return
    cells = [(p.name, p.type, repr(p.default), p.help) for p in found.parameters]
    _table(("name", "type", "default", "meaning"), cells)


@main.command()
@click.argument("chapter")
@click.option(
    "-p",
    "--parameter",
    "given",
    nargs=2,
    multiple=True,
    metavar="NAME VALUE",
    help="Set a parameter; may be repeated. `matpcr parameters CHAPTER` lists them.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the run's own folder.  [default: _build/runs]",
)
def run(chapter: str, given: tuple[tuple[str, str], ...], out: Path | None) -> None:
    """Execute one CHAPTER (a name or a path), with changed parameters if you like.

    Leaves the executed notebook, a self-contained HTML page and a manifest in _build/runs.
    """
    from matpcr_utils.chapters.run import run as run_chapter

    done = run_chapter(chapter, _once("parameter", given), runs_dir=out)
    for file in sorted(done.folder.iterdir()):
        click.echo(_short(file))


@main.command()
@click.option("--jobs", type=click.IntRange(1), help="Chapters executed at the same time.")
@click.option("--force", is_flag=True, help="Execute and render all, changed or not.")
def book(jobs: int | None, force: bool) -> None:
    """Execute every stale chapter and render the book to _build/html."""
    from matpcr_utils.chapters.book import DEFAULT_JOBS, build

    built = build(jobs=jobs or DEFAULT_JOBS, force=force)
    what = f"{len(built.executed)} chapters executed, {len(built.unchanged)} unchanged"
    page = "rendered" if built.rendered else "pages up to date"
    click.echo(f"{what}; {page}; {built.seconds:.0f} s")
    click.echo(f"open {_short(built.site / 'index.html')}")


@main.command()
def notebooks() -> None:
    """Write an .ipynb in plain Markdown beside each chapter's .py."""
    from matpcr_utils.chapters.plain import write_pairs

    for path in write_pairs():
        click.echo(_short(path))


# Claims


@main.command()
@click.argument("constraint")
@click.argument("chain")
@click.option("--structure", type=click.Path(path_type=Path), help="A CIF file (diffraction).")
@click.option("--wavelength", type=float, help="Å (diffraction).  [default: copper Kα]")
@click.option(
    "--window", type=float, nargs=2, help="Measured 2θ, ° (diffraction).  [default: 10 90]"
)
@click.option("--pixel-size", type=float, help="nm, of an image without a readable scale bar.")
@click.option("--image", type=click.Path(path_type=Path), help="A micrograph (microscopy).")
@click.option("--spectrum", type=click.Path(path_type=Path), help="A measured spectrum (spectra).")
@click.option("--material", help="A Materials Project id, e.g. mp-1138 (diffraction, DFT).")
@click.option(
    "-t",
    "--tolerance",
    "given",
    nargs=2,
    multiple=True,
    metavar="NAME VALUE",
    help="Set one of the oracle's tolerances; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def check(
    constraint: str,
    chain: str,
    structure: Path | None,
    wavelength: float | None,
    window: tuple[float, float] | None,
    image: Path | None,
    pixel_size: float | None,
    spectrum: Path | None,
    material: str | None,
    given: tuple[tuple[str, str], ...],
    as_json: bool,
) -> None:
    """Judge the claims of a CHAIN ("-" reads it from standard input) on one reference.

    CONSTRAINT is diffraction, microscopy, spectra, stability, metallicity or magnetism.

    \b
    matpcr check diffraction --structure Si.cif "The main peak is at 2θ = 33.2°"
    matpcr check stability --material mp-1138 "LiF is stable."

    Exit code 0: consistent; 1: a violation; 2: bad input; 3: the oracle abstains.
    """
    from matpcr_utils import evidence, oracles

    text = _standard_input() if chain == "-" else chain
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise MatPCRError("the chain holds bytes that are no UTF-8: convert it to UTF-8")
    if not text.strip():
        raise MatPCRError("the chain is empty: give the text in which claims are to be judged")
    tolerances = evidence.tolerances(constraint, _once("tolerance", given))
    reference = evidence.reference(
        constraint,
        wavelength=wavelength,
        window=window,
        pixel_size=pixel_size,
        structure=structure,
        image=image,
        spectrum=spectrum,
        material=material,
    )
    verdict = oracles.check_chain(text, constraint, reference, tolerances)
    if as_json:
        click.echo(_json(evidence.as_dict(constraint, verdict)))
    else:
        _print_verdict(constraint, verdict)
    sys.exit(_EXIT[str(verdict.outcome)])


def _once(what: str, given: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Values by name, refused when one is given twice."""
    names = [name for name, _ in given]
    for name in names:
        if names.count(name) > 1:
            raise MatPCRError(f"{what} {name} is given {names.count(name)} times: give it once")
    return dict(given)


def _standard_input() -> str:
    raw = sys.stdin.buffer.read()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MatPCRError(
            f"standard input is no UTF-8 (byte {raw[error.start]:#04x} at {error.start}): convert "
            "it to UTF-8"
        ) from None


def _print_verdict(constraint: str, verdict: Any) -> None:
    from matpcr_utils.claims.model import CONSTRAINTS

    colors = {"consistent": "green", "violation": "red", "abstain": "yellow"}
    outcome = str(verdict.outcome)
    click.echo(click.style(outcome, fg=colors[outcome], bold=True))
    if not verdict.claims:
        quantities = ", ".join(CONSTRAINTS[constraint])
        click.echo(f"  the chain states nothing that this oracle checks ({quantities})")
    for claim, one in zip(verdict.claims, verdict.verdicts, strict=True):
        color = colors[str(one.outcome)]
        click.echo(f"  “{claim.text}”")
        click.echo(f"    {click.style(one.outcome, fg=color)} ({one.reason}): {one.sentence}")


# Data


@main.group()
def data() -> None:
    """The reference snapshot that ships with the package."""


@data.command("build")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write to.  [default: the package's own data]",
)
def data_build(out: Path | None) -> None:
    """Rebuild the snapshot from the pinned archives (needs a package index)."""
    from matpcr_utils.references import build

    for name, digest in build.build(out, progress=click.echo).items():
        click.echo(f"{digest[:16]}  {name}")


@data.command("show")
def data_show() -> None:
    """List the snapshot's files with their size, source and licence."""
    from matpcr_utils.references import provenance

    rows = provenance.rows()
    _table(tuple(rows[0]), [tuple(map(str, row.values())) for row in rows])


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns padded to their widest cell; plain text, so that it pipes."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)


def _short(path: Path) -> str:
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
