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
# (guesser)=
# # What a guesser scores
#
# Somebody who has not looked at the item makes a claim about it, and the oracle finds nothing against the claim. That happens often. How much of a
# physical-consistency rate is free?
#
# After this chapter you can
# - say what two guessers score that look at nothing, and how each comes by it,
# - take a guesser's score off a PCR, with an interval, and say which rates are no better than guessing,
# - see what a question gives away, and what a tolerance gives away,
# - say what this correction takes for granted.
#
# *Time: 30 minutes. Prerequisites: {doc}`evaluation`; the section on chance in one of the chapters on oracles, such as {doc}`../oracles/diffraction`.*

# %% [markdown]
# ## What the paper reports

# %% tags=["hide-input"]
from matpcr_utils import published

published.table(chapter="guesser")

# %% [markdown]
# These are rates of models, some of them high. None is a guesser's.
#
# ## Parameters
# Change these and run the chapter again: `matpcr run notebooks/models/guesser -p tolerance 0.1`.

# %% tags=["parameters"]
n_items: int = 96  # items a constraint type, from 1 to 110
seeds: int = 3  # answers an item
tolerance: float = 0.5  # degree on 2θ; of the diffraction oracle
model: str | None = None  # one more model beside the recorded ones, e.g. openai/gpt-4o
resamples: int = 10_000  # of the bootstrap over sources
seed: int = 0  # of the bootstrap, and of the draws from the priors

# %%
import pandas as pd
from matplotlib import pyplot as plt

from matpcr_utils.evaluation import agreement, guesses, guessing, recorded, results
from matpcr_utils.evaluation.study import study
from matpcr_utils.oracles import diffraction

limits = {"diffraction": diffraction.Tolerances(two_theta=tolerance)}
how = {"tolerances": limits, "resamples": resamples, "seed": seed}
chains = agreement.chains(recorded.models(), n_items=n_items, seeds=seeds)
if model is not None and model not in recorded.models():
    asked = study(model, n_items=n_items, seeds=seeds).table[chains.columns]
    chains = pd.concat([chains, asked], ignore_index=True)
table = results.judge(chains, limits)
print(f"{len(table)} answers of {table['model'].nunique()} models, judged now")

# %% [markdown]
# Items are shown as the paper poses them. A model that reads no images was asked the three pictured types in words.
#
# ## Two guessers
#
# **The plain prior** (`matpcr/chance`) draws: an angle from anywhere on the axis, a length of any order of magnitude, a class by a coin. It knows which
# kind of answer is wanted and no more. How often its claims pass is the {term}`chance-pass rate`, in this chapter the *level*.
#
# **The guesser** (`matpcr/guesser`) says to a question what passes on most of the references. It does not look at the item, but it knows the
# collection, the item's own reference included. This is what it has found:

# %%
best = guesses.best_claims(n_items)
shares = {name: "{:.3f}" for name in ("on_references", "on_items", "prior_on_items")}
best.style.hide(axis="index").format(shares, na_rep="–")

# %% [markdown]
# *On references* is the share of all the package's references on which the claim passes, *on items* that of the items that ask this question. The last
# column is what the prior's claims score on these. Some rows need an explanation.
#
# ### Why that angle?

# %%
claims, passed = guesses.passes("diffraction", "two_theta", limits["diffraction"])
by_floor = {1.0: passed.mean(axis=1)}
for floor in (0.0, 5.0):
    other = diffraction.Tolerances(tolerance, intensity_floor=floor)
    by_floor[floor] = guesses.passes("diffraction", "two_theta", other)[1].mean(axis=1)
shifts, found = guesses.passes("spectra", "raman_shift")

# %% mystnb={"figure": {"name": "fig-guesser-curves", "caption": "Share of all references on which a claim passes. Left: an angle, for three floors of intensity below which a line does not count (percent of the strongest; 1 % is the oracle's). Right: a Raman shift."}, "image": {"alt": "Left, three noisy curves rising from a few percent at 10 degrees; without a floor the curve rises to the end, with the oracle's floor it flattens into a plateau, with a higher floor it falls again. Right, a curve that is zero nearly everywhere, with a few narrow spikes."}}
from matpcr_utils.plotting import guessing as figures

