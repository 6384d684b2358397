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
# (items)=
# # Items and prompts: what exactly is asked?
#
# A benchmark is a list of questions. Before any model answers, we can ask of the questions themselves: is there one right answer, can it be
# read off what is shown, and would the oracle take it? A benchmark that fails here measures its own defects.
#
# After this chapter you can
# - say what an item holds, and load, show or export items of each constraint type,
# - check that every item exposes exactly one claim, and that its true answer passes,
# - tell a hard item from an easy one, and say how the sampling decides between them,
# - see why an answer can be consistent and wrong, or right and flagged.
#
# *Time: 20 minutes. Prerequisites: {doc}`../start/claims`; one chapter on an oracle.*

# %% [markdown]
# ## What the paper reports

# %% tags=["hide-input"]
from matpcr_utils import published

published.table(chapter="items")

# %% [markdown]
# An item of the paper pairs an input with a question that needs one checkable quantity: images for vision-language models, structures or text for
# language models (its section 4.2). We do not have its items; the ones below are ours.
#
# ## Parameters
# Change these and run the chapter again: `matpcr run notebooks/models/items -p constraint spectra`.

# %% tags=["parameters"]
constraint: str = "diffraction"  # the constraint type that is shown in detail
n_items: int = 96  # items a constraint type, from 6 to 110
prompt_version: str = "v1"  # wording shown with worked examples: v1, v2 or v3
seed: int = 0  # of the choice of items, and of the surface forms in the check

# %% [markdown]
# ## An item

# %%
from matplotlib import pyplot as plt

from matpcr_utils import items

chosen = items.load("all", n_items, seed)
item = next(one for one in chosen if one.constraint == constraint)
item

# %% [markdown]
# The *id* names the item for good. It does not depend on the seed or on how many items were loaded, so that a transcript of last year can be graded
# again today. The *source* says which items hang together: two questions on one spectrum are not two independent observations, and intervals
# should resample sources, not items. The *truth* is the accurate answer. Two more fields hold what rebuilds input and reference (*facts*) and
# what makes the item hard:

# %%
import pandas as pd

pd.Series({**item.facts, **item.difficulty}, name=item.item_id).to_frame()

# %% [markdown]
# ## What a model sees

# %% mystnb={"figure": {"name": "fig-items-gallery", "caption": "One item of each constraint type in the modality in which it is posed. The micrograph is simulated, and so is a pattern where its title says so."}, "image": {"alt": "Six panels: a powder pattern, a micrograph of round particles with a scale bar, a Raman spectrum, and three crystal structures as lines of text with cell and sites."}}
from matpcr_utils.plotting import items as figures

figures.gallery([chosen[position] for position in range(0, len(chosen), n_items)])
plt.show()

# %% [markdown]
# Structures never carry their database id. It would be an invitation to recall an entry instead of reading the structure.
#
# A text-only model gets image items in words. Micrographs become lengths in pixels, from which the answer follows by a division. Patterns and spectra
# become a short table. Averaging over the points of a stretch would flatten a sharp line and move it, so the table keeps the *highest reading* of each
# stretch, at the very place where it was measured:

# %% mystnb={"figure": {"name": "fig-items-rendering", "caption": "A curve and the readings of it that the text rendering keeps."}, "image": {"alt": "A grey curve with narrow peaks; dots mark the highest reading in each of many equal stretches, one of them on the top of the peak that is asked for, where a dotted line stands."}}
curve = item if constraint in ("diffraction", "spectra") else chosen[0]
figures.rendering(curve)
plt.show()

# %%
print("\n".join(items.text(item).splitlines()[:8]))

# %% [markdown]
# ## Where the items come from

# %%
from matpcr_utils.items import report

report.overview(chosen).style.hide(axis="index")

# %% [markdown]
# The snapshot's own shares would make poor questions:

# %%
from matpcr_utils.references import dft

table = dft.load()
print(f"near-hull: {(table.energy_above_hull <= 0.05).mean():.0%} of the entries")
print(f"gap of exactly 0: {(table.band_gap == 0).mean():.0%}")

# %% [markdown]
# On such a sample a model that calls everything stable would look good. So items are drawn from strata in turn, and the balance holds after every full
# turn: a few items are as balanced as all of them.

# %% tags=["hide-input"]
report.rules().style.hide(axis="index")

# %% mystnb={"figure": {"name": "fig-items-difficulty", "caption": "How hard the items are. For the DFT-grounded types it is the distance of the reference from the oracle's threshold: the smaller, the harder."}, "image": {"alt": "Six stacked histograms, one a constraint type, coloured by class, material or kind of input; in the DFT panels one class piles up in a single bar because many references are exactly zero."}}
figures.difficulty(chosen)
plt.show()

# %% [markdown]
# The single high bars are references of exactly zero: on the hull, without a gap, without a moment. They lie at one distance from the threshold, and no
# sampling can spread them. A model that has learnt "zero is common" profits from that.
#
# ## One question, three wordings
#
# The ranking of models can depend on how a question is put; the paper finds that it does on diffraction (its section 4.10). So every question exists in
# three wordings, each written on its own.

