"""Run every benchmark of this folder, or the named ones: ``python -m benchmarks [NAME ...]``."""

import importlib
import sys
from pathlib import Path


def main(wanted: list[str]) -> None:
    """Run the named benchmarks, all without a name."""
    names = sorted(
        path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")
    )
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        raise SystemExit(f"Error: no benchmark {unknown[0]!r}: choose of {', '.join(names)}")
    for name in wanted or names:
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