figures.curves(claims.value, by_floor, shifts.value, found.mean(axis=1))
plt.show()

# %% [markdown]
# A line stands for every set of lattice planes, and the planes are the points of the reciprocal lattice. The number of points in a shell grows with the
# square of its radius, so that lines crowd as the angle grows, roughly as $\sin^2\theta\cos\theta$: the dashed curve, where every line counts,
# climbs nearly to the end of the window. But lines also fade, since atoms are not points and vibrate. The oracle's floor removes the faint ones, and
# with a higher floor (dotted) the best angles lie where the strong lines are. In between the two effects balance, and there is a plateau:

# %%
share, n = by_floor[1.0].max(), passed.shape[1]
near = claims.value[by_floor[1.0] >= share - (share * (1 - share) / n) ** 0.5]
print(f"best: {claims.value[by_floor[1.0].argmax()]:g}°, {share:.3f} of {n} references")
print(f"{len(near)} angles come within its standard error, from {near.min():g}° to {near.max():g}°")

# %% [markdown]
# With the defaults, then, there is nothing to that angle. The best of many equals is luck, and its share is a little too good. What counts is the
# height of the plateau, which the tolerance sets.
#
# The Raman curve is another matter. It is zero nearly everywhere, and its spikes are the bands of the few materials in the collection, 520 cm⁻¹ being
# silicon. Here the guesser says something about *these spectra*.
#
# ### Why classes give nothing away here
#
# Look at "stable" in the table. On the references it passes nearly always, for most of a database of calculated crystals lies near the hull. On the
# items it passes about every second time, because {doc}`items are drawn in equal numbers <items>` from both sides of the threshold. Whoever evaluates
# on materials drawn at random from such a database gives away what *on references* says.
#
# ## What they score

# %%
chance = table[table["model"] == "matpcr/chance"]
guess = table[table["model"] == "matpcr/guesser"]
check = guessing.prior_check(chance, **how)
cells = guessing.cells(table, guess, **how)

# %% mystnb={"figure": {"name": "fig-guesser-scores", "caption": "PCR of the two guessers, from their recorded answers, with 95 % intervals over sources. Upright bars: the level that is computed for the prior on the same items."}, "image": {"alt": "Six rows, one a constraint type, with a round marker for draws from the prior and a diamond for the guesser. Round markers lie at the upright bars; the diamonds lie further right on diffraction, microscopy and above all spectra, and at one half on the other three."}}
figures.scores(check, cells[cells["model"] == "matpcr/guesser"])
plt.show()

# %% [markdown]
# Does the computed level agree with what was recorded? If each draw on item $i$ passes with its own probability $c_i$, the number of passes has a
# known distribution (Poisson binomial), and an exact test. There is one test a row, so the last column is corrected for their number (Holm).

# %%
check.style.hide(axis="index").format(precision=3)

# %% [markdown]
# A small number in the last column would mean that prior and evaluee are not the same thing, and that the correction below is made with a wrong level.
# (One of six uncorrected values near one in twenty is no rarity. That is what the correction is for.)
#
# The second guesser scores more where it knows something: more than half on diffraction and microscopy, and most of the spectra. It does so without a
# look at a single item. Its *accuracy* tells what these passes are worth:

# %%
guess.groupby("constraint", sort=False)["accurate"].mean().to_frame("accuracy").T

# %% [markdown]
# ## Taking it off
#
# Suppose a model knows the answer to a share $k$ of the items and guesses the rest, each guess passing with probability $c$. Then
#
# $$\mathrm{PCR} = k + (1 - k)\,c \quad\Rightarrow\quad k = \frac{\mathrm{PCR} - c}{1 - c}.$$
#
# This is the old correction for guessing of test theory, and the form of [Cohen's κ](https://doi.org/10.1177/001316446002000104) with the guesser as
# the second rater. It is 0 for a guesser and 1 when everything passes. Below 0 a model does worse than guessing. One rate is worth very different
# things:

