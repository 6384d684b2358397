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
# (claims)=
# # Reading claims out of a chain
#
# A model writes a page of reasoning. Which sentences of it can physics check, and what exactly do they say?
#
# After this chapter you can
# - say what counts as a claim, and which numbers on a page of reasoning are none,
# - predict how negation, units, ranges and answers in JSON are read,
# - name what the reader can't read, and measure how it fails on damaged text.
#
# *Time: 20 minutes. Prerequisites: {doc}`introduction`.*

# %% [markdown]
# ## What the paper reports

# %% tags=["hide-input"]
from matpcr_utils import published

published.table(chapter="claims")

# %% [markdown]
# The paper's items expose one claim each. A chain found in the wild states many, some of them twice, and takes some back.
#
# ## Parameters
# Change these and run the chapter again: `matpcr run notebooks/start/claims -p constraint spectra`, with a chain of your own.

# %% tags=["parameters"]
constraint: str = "diffraction"  # the constraint type that the chain below is read for
chain: str = "Using Cu Kα (λ = 1.5406 Å) the x axis runs from 10° to 90°. The main peak is not at 31.7° but at 2θ = 28.44°, so d = λ/(2 sin θ) = 0.3136 nm."  # any text
n: int = 100  # random claims of each quantity in the experiment
max_typos: float = 0.08  # largest share of letters damaged in the experiment
seed: int = 0  # of every random draw

# %% [markdown]
# ## What a claim is
# A claim is one statement that an oracle can check: a quantity, a value in the quantity's own unit, and the place in the
# chain where it stands. Every constraint type checks its own quantities and is deaf to the rest.

# %% tags=["hide-input"]
import pandas as pd
from matplotlib import pyplot as plt

from matpcr_utils.claims.model import CANONICAL_UNITS, CONSTRAINTS

rows = [(c, q, CANONICAL_UNITS[q]) for c, known in CONSTRAINTS.items() for q in known]
pd.DataFrame(rows, columns=["Constraint", "Quantity", "Unit"]).style.hide(axis="index")

# %% [markdown]
# Here is a chain, read for one constraint. What is marked is claimed; hover over a mark to see how it was understood.

# %%
from matpcr_utils.plotting import claims as show

show.mark(chain, constraint)

# %%
from matpcr_utils.claims import extract_claims

for claim in extract_claims(chain, constraint):
    print(show.told(claim), "at", claim.span, "from", repr(claim.text))

# %% [markdown]
# The span indexes the chain as it was written, not a cleaned copy of it: `chain[a:b]` is the text of the claim. That is what
# lets a reader, or a model that is asked to revise, see which words the oracle objects to.
#
# In the chain that ships with the book, four numbers with a unit are no claim: the wavelength, both ends of the axis, and the angle that the
# sentence rejects. The next sections are about telling such numbers from the others.
#
# ## Numbers that are a claim, however they are written
# Chains mix Unicode, LaTeX, Markdown and JSON. Each of these states one value or a list of them.

# %%
show.cases(
    {
        "diffraction": [r"$2\theta \approx 47.30^{\circ}$", "28.44(5)° or 28.44 ± 0.05°"],
        "microscopy": ["1,200 nm", "1.5 μm", "between 0.9 and 1.1 µm wide", "4 px/nm"],
        "spectra": [r"\SI{520.7}{\per\centi\metre}", '{"peaks_cm-1": [281, 712]}'],
        "stability": ["E_hull = 1.5 × 10⁻³ eV per atom", "hull energy: 0.4 eV/f.u."],
        "metallicity": ["| E_g | 610 meV |", "the gap is zero"],
        "magnetism": [r"total moment 4.74 $\mu_B$/cell"],
    }
)

# %% [markdown]
# A range is read as its midpoint and an uncertainty as its centre. Unicode's compatibility form (NFKC) is *not* used to tidy
# the text up. It is tempting, and it is wrong:

# %%
import unicodedata

from matpcr_utils.claims.normal import Normal

text = "10⁻³ eV"
print("NFKC:", unicodedata.normalize("NFKC", text), "   here:", Normal(text).text)