# %% tags=["hide-input"]
asked = next(one for one in chosen if one.asks == "stability")
report.wordings_table(asked)

# %% [markdown]
# A small model that is only told the form of the answer will not keep to it. It can be shown worked examples, up to three:

# %%
print(items.prompt(asked, prompt_version, examples=2))

# %% [markdown]
# The examples are elements, of which the complete entries hold none, so no item is among them. With an image they show the form only:

# %%
pictured = next(one for one in chosen if one.modality == "image")
print(items.prompt(pictured, prompt_version, examples=1))

# %% [markdown]
# ## Does every item expose exactly one claim?
#
# We state the true answer of every item, once in its own sentence and once in a surface form drawn at random ({doc}`../start/claims`), read it back,
# and let the oracle and the accuracy criterion judge it. An item whose true answer is not read, is flagged or is called wrong would punish a perfect
# model.

# %%
checked = report.one_claim(chosen, seed)
report.one_claim_summary(checked).style.hide(axis="index")

# %%
passed = (checked["claims"] == 1) & (checked["outcome"] == "consistent")
passed &= checked["accurate"].eq(True)
if not passed.all():
    raise AssertionError(f"true answers that fail:\n{checked[~passed].to_string()}")
print(f"{passed.sum()} of {len(checked)} true answers: one claim, consistent, accurate")

# %% [markdown]
# This is a check of the items, not of models: a model may state three positions on the way to its answer, and then all three are read.
#
# ## Consistent is not accurate
#
# The oracle asks whether a claim agrees with the physics; accuracy asks whether it answers the question. One plain kind of answer for each constraint
# type shows the difference:

# %%
from matpcr_utils.items import contrast

both = contrast.table(chosen)
both.style.hide(axis="index")

# %% [markdown]
# - **Wrong and consistent.** The pattern does have the other line, so Bragg has no objection; half the true size fits into the picture as well; a gap twice too
#   large is a gap.
# - **Right and flagged.** A phase slightly above the hull is unstable by thermodynamics, and near-hull by the operational threshold. The two readings
#   contradict each other on purpose; a careful model answers "metastable", which satisfies both.
#
# Neither column replaces the other. An evaluation has to report both.
#
# ## Taking the items elsewhere
#
# `matpcr items export FOLDER` writes a JSONL table, the images and a dataset card with licences, for harnesses other than this book's.
# `matpcr items show ID` prints one prompt.

# %%
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    target = items.export(Path(folder) / "items", constraint, min(n_items, 6), seed)
    files = sorted(path for path in target.rglob("*") if path.is_file())
    print(*(f"{path.relative_to(target)}  {path.stat().st_size} bytes" for path in files), sep="\n")

# %% [markdown]
# ## Published beside measured

# %%
count = checked["claims"]
published.beside(
    "items",
    {
        "claims_per_item": f"{count.mean():.2f} in a true answer, {len(count)} answers",
        "constraint_types": str(len({one.constraint for one in chosen})),
    },
)

# %% [markdown]
# ## Exercises
#
# ```{exercise} The price of balance
# :label: ex-items-balance
# What would a model that calls every phase stable score by the oracle on our stability items? And on items drawn from the snapshot at random? Which
# number of this chapter tells you?
# ```
#
# ```{solution} ex-items-balance
# :class: dropdown
# On our items one half: the strata are balanced at the near-hull threshold. At random it is the share of near-hull entries that the chapter prints.
# The same model, two benchmarks, two very different rates: a PCR can be read only beside the score of a guesser on the same items.
# ```
#
# ```{exercise} Two items, one spectrum
# :label: ex-items-source
# Find a spectrum with three items, `pd.Series([i.source_id for i in chosen]).value_counts()`. A model misreads the axis of this plot by 20 cm⁻¹. How
# many items does it lose, and what does that do to a confidence interval that takes items as independent?
# ```
#
# ```{solution} ex-items-source
# :class: dropdown
# All three, for the error is one of the source. Items of one source succeed and fail together, so that the number of independent observations is
# nearer to the number of sources. An interval over items is then too narrow; resampling sources keeps the three together and gives an honest width.
# ```
#
# ```{exercise} A question with two answers
# :label: ex-items-ambiguous
# `items.diffraction.RIVAL` keeps a pattern only if every other line in the range reaches at most 85 % of the strongest. What would happen to accuracy, and
# what to PCR, if it were 1? Why must such a choice be made without looking at what models answer?
# ```
#
# ```{solution} ex-items-ambiguous
# :class: dropdown
# With two lines of nearly equal height the noise, or the texture of a real sample, decides which is higher. Accuracy would fall by up to one half on such
# items, for reasons that have nothing to do with the model; PCR would not change, for both are lines. Had we dropped the items on which models fail,
# accuracy would have risen by selection alone.
# ```
#
# ## In short
# - An item is an input, a question and a truth, named by an id that never changes its meaning.
# - Each true answer is read as one claim, passes its oracle and is accurate: checked here for every item.
# - Classes are balanced and difficulty is recorded, so that a guesser's score is known before a model's is read.
# - Consistent and accurate are two yardsticks; both directions of disagreement can be built on purpose.
