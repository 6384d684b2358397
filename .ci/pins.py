"""Write `constraints.txt` and `environment.yml` from what is installed (`make pins`).

The first pins everything in the virtual environment; the second offers the direct dependencies at
the same versions to conda. A test holds the two and `pyproject.toml` together.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = "3.11"


def canonical(name: str) -> str:
    """A distribution's name in the one spelling that package indexes compare."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> None:
    freeze = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
    pinned = subprocess.run(freeze, capture_output=True, text=True, check=True).stdout
    (ROOT / "constraints.txt").write_text(pinned)
    versions = dict(line.split("==") for line in pinned.splitlines())
    by_name = {canonical(name): f"{canonical(name)}=={v}" for name, v in versions.items()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    names = {canonical(re.split(r"[\s<>=!~;\[]", line, maxsplit=1)[0]) for line in wanted}
    lines = [
        "# For conda: `conda env create -f environment.yml`. Written by `make pins`.",
        "name: matpcr",
        "channels: [conda-forge]",
        "dependencies:",
        f"  - python={PYTHON}",
        "  - pip",
        "  - pip:",
        *(f"      - {by_name[name]}" for name in sorted(names)),
        "      - --editable .",
    ]
    (ROOT / "environment.yml").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