# %%
level = check.set_index("constraint")["chance"]
worth = {f"PCR {rate:g}": (rate - level) / (1 - level) for rate in (0.5, 0.7, 0.9)}
pd.DataFrame(worth).assign(chance=level).style.format("{:+.2f}").format("{:.2f}", ["chance"])

# %% [markdown]
# Now for the recorded models, with both guessers as baselines. Each item has its own $c_i$, on diffraction the share of its axis that is covered. In
# the bootstrap it stays with the item's verdicts, and items of one source are drawn together. Against the guesser, $c_i$ is 1 or 0: its claim passes
# on this item or it does not.

# %% mystnb={"figure": {"name": "fig-guesser-corrected", "caption": "What is left of PCR above each of two guessers, with 95 % intervals over sources. Filled: differs from guessing by an interval that holds jointly over all cells. Arrow: further to the left."}, "image": {"alt": "Six panels with a row a model and two markers in each row. The instrument lies near one on diffraction, microscopy and spectra and between zero and one on metallicity and magnetism; most of the other markers are open and their intervals cross the line at zero."}}
figures.corrected(cells)
plt.show()

# %% tags=["hide-input"]
names = ["model", "constraint", "modality", "n", "n_sources", "pcr", "chance"]
ends = ["corrected", "corrected_lower", "corrected_upper", "against_chance"]
over = ["guess", "over_guess", "over_guess_lower", "over_guess_upper", "against_guess"]
cells[[*names, *ends, *over]].style.hide(axis="index").format(precision=3, na_rep="–")

# %% [markdown]
# The words compare each cell with 0 by an interval that is wide enough for all cells at once (Bonferroni). A dash stands where nothing was judged,
# where the guesser is compared with itself, or where it fails on too few sources for a comparison. Where all chains agree, the interval is Wilson's,
# for the bootstrap has nothing to vary.

# %%
real = cells[~cells["model"].isin(["matpcr/chance", "matpcr/guesser"])]
for kind, what in (("against_chance", "the plain prior"), ("against_guess", "the guesser")):
    for name, own in real.dropna(subset=[kind]).groupby("model", sort=False):
        same = own.loc[own[kind] != guessing.BETTER, "constraint"]
        print(f"{name}, not above {what}: {', '.join(same) or 'none'} ({len(same)} of {len(own)})")

# %% [markdown]
# "Not above" is not "the same as": an interval that includes 0 may also include a good deal of knowledge. It says that these answers do not show any.
# A marker left of 0 means that guessing did better. With the defaults an interval of the small model ends below 0, and none of those that hold jointly
# over all cells does: among so many, one such is no surprise.
#
# With the defaults, two cells deserve a second look. On stability the instrument has a rate above one half and nothing that is distinguishable from
# guessing: its rules of chemistry do not tell which phase is near the hull. And the small language model, which knows almost nothing, beats the prior
# on microscopy.
#
# ## Why a high rate on microscopy means little
#
# Two questions are asked of a micrograph. Take them apart:

# %%
from matpcr_utils.evaluation import catalog

own = table[table["constraint"] == "microscopy"]
own = own.assign(asks=[catalog.get(item_id).asks for item_id in own["item_id"]])
by_question = guessing.cells(
    own, own[own["model"] == "matpcr/guesser"], ["asks", "model", "constraint"], **how
).sort_values("asks", kind="stable")
shown = ["asks", "model", "n", "pcr", "lower", "upper", "chance", "guess", "corrected"]
by_question[shown].style.hide(axis="index").format(precision=3, na_rep="–")

# %% [markdown]
# A **size** passes if it fits into the field of view. One nanometre fits into every one, so a guesser scores 1, and nobody can do better. A PCR on such
# items measures the habit of naming small numbers. A **scale** has to agree with the calibration, and there guessing is hopeless. A rate over both
# is a mixture whose worth depends on how many items ask which, and it can't be read without that.
#
# This is how the small model got above the prior: its sizes are small, and with the defaults none of its scales is right. Above the prior and not above
# the guesser is what naming small numbers looks like.
#
# ## What the question gives away
#
# Most Raman items name a range: *where is the strongest band between … and … cm⁻¹?* Without it, it would often be unclear which band is meant. But the
# range was chosen because there is a band in it. Let guessers know more and more:

