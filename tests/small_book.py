"""A book of two short chapters in a temporary folder, for tests of the machinery."""

from __future__ import annotations

from pathlib import Path

HEADER = """\
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---
"""

FIRST = f"""{HEADER}
# %% [markdown]
# (first)=
# # A first chapter
#
# Bragg: $\\lambda = 2 d \\sin\\theta$.

# %% tags=["parameters"]
near_hull: float = 0.05  # eV/atom; the threshold
window: tuple[float, float] = (10.0, 90.0)  # degrees
label: str | None = None
n: int = 3  # draws
strict: bool = False
seed: int = 0

# %%
from myst_nb import glue

glue("threshold", near_hull, display=False)
print("sum", near_hull + window[0] + n, strict, label)

# %% [markdown]
# The threshold is {{glue:text}}`threshold`.
#
# ```{{exercise}} A threshold
# :label: ex-first-threshold
# Double it.
# ```
#
# ```{{solution}} ex-first-threshold
# :class: dropdown
# Done.
# ```
"""

SECOND = f"""{HEADER}
# %% [markdown]
# # A second chapter

# %% tags=["parameters"]
factor: int = 2

# %%
from matpcr_utils.errors import MatPCRError

print(factor * 21, MatPCRError.__name__)
"""

CONFIG = """\
title: Small
author: Nobody
only_build_toc_files: true
exclude_patterns: ["notebooks/**/*.ipynb"]
execute: {execute_notebooks: cache}
repository: {url: ""}
sphinx:
  extra_extensions: [sphinx_exercise, matpcr_utils.chapters.site]
  config:
    nb_custom_formats:
      .py: [matpcr_utils.chapters.freshness.reader, {}]
    suppress_warnings: [bibtex.missing_entry]
"""

TOC = """\
format: jb-book
root: book/index
chapters:
  - file: notebooks/start/first
  - file: notebooks/start/second
"""


def write(folder: Path) -> Path:
    """Lay the book out in `folder` and give it back."""
    start = folder / "notebooks" / "start"
    start.mkdir(parents=True)
    (folder / "book").mkdir()
    (folder / "book" / "index.md").write_text("# Small\n\n{{ freshness }}\n", "utf-8")
    (folder / "_config.yml").write_text(CONFIG, "utf-8")
    (folder / "_toc.yml").write_text(TOC, "utf-8")
    (start / "first.py").write_text(FIRST, "utf-8")
    (start / "second.py").write_text(SECOND, "utf-8")
    return folder


def cache_with_mathjax(folder: Path) -> Path:
    """A cache folder in which MathJax counts as fetched, so that no test asks the network."""
    from matpcr_utils.chapters import mathjax
    from matpcr_utils.references import archives

    version = archives.get("django_static_mathjax").version
    script = folder / f"mathjax-{version}" / mathjax.SCRIPT
    script.parent.mkdir(parents=True)
    script.write_text("/* MathJax */", "utf-8")
    return folder
