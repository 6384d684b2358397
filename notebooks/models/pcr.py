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
# (pcr)=
# # PCR across models: one number hides six
#
# A leaderboard wants one rate a model. Six constraint types with six bars of their own stand behind it. What survives when we put models side by side,
# each cell with its interval and with what chance would score?
#
# After this chapter you can
# - read a table of PCR by model and constraint type, and trace a cell to the run it comes from,
# - see in a forest plot which cells are better than chance,
# - choose what to resample, and say why copies of an answer are no observations,
# - compare two models on the same items, corrected for the number of comparisons.
#
# *Time: 25 minutes. Prerequisites: {doc}`items`, {doc}`evaluation`.*

# %% [markdown]
# ## What the paper reports

# %% tags=["hide-input"]
from matpcr_utils import published

published.table(chapter="pcr")

# %% [markdown]
# None of these models was run here. What stands below are recorded answers of four evaluees that need no key: an *instrument* that reads the item and is
# no language model, two *guessers* that look at nothing, and SmolLM2, a language model so small that its rates say nothing about others.
#
# ## Parameters
# Change these and run the chapter again: `matpcr run notebooks/models/pcr -p first matpcr/chance`.

# %% tags=["parameters"]
n_items: int = 96  # items a constraint type, the first ones
seeds: int = 3  # answers an item, the first ones
first: str = "matpcr/guesser"  # of the two models that are compared
second: str = "matpcr/instrument"  # the other
level: float = 0.95  # confidence level
resamples: int = 10_000  # of the bootstrap
seed: int = 0  # of the bootstrap

# %% [markdown]
# ## Judged anew
#
# The recordings hold answers, not verdicts. The oracles judge them now:

# %%
import pandas as pd
from matplotlib import pyplot as plt

from matpcr_utils.evaluation import recorded, results

drawn = {"resamples": resamples, "level": level, "seed": seed}
table = results.judge(recorded.load(n_items=n_items, seeds=seeds))
summary = results.summary(table, **drawn)
print(f"{len(table)} rows of {table['model'].nunique()} models")

# %% [markdown]
# ## The table
#
# In the form of the paper's Table S1, with what a cell must be read against: how many of the chains could be judged (*coverage*), how many independent
# *sources* they come from, and the *chance* level, the share of claims from a plain prior that pass on the very same items.

# %%
from matpcr_utils.evaluation import comparison

comparison.cells(summary)

# %% [markdown]
# *W* marks Wilson's interval over sources. A dash is no zero. A model that reads no images is not asked items that show one: it is neither right nor wrong about them. Every cell can be traced to
# the runs that its chains come from:

# %%
comparison.runs_behind(table, second, "stability").style.hide(axis="index")

# %% [markdown]
# ## The same as a picture
#
# Items that the paper poses as images exist in words, too, so that a text-only model has something to answer. These are other questions, and open marks.

# %% mystnb={"figure": {"name": "fig-pcr-forest", "caption": "PCR with its interval, a panel a constraint type. The dashed line is the chance level on the same items."}, "image": {"alt": "Six panels with one row a model: points with horizontal intervals and a dashed vertical line for chance, which lies near one half for diffraction and the three DFT-grounded types, lower for microscopy, and near zero for spectra."}}
from matpcr_utils.plotting import models as figures

asked = recorded.load(constraint=recorded.PICTURED, n_items=n_items, seeds=seeds, modality="text")
both = pd.concat([summary, results.summary(results.judge(asked), **drawn)], ignore_index=True)
figures.forest(both)
plt.show()

# %% [markdown]
# The bar differs from panel to panel. The same PCR is far above chance on spectra and below it on diffraction, which is why a rate without its chance level
# misleads; {doc}`guesser` makes a correction of it.
#
# ## One rate a model
#
# Two weightings are in use: the mean over constraint types, in which each weighs the same, and the share of all judged chains, in which a type
# weighs as much as could be judged of it.

# %%
comparison.overall(table, **drawn).style.hide(axis="index").format(precision=3)

