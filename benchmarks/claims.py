"""Reading claims beside two number finders: ChemBench's and quantulum3, same chains, same run.

Run ``python -m benchmarks claims``. The peers find numbers, not claims: they have no constraint,
labels or negation. The second table therefore counts only the numbers of the probe corpora.
"""

from __future__ import annotations

import ast
import hashlib
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

from matpcr_utils.claims import CONSTRAINTS, Claim, extract_claims

HERE = Path(__file__).parent
ROUNDS = 15
CHEMBENCH = ("chembench", "0.3.0")
CHEMBENCH_SHA256 = "2bda0ba2473def342442461f3bb719120abfcfca1f5890c731f573f8b2d990a3"
#: What of ChemBench's modules its number finder needs.
NEEDED = ("convert_to_number", "run_regex_iterator", "find_numbers", "NUM_REGEX")

Finder = Callable[[str], list[float]]


def chembench() -> tuple[Finder, Finder]:
    """ChemBench's ``find_numbers`` as it is, and its regular expression alone on all matches."""
    sources = _sdist_sources("utils.py", "constant.py")
    module = types.ModuleType("chembench_number_finder")
    quiet = types.SimpleNamespace(warning=lambda message: None)
    import pint

    module.__dict__.update(re=re, pint=pint, logger=quiet, Union=Any | None)
    for source in sources:
        tree = ast.parse(source)
        tree.body = [node for node in tree.body if _name(node) in NEEDED]
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                _drop_annotations(node)
        exec(compile(tree, "chembench", "exec"), module.__dict__)
    pattern = re.compile(module.NUM_REGEX)

    def found(chain: str) -> list[float]:
        number = module.find_numbers(chain)
        return [] if number is None else _floats([number])

    def matched(chain: str) -> list[float]:
        hits = module.run_regex_iterator(pattern, chain, return_first=False) or []
        return _floats(hit["match"] for hit in hits)

    return found, matched


def quantulum() -> Finder:
    """quantulum3's parser, without its optional classifier."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from quantulum3 import parser

    return lambda chain: _floats(quantity.value for quantity in parser.parse(chain))


def _sdist_sources(*names: str) -> list[str]:
    name, release = CHEMBENCH
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-binary", name, "--dest", folder, f"{name}=={release}"]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        archive = next(Path(folder).glob("*.tar.gz"))
        if hashlib.sha256(archive.read_bytes()).hexdigest() != CHEMBENCH_SHA256:
            raise RuntimeError(f"{archive.name} is not the pinned file")
        with tarfile.open(archive) as sdist:
            root = f"{name}-{release}/src/{name}"
            read = [sdist.extractfile(f"{root}/{file}") for file in names]
            return [file.read().decode("utf-8") for file in read if file is not None]


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return ""


def _drop_annotations(node: ast.FunctionDef) -> None:
    node.returns = None
    for argument in node.args.args:
        argument.annotation = None


def _floats(numbers: Iterable[Any]) -> list[float]:
    floats = []
    for number in numbers:
        try:
            floats.append(float(number))
        except (TypeError, ValueError):
            continue
    return floats


def peers() -> dict[str, Finder | str]:
    """The finders by name; the reason instead, for one that can't be had."""
    found: dict[str, Finder | str] = {}
    try:
        found["ChemBench find_numbers"], found["ChemBench, its regex alone"] = chembench()
    except (subprocess.SubprocessError, OSError, RuntimeError, StopIteration) as problem:
        found["ChemBench find_numbers"] = f"not fetched: {type(problem).__name__}"
    try:
        found[f"quantulum3 {version('quantulum3')}, no classifier"] = quantulum()
    except ImportError:
        found["quantulum3"] = "not installed: pip install 'matpcr-utils[bench]'"
    return found