# %% mystnb={"figure": {"name": "fig-guesser-told", "caption": "What guessers score on the Raman items, by what they know. None of them looks at the item when it answers."}, "image": {"alt": "Six rows; the first four, from knowing nothing to knowing the range and the spectra of other materials, lie near zero, the fifth at about one half and the last at about seven tenths."}}
ladder = guesses.told(n_items, resamples=resamples, seed=seed)
figures.told(ladder)
plt.show()

# %% [markdown]
# The last row is the recorded guesser. The range alone multiplies the score of blind draws, but leaves it small. The best single shift, without the
# range, does not get far either. Together they score: the range tells *which* of the known bands is meant.
#
# The rows above the last one say where the knowledge comes from. Without the item's own spectrum, much of the score goes: that part was the test
# set itself. Without all spectra of the item's material, nearly all of it goes. The guesser has learnt no spectroscopy; it knows the materials of a
# small collection. A model that has read about them in training can do the same, which no oracle notices. A larger collection gives less away.
#
# ## What the tolerance gives away
#
# On diffraction the level is a matter of the tolerance ({doc}`../oracles/diffraction` shows it by crystal system). Judge the same answers again:

# %%
steps = sorted({*guessing.TOLERANCES, tolerance})
sweep = guessing.swept(chains, steps, resamples=resamples, seed=seed)

# %% mystnb={"figure": {"name": "fig-guesser-tolerance", "caption": "The same answers at several tolerances: PCR, and what is left above the plain prior at that tolerance. Shaded: 95 % intervals over sources. Dotted: the chapter's tolerance."}, "image": {"alt": "Left, rates against the tolerance: the instrument stays near one, the others rise along the dashed chance level. Right, the same above chance: the instrument stays near one and the others near zero."}}
figures.tolerance(sweep, tolerance)
plt.show()

# %%
rates = sweep.pivot_table("pcr", "model", "two_theta", sort=False)
rates.style.format("{:.3f}").format_index("±{:g}°", axis=1)

# %% [markdown]
# On the left everybody who was not perfect gets better, and none of them has changed a word. On the right the level is taken off. Draws from the prior
# stay near zero, as they should, and the guesser keeps the lead of somebody who knows where lines crowd. What an instrument that reads the plot loses
# at a sharp tolerance is real: there it comes down to the width of a pixel.
#
# Models near the level change places easily when the tolerance moves. How far does the order of the models agree with that at the chapter's tolerance?

# %%
order = rates.corr(method="kendall")[tolerance].drop(tolerance).dropna()
taus = ", ".join(f"{tau:+.2f} at ±{step:g}°" for step, tau in order.items())
print(f"Kendall's τ of {len(rates)} models: {taus or 'not defined, for they tie'}")

# %% [markdown]
# With so few models τ is coarse. But it shows what to look for: an order of models that all sit near their level is an order of accidents.
#
# ## What the correction takes for granted
#
# - **The prior is a choice.** A wider prior passes less often and makes every model look better. The two baselines of the figure are the ends of a
#   scale: one knows the form of the answer only, the other knows the collection. Which to use depends on what one may suspect of the model.
# - **The level is taken as known.** It is computed from the oracle's references on these items. If a reference is wrong, PCR and level are wrong together.
# - **Guess or know.** The formula above has no place for a model that is sure and wrong, or that prefers a class. Then $k$ is no share of anything; it
#   is still a rate on a scale where guessing is 0.
# - **Silence is free.** A model may leave out what it does not know. The correction sees the answers only; read *coverage* beside it ({doc}`evaluation`).
# - **It is not accuracy.** A band that is there, and not the one that was asked for, passes. What passes above chance may still be wrong ({doc}`accuracy`).
#
# ## Published beside measured

# %%
by = cells[cells["model"] == "matpcr/guesser"].set_index("constraint")
said = {name: f"not these models; guesser {guessing.in_words(by.loc[name])}" for name in by.index}
measured = {
    f"matterchat_pcr_{name}": said[name] for name in ("stability", "metallicity", "magnetism")
}
measured |= {f"pcr_{name}_range": said[name] for name in ("microscopy", "spectra")}
span = f"Kendall's τ {taus or 'not defined'}; {len(rates)} models, not the paper's"
measured["diffraction_rank_agreement_tolerance"] = span
published.beside("guesser", measured)