# %% [markdown]
# ### Units
# Units are converted with `pint`, by one registry for the whole process. A stated Bragg angle θ counts as twice its value, for
# the oracle works in 2θ. Energies above the hull keep what they are counted per: an energy per formula unit is another number
# than one per atom, and only the structure tells how many atoms that is.

# %%
from matpcr_utils.quantities import read_unit

written = ["°", "Å^-1", "1/nm", "nm/px", "px/nm", "wavenumbers", "meV/atom", "eV/f.u.", "µ_B/cell"]
known = [(w, *(part or "" for part in read_unit(w))) for w in written]
pd.DataFrame(known, columns=["Written", "Kind", "Unit", "Per"]).style.hide(axis="index")

# %% [markdown]
# ## Numbers that are no claim
# Most numbers in a chain set the scene. Reading one of them as a claim would make the oracle flag a model for something it
# never said.

# %%
show.cases(
    {
        "diffraction": [
            "The (111) line of Fe2O3 (mp-19770), a = 5.03 Å, FWHM 0.2°",
            "The pattern covers 20–80° with a step of 0.02°.",
        ],
        "microscopy": ["A 500 nm scale bar; 15 kV, working distance 8.5 mm; area 90 nm²"],
        "spectra": ["Excited at 532 nm; the axis spans 100 to 3200 cm⁻¹."],
        "stability": ["The formation energy is −1.2 eV/atom; the threshold is 0.05 eV/atom."],
        "metallicity": ["Photons of 2.3 eV; an exciton binding energy of 25 meV"],
        "magnetism": ["Each Mn carries a local moment of 4 μB."],
    }
)

# %% [markdown]
# How is it decided? Each number is given to a *cue*: the word right after it ("0.2° FWHM"), else the nearest one before it in
# the sentence ("FWHM of 0.2°"). Cues with a quantity make claims, the others make none. A cue that is used up, or cut off by
# "so" and "therefore", does not reach the next number: in *"The scale bar reads 500 nm. The particle diameter is therefore
# 180 nm."* only the second is claimed. A limit ("below 0.05 eV/atom") states no value, and neither do the operands of a
# calculation, only its result.
#
# ## Words: negation, questions, conditions

# %%
show.cases(
    {
        "stability": [
            "I would not call it unstable.",
            "It is neither stable nor metastable.",
            "It is not stable but metastable.",
            "Is it stable? No.",
            "If it were stable, it would lie on the hull.",
            "It is dynamically stable.",
        ],
        "metallicity": ["It lacks a band gap.", "a transition metal oxide", '{"is_metal": false}'],
        "magnetism": ["It orders antiferromagnetically, so the net moment is zero."],
    }
)

# %% [markdown]
# Some of these are decisions, and they could have been taken otherwise:
# - *not X but Y* claims Y alone, and so do *Y rather than X* and *X… no wait, Y*;
# - a negation that leaves the answer open ("not a semimetal", "not antiferromagnetic") claims nothing;
# - "probably stable" is a claim, "may be stable" is none: a chain that does not commit can't be wrong;
# - only thermodynamic stability is stability, since the hull knows nothing of phonons or of water;
# - "on the hull" counts as *stable* only when the chain says nothing plainer;
# - "half-metal" claims nothing, for it is metallic in one spin channel only.
#
# ## What the reader can't read
# The reader follows words, not meaning. Where meaning is needed it misses claims or, worse, reads what was not said.

# %% tags=["hide-input"]
show.cases(
    {
        "diffraction": [
            "The peak stands at twenty-eight degrees.",
            "Silicon has its first line at 28.4°, but this pattern starts three degrees higher.",
            "My first guess was 28.4°. My final answer is 33.1°.",
        ],
        "spectra": ["For comparison, calcite has a band at 1085 cm⁻¹."],
        "stability": ["Some say it is stable, some say it is not."],
        "metallicity": [
            "The compound conducts like copper.",
            "Its gap is half of diamond's 5.47 eV.",
        ],
    },
    careful=[
        *("28°", "31.4°", "33.1° only", "nothing about this spectrum", "no claim"),
        *("a metal", "2.7 eV"),
    ],
)