def median_ms(read: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Median wall time of a call; the first one, which fills caches, is not counted."""
    read()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        read()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def speed(finders: dict[str, Finder | str]) -> None:
    """Print the median time a chain of each reader."""
    from rich.table import Table

    chains = yaml.safe_load((HERE / "chains.yml").read_text("utf-8"))
    lengths = [len(row["chain"]) for row in chains]
    title = f"{len(chains)} chains of {min(lengths)}–{max(lengths)} characters"
    table = Table(title=f"{title}, median of {ROUNDS} rounds a chain", title_justify="left")
    for column in ("reader", "ms a chain (median)", "ms (slowest chain)", "slower by"):
        table.add_column(column, justify="left" if column == "reader" else "right")

    def row(name: str, times: list[float], base: float) -> float:
        middle = statistics.median(times)
        table.add_row(
            name, f"{middle:.3f}", f"{max(times):.3f}", f"{middle / (base or middle):.1f} x"
        )
        return middle

    own = [median_ms(lambda r=r: extract_claims(r["chain"], r["constraint"])) for r in chains]
    base = row("extract_claims, the chain's constraint", own, 0)
    every = [
        median_ms(lambda r=r: [extract_claims(r["chain"], name) for name in CONSTRAINTS])
        for r in chains
    ]
    row(f"extract_claims, all {len(CONSTRAINTS)} constraints", every, base)
    for name, finder in finders.items():
        if isinstance(finder, str):
            table.add_row(name, finder, "", "")
            continue
        times = [median_ms(lambda r=r, f=finder: f(r["chain"]), 3) for r in chains]
        row(name, times, base)
    _print(table)


def accuracy(finders: dict[str, Finder | str]) -> None:
    """Print which of the probes' numbers each reader finds, and how much else."""
    from rich.table import Table

    data = HERE.parent / "tests" / "data"
    probes = [
        probe
        for name in ("claims.yml", "claims_more.yml")
        for probe in yaml.safe_load((data / name).read_text("utf-8"))
    ]
    stated = [[c["value"] for c in p["claims"] if not isinstance(c["value"], str)] for p in probes]
    table = Table(
        title=f"{sum(map(len, stated))} stated numbers in {len(probes)} probes",
        caption="extract_claims was written against these probes; the peers were not, and find "
        "numbers of any kind. A peer's hit may be off by a power of ten (its unit).",
        title_justify="left",
        caption_justify="left",
    )
    for column in ("reader", "recall", "precision", "probes right"):
        table.add_column(column, justify="left" if column == "reader" else "right")

    def row(name: str, read: list[list[float]], scaled: bool) -> None:
        hits = [_hits(want, got, scaled) for want, got in zip(stated, read, strict=True)]
        exact = sum(h == len(w) == len(g) for h, w, g in zip(hits, stated, read, strict=True))
        returned = sum(map(len, read)) or 1
        table.add_row(
            name,
            f"{sum(hits) / sum(map(len, stated)):.3f}",
            f"{sum(hits) / returned:.3f}",
            f"{exact / len(probes):.3f}",
        )

    own = [_numbers(extract_claims(p["chain"], p["constraint"])) for p in probes]
    row("extract_claims", own, False)
    for name, finder in finders.items():
        if isinstance(finder, str) or name == "ChemBench find_numbers":
            continue  # one number a chain, and seconds for the corpus: its regex stands for it
        row(name, [_quietly(finder, p["chain"]) for p in probes], True)
    _print(table)


def _numbers(claims: list[Claim]) -> list[float]:
    return [claim.value for claim in claims if not isinstance(claim.value, str)]


def _quietly(finder: Finder, chain: str) -> list[float]:
    try:
        return finder(chain)
    except Exception:  # a peer that fails on a probe has found nothing there
        return []


def _hits(want: list[float], got: list[float], scaled: bool) -> int:
    """How many wanted numbers are among `got`, each used once."""
    left = list(got)
    count = 0
    for value in want:
        scales = [10.0**power for power in range(-7, 8)] if scaled else [1.0]
        match = next(
            (g for g in left for s in scales if abs(g * s - value) <= 1e-6 * max(abs(value), 1e-9)),
            None,
        )
        if match is not None:
            left.remove(match)
            count += 1
    return count


def _print(table: Any) -> None:
    from rich.console import Console

    Console(width=110).print(table)


def main() -> None:
    """Print both tables."""
    finders = peers()
    speed(finders)
    accuracy(finders)


if __name__ == "__main__":
    main()
