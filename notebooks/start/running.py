# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# (running)=
# # How to read and re-run this book
#
# A page shows one run of a chapter, at one set of parameters. What would another threshold, another seed, your own material
# give? You can know in a minute, and be told when you asked for something that does not exist.
#
# After this chapter you can
# - choose a path through the book by your time and goal,
# - run any chapter with other parameters, and find what the run left,
# - tell whether a page is fresh, and what makes it stale,
# - put your own structures, spectra and images in place of the shipped ones.
#
# *Time: 10 minutes. Prerequisites: none to read; Python 3.11 or newer and `make` to run; no key, no GPU.*

# %% [markdown]
# ## Paths
#
# | you have | read |
# |---|---|
# | ten minutes | {doc}`introduction`, and the table of boundary cases in {doc}`../oracles/stability` |
# | an hour | {doc}`claims`, {doc}`../oracles/diffraction`, {doc}`../oracles/metallicity`: three verdicts, a tolerance that decides what chance gives away, an oracle that declines |
# | an afternoon | all six oracles, each with its positive control, failure gallery and chance-pass rate |
#
# | you want to | go to |
# |---|---|
# | judge chains of your own model | {doc}`claims`, then *One chain, from the command line* below |
# | decide whether an oracle may grade a model | the positive control of its chapter |
# | use your own references | *Your own data* below, and {doc}`data` |
# | teach | *For a class* below |
#
# ## What the paper reports
#
# Of the matters in this chapter the paper reports its protocol: how often it repeated a measurement.

# %% tags=["hide-input"]
from matpcr_utils import published

published.table(chapter="running")

# %% [markdown]
# ## Parameters
# Every chapter has one such cell, and what it holds can be changed from outside:
# `matpcr run start/running -p chapter oracles/diffraction`.

# %% tags=["parameters"]
chapter: str = "oracles/stability"  # whose parameters are listed below
near_hull: float = 0.1  # eV/atom; the changed threshold of the example
seeds: int = 3  # repetitions of the example that draws at random
draws: int = 20  # chance claims a reference, in each repetition
seed: int = 0  # of the first repetition; the others follow

# %% [markdown]
# ## Which chapters there are

# %%
from matpcr_utils.chapters import tables

tables.chapters()

# %% [markdown]
# ## What can be changed in one
#
# A parameter's type, default and meaning are read from its line in the chapter, so this table can't fall behind the chapter.
# On the command line, `matpcr parameters` prints the same.

# %%
tables.parameters(chapter)

# %% [markdown]
# A value is converted to the type that the chapter declares. A name that the chapter does not have is an error: run on its
# own, [Papermill](https://papermill.readthedocs.io) would log a line and go on with the default, and you would take the old result for the new one.

# %%
from matpcr_utils.chapters.library import find
from matpcr_utils.chapters.parameters import resolve
from matpcr_utils.errors import MatPCRError

known = find("oracles/stability").parameters
for name, value in (("near_hull", "0.1"), ("near_hul", "0.1"), ("near_hull", "?")):
    try:
        print(resolve("the chapter", known, {name: value}))
    except MatPCRError as error:
        print("Error:", error)

# %% [markdown]
# ## One run, and what it leaves
#
# `matpcr run oracles/stability -p near_hull 0.1` executes that chapter and writes a folder below `_build/runs`: the executed
# notebook, one HTML page that needs no network, and a manifest. To see it here without waiting, we write a chapter of four
# lines and run that. Any jupytext or Jupyter notebook with a `parameters` cell will do; it need not belong to this book.

# %%
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
(folder / "own.py").write_text("""\
# %% tags=["parameters"]
near_hull: float = 0.05  # eV/atom

# %%
from matpcr_utils.references import dft

(dft.load().energy_above_hull <= near_hull).mean()
""")
own = find(str(folder / "own.py"))
own.parameters

# %%
from matpcr_utils.chapters.run import run

left = run(str(own.path), {"near_hull": near_hull}, runs_dir=folder / "runs")
[file.name for file in sorted(left.folder.iterdir())]

# %% [markdown]
# The manifest says what is needed to get the same numbers again. Left out here are the versions of the libraries, the hashes of
# the chapter and the data, and the commit of the checkout.

# %%
long = ("versions", "git", "content_hash", "data_hash")
{key: value for key, value in left.manifest.items() if key not in long}

# %% [markdown]
# ## Fresh or stale
#
# The last line of every page says when it was executed, by which version of the package, on which data. `make book` executes a
# chapter again when anything it depends on changed: its text, the package's data, the version of a library, or a module of the package
# that it can reach through imports. A chapter that draws on a registry of oracles can reach them all.

# %% mystnb={"figure": {"name": "fig-running-dependencies", "caption": "Modules of each part of the package that a chapter can reach. A change in one of them makes the chapter stale."}, "image": {"alt": "A grid with one row a chapter and one column a part of the package; each cell holds the number of modules that the chapter can reach, darker for more."}}
from matplotlib import pyplot as plt

