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
# (introduction)=
# # Does the answer obey physics?
#
# Ask a language model about a crystal and it answers with numbers: a peak at 28.4°, a gap of 1.1 eV, "stable".
# Whether the *final answer* is right takes a labelled test set. Whether the numbers on the way are *possible* takes
# only physics, and for materials the physics has been measured and computed. How far does that carry?
#
# After this chapter you can
# - say what a claim, an oracle, a verdict and the physical-consistency rate (PCR) are,
# - read a PCR with its interval, and name what it leaves out,
# - tell how often each of the six oracles misses, fires falsely and passes by chance.
#
# *Time: 15 minutes. Prerequisites: none beyond first-year materials science; no key, no GPU.*

# %% [markdown]
# ## What the paper reports
#
# The book follows the paper *Physics as the label for measuring and correcting materials reasoning in multimodal
# models*. Its figures always stand in a column of their own, with section and page; none of them was measured here.
# ({term}`CGSV` in the table shows a model its violations and lets it revise; it is not run in this chapter.)

# %% tags=["hide-input"]
from matpcr_utils import published

published.table(chapter="introduction")

# %% [markdown]
# ## Parameters
# Change these and run the chapter again, e.g. `matpcr run notebooks/start/introduction -p near_hull 0.1`.

# %% tags=["parameters"]
near_hull: float = 0.05  # eV/atom; at or below it "stable" is consistent
planted: float = 0.3  # share of true claims turned into violations
draws: int = 200  # chance claims a reference
seed: int = 0  # of every random draw

# %% [markdown]
# ## From a chain to a verdict
#
# A *chain* is what a model writes before its answer. A *claim* is a statement in it that physics can check: a quantity, a
# value, a unit. An *oracle* holds the claim against a reference and gives one of three verdicts: `consistent`,
# `violation` or `abstain`. Here is what a model might say of zinc oxide, held against its Materials Project entry.

# %%
from matpcr_utils import oracles
from matpcr_utils.references import dft

zinc_oxide = dft.load().entry("mp-2133")
chain = (
    "Zn is 2+ and O is 2-, so the d shell is full. "
    "ZnO is a semiconductor with a band gap of 3.3 eV."
)
judged = oracles.check_chain(chain, "metallicity", zinc_oxide)
judged.to_frame().style.hide(axis="index")

# %% [markdown]
# Each row names the words it was read from, so that you can disagree with the reading. The reference holds a gap far
# from the measured 3.3 eV, as density-functional theory is known to: the oracle asks only whether there *is* a gap, on
# which calculation and experiment agree. Consistency is weaker than accuracy, by design.

# %%
wrong = "ZnO conducts well, so it must be a metal with no band gap."
judged = oracles.check_chain(wrong, "metallicity", zinc_oxide)
judged.to_frame().style.hide(axis="index")

# %% [markdown]
# ## From verdicts to a rate
#
# PCR is the share of checkable chains without a violation. The eight chains below were written for this page, about
# two entries: cubic silicon carbide, which lies barely above the hull, and a rock-salt AlO, which lies far above it.

# %%
cases = {
    "mp-8062": [
        "Cubic SiC is stable.",
        "3C-SiC is close to the hull: E_hull = 2 meV/atom.",
        "It should decompose, so it is unstable.",
        "I cannot tell from the formula alone.",
    ],
    "mp-8023": [
        "This phase is stable.",
        "It is not thermodynamically stable.",
        "E_hull is about 1.3 eV/atom.",
        "E_hull = 12 meV/atom, close to the hull.",
    ],
}

# %%
import pandas as pd

from matpcr_utils.oracles import stability

tolerances = stability.Tolerances(near_hull=near_hull)
rows = []
for material_id, chains in cases.items():
    entry = dft.load().entry(material_id)
    for text in chains:
        verdict = oracles.check_chain(text, "stability", entry, tolerances)
        rows.append((entry.formula, text, str(verdict.outcome)))
judged = pd.DataFrame(rows, columns=["reference", "chain", "verdict"])
judged.style.hide(axis="index")

# %%
from matpcr_utils.statistics import pcr

print("PCR", pcr(judged["verdict"]))