# %% [markdown]
# Mind the column *types*: a mean over three types is not comparable with one over six.
#
# The paper pools the three DFT-grounded types in a column, and notes that this can conceal differences. The picture shows by how much:

# %% mystnb={"figure": {"name": "fig-pcr-dft", "caption": "The three DFT-grounded types (open) and the column that pools them (filled)."}, "image": {"alt": "One row a model: three open marks joined by a thin line, and a filled circle between them for the pooled rate."}}
figures.dft_column(comparison.dft_column(table, **drawn))
plt.show()

# %% [markdown]
# ## What is an observation?
#
# The instrument gives the same answer for every seed. Counting its copies as observations would make the interval narrower by a factor of
# $\sqrt{\text{seeds}}$, for nothing. Items of one source share its fate as well. So sources are resampled, with all that belongs to them.

# %% mystnb={"figure": {"name": "fig-pcr-units", "caption": "Half-width of the interval of the second model, by what is taken as independent, and Hoeffding's bound for as many observations as sources."}, "image": {"alt": "Groups of four bars, one group a constraint type: the bootstrap over chains is narrowest, over items and over sources wider, and Hoeffding's bound widest."}}
widths = comparison.half_widths(table, second, **drawn)
figures.units(widths)
plt.show()

# %% [markdown]
# Hoeffding's bound holds for any distribution and any number of items, and pays for that with width. Where all chains agree the bootstrap
# has no width at all; there the table shows Wilson's interval.
#
# ## Two models on the same items
#
# Intervals of two models may overlap although one is better on nearly every item: what counts is the difference item by item. The test is exact
# (McNemar) on the first answer to each item, and Holm's correction covers the constraint types.

# %%
pairs = comparison.pairs(table, first, second, **drawn)
pairs.style.hide(axis="index").format(precision=3)

# %% [markdown]
# ## Published beside measured
#
# Other models, other items: the columns share the oracle's criterion and nothing else.

# %%
from matpcr_utils.statistics import hoeffding_half_width

by_model = summary[summary["n"] > 0].pivot(index="model", columns="constraint", values="pcr")
span = {c: f"{by_model[c].min():.2f}–{by_model[c].max():.2f}, four evaluees" for c in by_model}
published.beside(
    "pcr",
    {
        "models_evaluated": f"{table['model'].nunique()} evaluees, one a language model",
        "constraint_types": str(table["constraint"].nunique()),
        "pcr_microscopy_range": span["microscopy"],
        "pcr_spectra_range": span["spectra"],
        "bootstrap_resamples": f"{resamples:,}",
        "seeds_per_condition": str(table["seed"].nunique()),
        "items_per_cell": f"{n_items}; Hoeffding's half-width at 90 is {hoeffding_half_width(90):.4f}",
    },
)

# %% [markdown]
# ## Exercises
#
# ```{exercise} Which weighting?
# :label: ex-pcr-weighting
# A model abstains on all hard diffraction items and answers the easy ones. What does that do to its macro mean, what to its pooled rate, and which column
# of the table gives it away?
# ```
#
# ```{solution} ex-pcr-weighting
# :class: dropdown
# Its diffraction PCR rises, and with it the macro mean, in which diffraction keeps its full weight. In the pooled rate diffraction shrinks with the number of
# judged chains. The coverage of the cell gives it away: no PCR should be quoted without it.
# ```
#
# ```{exercise} How many seeds?
# :label: ex-pcr-seeds
# Run the chapter with `-p seeds 1`. Which intervals change, and which do not? Explain both with {numref}`fig-pcr-units`.
# ```
#
# ```{solution} ex-pcr-seeds
# :class: dropdown
# The instrument's and the guesser's stay as they are: their further answers are copies, and sources are resampled. Those of the evaluees that draw become
# wider, for their answers to one item differ, and the mean of three tells more about the item than one.
# ```
#
# ## In short
# - A PCR belongs to a model, a constraint type, a way of asking and a set of items; its chance level belongs beside it.
# - Sources are resampled, not chains: copies of an answer are no observations.
# - Overall rates depend on the weighting, and a pooled column hides what it pools.
# - Two models are compared on the same items, and the number of comparisons is corrected for.
