"""How long the command line takes to answer, beside other command lines of the same kind."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 9
COMMANDS = {
    "matpcr --help": ("matpcr", "--help"),
    "matpcr run --help": ("matpcr", "run", "--help"),
    "papermill --help": ("papermill", "--help"),
    "jupytext --help": ("jupytext", "--help"),
    "jupyter-book --help": ("jupyter-book", "--help"),
}


def main() -> None:
    """Print the median of each command, measured in turn so that drift hits all alike."""
    from rich.console import Console
    from rich.table import Table

    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            times[name].append(_seconds(command))
    medians = {name: statistics.median(values) for name, values in times.items()}
    base = medians["matpcr --help"]
    table = Table(title=f"Start-up of the command line, median of {ROUNDS}", title_justify="left")
    for column in ("command", "ms", "slower than matpcr --help by"):
        table.add_column(column, justify="left" if column == "command" else "right")
    for name, value in medians.items():
        table.add_row(name, f"{1e3 * value:.0f}", f"{value / base:.1f} x")
    Console().print(table)


def _seconds(command: tuple[str, ...]) -> float:
    program = Path(sys.executable).parent / command[0]
    started = time.perf_counter()
    subprocess.run([str(program), *command[1:]], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