# %% [markdown]
# A missed claim makes an item uncheckable; a misread one makes a verdict wrong. The second is an error of the *measurement*, and
# an audit of what fired, as in the paper, is where such errors would show, those that pass excepted.
#
# ## How robust is it?
# We state random claims in random surface forms, with sentences around them that claim nothing, and read them back. The forms
# were written along with the reader, so undamaged text is the easy case: it shows that nothing is lost on the kinds we thought
# of, not how often a stranger's chain is read. To see how reading degrades we then damage letters (drop, double or swap), and
# leave digits alone.

# %%
from matpcr_utils.claims import recovery

clean = recovery.recover_all(n, seed=seed)
show.recovery_table(clean)

# %% mystnb={"figure": {"name": "fig-claims-typos", "caption": "Claims recovered, missed and misread as letters are damaged, pooled over all quantities, with 95 % Wilson intervals. Damage of this kind is far beyond what a language model writes; a scan or a poor transcription may reach it."}, "image": {"alt": "Three lines against the share of damaged letters: the recovered share falls from one, while the missed and the misread share both rise from zero."}}
typos = [max_typos * step / 4 for step in range(5)]
damaged = recovery.recover_all(n, typos, seed=seed)
show.recovery(damaged)
plt.show()

# %% [markdown]
# Misreading grows as fast as missing. A damaged *not* turns a claim into its opposite, a damaged cue word lets a scene-setting
# number through, and a damaged unit leaves a number without a meaning.
#
# ## Published beside measured
# %%
read, stated = sum(r.read for r in clean), sum(r.recovered.n for r in clean)
published.beside(
    "claims", {"claims_per_item": f"{read / stated:.2f} a chain, {stated} chains that state one"}
)

# %% [markdown]
# The paper's items are built to expose one claim. Ours are random statements with distracting sentences; if the reader took a
# distraction for a claim, the number would exceed one.
#
# ## Exercises
# ```{exercise} A chain of your own
# :label: ex-claims-own
# Write a chain for the constraint `metallicity` that a careful reader would call one claim of a gap, and that is read as none, or
# as two. Which rule of this chapter did you use?
# ```
# ```{solution} ex-claims-own
# :class: dropdown
# For none, spell the number ("a gap of one electronvolt") or say it by comparison ("half of diamond's"): there is no number with
# a unit that a cue could govern. For two, state a reference value in passing: `extract_claims("Like GaAs with its gap of 1.42 eV, it
# has a gap of 1.5 eV.", "metallicity")` reads both, for the words that tell whose gap it is are not understood.
# ```
#
# ```{exercise} What a misreading costs
# :label: ex-claims-cost
# Suppose that a share $m$ of the chains is misread at random, and that a misread claim violates with probability $v$. The rate of
# violations among the chains read right is $\tau$. What violation rate is measured? For which $\tau$ does it come out too high?
# ```
# ```{solution} ex-claims-cost
# :class: dropdown
# The measured rate is $(1 - m)\tau + m v$: it is shifted by $m (v - \tau)$. It comes out too high when $\tau < v$. A misread claim is nearly a
# random one, so $v$ is one minus the chance-pass rate of the oracle, which the chapters on the oracles report. For a good model
# and a strict oracle the shift is upward: misreading makes models look worse than they are.
# ```
#
# ```{exercise} Other decisions
# :label: ex-claims-decisions
# "It may be stable" claims nothing here. Find two arguments for reading it as a claim of stability. How could you test which reading
# serves the benchmark better, without asking an annotator?
# ```
# ```{solution} ex-claims-decisions
# :class: dropdown
# For: models hedge by habit, so dropping hedged claims leaves few items checkable; and a model can escape the benchmark by
# hedging everything. A test without annotators: ask each model for a bare label after its chain, and compare how often "may be
# X" goes with the label X. If nearly always, the hedge is style, and it should be read.
# ```
#
# ## In short
# - A claim is a quantity, a value and a place in the chain; each constraint reads only what it can check.
# - Most numbers in a chain are no claim. The word that governs a number decides, and a used word governs no more.
# - Negation flips, *but* takes back, questions and conditions claim nothing.
# - The reader follows words: on damaged text it misreads about as often as it misses, and a misread claim is an error of the
#   measurement, not of the model.