# %% [markdown]
# The chain that states nothing is not checkable and does not count. The interval (Wilson, 95 %) is wide:
# a handful of chains says little, and no PCR in this book comes without its interval and its n.
#
# ## Six oracles, and how right they are
#
# An oracle that errs turns into a wrong PCR. Each oracle chapter therefore holds a *positive control*: state what is
# true of every reference, turn a known share of the statements into violations, and count.

# %%
from matpcr_utils import controls
from matpcr_utils.claims.model import CONSTRAINTS

results = [controls.run(constraint, planted=planted, seed=seed) for constraint in CONSTRAINTS]
for result in results:
    result.require_no_miss()
columns = ["constraint", "claims", "planted", "false-negative rate", "false-positive rate"]
pd.concat([result.summary() for result in results])[columns].style.hide(axis="index")

# %% mystnb={"figure": {"name": "fig-introduction-rates", "caption": "Positive control of the six oracles. Left: planted violations that were missed; right: true claims that were flagged."}, "image": {"alt": "Two panels of rates with intervals for six oracles; every miss rate is zero."}}
from matplotlib import pyplot as plt

from matpcr_utils.plotting import controls as plots

plots.rates(results)
plt.show()

# %% [markdown]
# No planted violation was missed; where true claims were flagged, the oracle's own chapter shows each case and says why.
#
# ## What PCR gives away for free
#
# The opposite question is as important and asked less often: how often does a claim drawn *without looking* pass? Each
# oracle has a plain prior, stated in its chapter.

# %% mystnb={"figure": {"name": "fig-introduction-chance", "caption": "Chance-pass rate of the six oracles, each under its plain prior."}, "image": {"alt": "Horizontal bars of the share of random claims that pass, one a constraint type, with the spread over references as a line."}}
chances = [controls.chance(constraint, draws=draws, seed=seed) for constraint in CONSTRAINTS]
plots.chance_by_oracle(chances)
plt.show()

# %% tags=["hide-input"]
priors = pd.DataFrame(
    {
        "prior": [chance.prior for chance in chances],
        "passes": [str(chance.passes) for chance in chances],
    },
    index=list(CONSTRAINTS),
)
priors.style

# %% [markdown]
# A PCR is a high number only against its own bar. Two models with the same PCR, one on microscopy and one on stability, have not done
# equally well.
#
# ## Published beside measured

# %%
worst = max(results, key=lambda result: result.false_negatives.upper)
published.beside(
    "introduction",
    {
        "max_false_negative_rate": f"{worst.false_negatives} ({worst.constraint})",
        "constraint_types": str(len(CONSTRAINTS)),
    },
)

# %% [markdown]
# The paper's models were not run here: this part of the book measures the oracles, not the models.
#
# ## Where to go
# - **To understand one oracle**: {doc}`../oracles/stability` is the shortest, {doc}`../oracles/diffraction` the most instructive.
# - **To run a chapter on your own data**: {doc}`running`.
# - **To know where every number comes from**: {doc}`data` and {doc}`claims`.
#
# ## Exercises
#
# ```{exercise} A kinder threshold
# :label: ex-introduction-threshold
# Which of the eight verdicts above change when `near_hull` is raised to 1.5 eV/atom? What does PCR do, and did any chain get
# better?
# ```
#
# ```{solution} ex-introduction-threshold
# :class: dropdown
# For AlO, "stable" and "12 meV/atom" turn consistent, "not thermodynamically stable" turns into a violation, and
# "about 1.3 eV/atom" stays consistent, for claim and reference now both count as near-hull. PCR moves, and no chain has
# changed: a rate is a property of chains *and* tolerances, which is why every tolerance is a named parameter.
# ```
#
# ```{exercise} Always the same answer
# :label: ex-introduction-guesser
# A model answers "stable" to everything. Estimate its PCR on the stability oracle from the reference table.
# ```
#
# ```{solution} ex-introduction-guesser
# :class: dropdown
# It is the share of entries at or below the threshold: `(dft.load().energy_above_hull <= near_hull).mean()`. A guesser
# that knows only this share scores it without reading a single structure.
# ```
#
# ## In short
# - A claim is checked against physics, not against an answer key; the verdicts are consistent, violation and abstain.
# - PCR is the share of checkable chains without a violation, and always comes with n and an interval.
# - The controls bound how often an oracle misses or fires falsely; the chance-pass rate says what the score is worth.