from matpcr_utils.plotting import dependencies

dependencies.matrix(tables.dependencies())
plt.show()

# %% [markdown]
# Jupyter Book's own cache looks at a chapter's cells only, and would show yesterday's figures after a change in an oracle. Here
# the hash of everything is part of the chapter, in both ways of building: `make book`, and `jupyter-book build .` for an author who works on one page.
#
# ## Chance, repeated
#
# Every step that draws at random takes a `seed`. The same seed gives the same numbers; another one shows how much of a figure
# is luck. Here is the chance-pass rate of the stability oracle, once for each seed.

# %%
import pandas as pd

from matpcr_utils import controls

repeats = range(seed, seed + seeds)
chances = [controls.chance("stability", draws=draws, seed=k) for k in repeats]
rates = [str(chance.passes) for chance in chances]
pd.DataFrame({"seed": [chance.seed for chance in chances], "passes": rates})

# %%
same = controls.chance("stability", draws=draws, seed=seed)
assert same.passes == chances[0].passes
print("seed", seed, "again:", same.passes)

# %% [markdown]
# ## Published beside measured

# %%
published.beside("running", {"seeds_per_condition": f"{seeds}, for the rate above"})

# %% [markdown]
# The rates above carry an exact (Clopper–Pearson) interval. The bootstrap enters where claims share a source, as in {doc}`../oracles/spectra`.
#
# ## One chain, from the command line
#
#     matpcr check diffraction --structure Si.cif "The main peak is at 2θ = 33.2°"
#     matpcr check stability --material mp-1138 "LiF is stable." --json
#
# prints the verdict on every claim and why. The exit code tells a script the same: 0 consistent, 1 a violation, 2 bad
# input, 3 the oracle abstains. A chain of `-` is read from standard input.

# %% tags=["hide-input"]
from matpcr_utils import evidence, oracles

reference = evidence.reference("stability", material="mp-1138")
chain = "LiF has the rock-salt structure. LiF is stable."
evidence.as_dict("stability", oracles.check_chain(chain, "stability", reference))

# %% [markdown]
# ## Your own data
#
# - **A folder of files**: `references.folder.load("my_files")` reads CIF structures, XY, CSV and text scans or spectra, and lists TIFF
#   images; `matpcr check` takes one file at a time (`--structure`, `--spectrum`, `--image`).
# - **The current Materials Project**: install the extra with `pip install -e ".[mp]"`, set `MP_API_KEY`, and
#   `references.materials_project.load(chemsys="Fe-O")` gives the same table as the shipped one. Nothing in this book needs the key.
# - **Your tolerance**: each is a named parameter of its oracle; `matpcr check … --tolerance near_hull 0.1` sets one.
#
# ## For a class
#
# - All of it runs on a laptop. One person runs `make book` before the class; the pages in `_build/html` open from disk, math included.
# - Solutions are folded. Let a group write down its answer, and a reason, before anyone opens one.
# - A good first session: {doc}`claims` and {doc}`../oracles/stability`, then the exercise below. A good argument to have: which
#   threshold is *right*, and who should choose it.
# - `make notebooks` writes each chapter as a Jupyter notebook without outputs, in plain Markdown, to hand out.
#
# ## Exercises
#
# ```{exercise} A threshold of one's own
# :label: ex-running-threshold
# Run the stability chapter with `near_hull` at 0.1 and at 0.0. Which of its figures move, and which must not?
# ```
#
# ```{solution} ex-running-threshold
# :class: dropdown
# `matpcr run oracles/stability -p near_hull 0.1`, and once more with `0.0`; open both HTML pages side by side. The share of stable materials and the
# score of "always stable" move, for they depend on the threshold. The coin's chance-pass rate stays near one half, for one of its two labels is
# right at any threshold. The miss rate of the positive control must not move: a violation is planted outside the tolerance in force, whatever it is.
# ```
#
# ```{exercise} A silent default
# :label: ex-running-silent
# Write the notebooks (`make notebooks`) and run one with Papermill itself and a mistyped parameter:
# `papermill notebooks/oracles/stability.ipynb out.ipynb -p near_hul 0.1`. What tells you that the threshold did not change?
# ```
#
# ```{solution} ex-running-silent
# :class: dropdown
# One line in the log, and nothing in `out.ipynb` except a cell that assigns `near_hul`, which no later cell reads. The run succeeds. That is
# why `matpcr run` refuses names that the chapter does not declare.
# ```
#
# ## In short
# - A page is one run; its parameters are a cell, and `matpcr run CHAPTER -p NAME VALUE` changes them.
# - A name or a value that does not fit stops the run and says what would.
# - The last line of a page says what it was made from; a change in the chapter, the package, the data or a library re-runs it.
# - Own files and the live database give the same references as the shipped snapshot.