# %% [markdown]
# The columns are about other models and other items. Our levels are not those of the paper's items, which we do not have, so that no difference of the
# two columns is a measurement of anything. What they show side by side is how large a level *can* be.
#
# ## Exercises
#
# ```{exercise} What would it mean?
# :label: ex-guesser-published
# Suppose the paper's items had our levels. What would be left of the published rates in the table, above the plain prior? And suppose that the
# structures on which MatterChat was asked were drawn from a database like our snapshot, without balance: what would be left above a guesser who
# always says the commonest class? (`best` has its share.) Which of the numbers may you quote?
# ```
#
# ```{solution} ex-guesser-published
# :class: dropdown
# ~~~python
# def left(rate, c):
#     return (rate - c) / (1 - c)
#
# for name in ("microscopy", "spectra"):
#     rates = map(float, published.get(f"pcr_{name}_range").value.split("–"))
#     print(name, *(f"{left(rate, level[name]):+.2f}" for rate in rates))
# commonest = best.drop_duplicates("constraint").set_index("constraint")["on_references"]
# for name in ("stability", "metallicity", "magnetism"):
#     rate = float(published.get(f"matterchat_pcr_{name}").value)
#     print(name, f"{left(rate, level[name]):+.2f} {left(rate, commonest[name]):+.2f}")
# ~~~
# Above a coin, all three of MatterChat's rates leave a good part. Above the commonest class, that of stability is *negative*: on such a sample one
# word, said to everything, would have scored more. The sample of the paper may have been another, so neither number is a result and none may be
# quoted. What follows is only this: a rate without the guesser's rate on the same items can't be read.
# ```
#
# ```{exercise} Who is first?
# :label: ex-guesser-order
# Two models answer the same items. Can the correction change which of them is ahead, within one constraint type? And in the mean over several types?
# ```
#
# ```{solution} ex-guesser-order
# :class: dropdown
# Within a type, no: on the same items both rates go through the same rising line, $(x - c)/(1 - c)$. (If one of the models was judged on fewer items,
# its $c$ is another one, and then yes.) In a mean over types, yes: the lines have the slopes $1/(1 - c)$, so that a lead of a hundredth counts for
# more where more was free. Compare `real.groupby("model")[["pcr", "corrected"]].mean()`. Whether that weighting is wanted is a question of its own:
# noise is multiplied by the same slope.
# ```
#
# ```{exercise} A tolerance that gives away little
# :label: ex-guesser-tolerance
# At which tolerance would blind draws pass on at most one in ten of our diffraction items? What does the instrument pay for it?
# ```
#
# ```{solution} ex-guesser-tolerance
# :class: dropdown
# ~~~python
# own = chains[(chains["constraint"] == "diffraction") & (chains["model"] == "matpcr/instrument")]
# for width in (0.01, 0.02, 0.03, 0.05):
#     sharp = {"diffraction": diffraction.Tolerances(width)}
#     blind = guessing.item_chance(own["item_id"], sharp).mean()
#     passing = (results.judge(own, sharp)["outcome"] == "consistent").mean()
#     print(width, round(blind, 3), round(passing, 3))
# ~~~
# Far below the default, and below what can be read off a plot: honest readings of the instrument fail. A sharper question is the better remedy.
# Asking for three lines at once, all of which must pass, takes an item's level to its third power, if the guesses are independent.
# ```
#
# ## In short
# - What passes unseen is measured by guessers: one that draws from a plain prior, and one that says what passes most often.
# - Recorded draws agree with the level that is computed for them; that check is what makes the correction trustworthy.
# - $(\mathrm{PCR} - c)/(1 - c)$ takes the level off. Balanced items, a sharp tolerance and questions that no single answer satisfies keep it low.
# - Knowing the collection can score far more than the prior. Both baselines belong beside a rate.
# - The level depends on a prior that somebody chose. State it with the number.
