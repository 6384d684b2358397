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
# (evaluation)=
# # Model evaluation: from a question to a rate
#
# A model reads a question, writes an answer, and in the end one number is printed. What happens in between, and at which step could the number be
# about something else than physics?
#
# After this chapter you can
# - follow one answer from its prompt to its verdict, and say which run it comes from,
# - run the same evaluation on your own model by changing one parameter,
# - see whether a model answers a question or repeats an example that it was shown,
# - say how many answers were read, how well, and what that does to the rate.
#
# *Time: 30 minutes. Prerequisites: {doc}`items`; {doc}`../start/claims`.*

# %% [markdown]
# ## What the paper reports

# %% tags=["hide-input"]
from matpcr_utils import published

published.table(chapter="evaluation")

# %% [markdown]
# ## Parameters
# Change these and run the chapter again: `matpcr run notebooks/models/evaluation -p model openai/gpt-4o`.

# %% tags=["parameters"]
model: str = "matpcr/smollm2"  # as Inspect AI names it, e.g. openai/gpt-4o
constraints: str = "all"  # all, one constraint type, or several with commas between them
n_items: int = 96  # items a constraint type, from 1 to 110
seeds: int = 3  # answers an item
prompt_version: str = "v1"  # wording: v1, v2 or v3
modality: str | None = None  # image or text; None shows each item as the paper poses it
examples: int | None = None  # worked examples in a prompt, to 3; None: as recorded, else none
live: bool = False  # ask the model even if its answers are recorded
seed: int = 0  # of the choice of the chains that are shown, and of the bootstrap at the end

# %% [markdown]
# Answers that ship with the book are judged anew whenever this page is built; no model is asked, but the oracles are those of today. A model without
# recorded answers is asked, and so is one with them if they do not hold every item and seed that the parameters call for. Which of the two happened
# is always said:

# %%
from matplotlib import pyplot as plt

from matpcr_utils import items
from matpcr_utils.evaluation.study import study

how = {"n_items": n_items, "seeds": seeds, "prompt_version": prompt_version}
result = study(model, constraints, modality=modality, examples=examples, live=live, **how)
table = result.table
print(result.source)

# %% [markdown]
# With the defaults the model is SmolLM2-135M-Instruct ([Allal et al., 2025](https://arxiv.org/abs/2502.02737)), whose weights are small enough to
# come from a package index. It is a real language model, trained on text as the large ones are, and it answers in sentences of its own. It knows
# almost no materials science. So the chapter shows what an evaluation does with real model output; it shows nothing about what language models can
# do.
#
# ## One answer, step by step
#
# This is a question as the model gets it. Worked examples stand before it where they were shown: a model as small as the default one keeps to no form
# without them.

# %%
from matpcr_utils.evaluation import answers

row = answers.pick(table, seed)
item = items.get(row["item_id"])
print(items.prompt(item, row["prompt_version"], row["modality"], row["examples"]))

# %% [markdown]
# And this is what becomes of it: an answer; the claims that {doc}`the reader <../start/claims>` finds in it; the oracle's verdict on the claims; and,
# apart from the verdict, whether the answer is the accurate one.

# %%
answers.trace(row).style.hide(axis="index")

# %% [markdown]
# The verdict is made of the answer and the reference alone. The prompt, the model's name and the truth of the item play no part in it.
#
# ## Where every number comes from
#
# An answer is kept with all that made it. Each row of the table below belongs to a run, and each run says what was asked, when, and with what:

# %% tags=["hide-input"]
answers.provenance(table).style.hide(axis="index")

# %% [markdown]
# With the small model, seed 0 is greedy and the other seeds are sampled. A hosted model keeps its provider's sampling, as in the paper, so that
# its seeds are only repetitions. Not recorded is what a provider does not tell, such as the version that serves a name on that day.
#
# ## The rates

# %% mystnb={"figure": {"name": "fig-evaluation-outcomes", "caption": "Left: what became of the answers. Right: the physical-consistency rate of those that could be judged, with its 95 % interval over sources; the upright bar is what claims drawn from a plain prior score on the same items."}, "image": {"alt": "Left, a stacked bar a constraint type with the shares that are consistent, violate, state no claim or were not asked; right, a rate with its interval and a bar for chance."}}
from matpcr_utils.plotting import evaluation as figures

figures.outcomes(table, result.summary)
plt.show()

# %%
answers.cells(result.summary).style.hide(axis="index")

# %% [markdown]
# Read PCR last. *Chance* says what a guess without a look at the item would score, *accuracy* how often the answer is the right one, and *coverage* how
# many of the answers the rate is about at all. A rate in the reach of chance, at an accuracy as low, is no evidence of physics in the model.
# {doc}`pcr` and {doc}`guesser` take this further.
#
# ## An image for a model that reads none
#
# Three constraint types are posed as images. A model that takes text only can't be asked these, and is not: such items are recorded as unsupported.
# They are no errors of the model and enter no rate.

# %%
counts = table.groupby("constraint")["unsupported"].agg(["sum", "size"])
print("\n".join(f"{name}: {k} of {n} not asked" for name, k, n in counts.itertuples()))

# %% [markdown]
# The same items exist in words ({doc}`items`). That is another task, an easier one in some ways and a harder one in others, and it makes another row.
# What was left out above is asked in words here:

# %%
import pandas as pd

words = result
if result.unsupported:
    words = study(model, result.unsupported, modality="text", examples=examples, live=live, **how)
    table = pd.concat([table, words.table], ignore_index=True)
print(words.source if result.unsupported else "nothing was left out")
left_out = words.summary["constraint"].isin(result.unsupported)
answers.cells(words.summary[left_out]).style.hide(axis="index")

# %% [markdown]
# With the defaults, two of these rates lie above chance while hardly an answer is right. An oracle asks whether a claim is possible here, and a number
# that was repeated, out of the table of readings or out of an example, often is. {doc}`accuracy` is about this gap.
#
# ## Does it answer, or repeat what it was shown?
#
# A small model that is shown examples may simply say one of them again. How often would an answer state an example's value if the model did *not* copy?
# The accurate answers tell: some of them happen to be an example's value, most often zero.

# %% mystnb={"figure": {"name": "fig-evaluation-copies", "caption": "Questions for a number: what the model's answers state, and what accurate answers to the same questions would."}, "image": {"alt": "Pairs of stacked bars, a pair a question: a large part of the model's answers states the value of a worked example, the accurate answers mostly state other values."}}
from matpcr_utils.evaluation import copies

found = copies.find(table)
figures.copies(found)
plt.show()

# %%
copies.told(copies.rates(found)).style.hide(axis="index")

# %% [markdown]
# *Excess* is the difference of the two shares, with its interval. Where a class is asked for, the examples hold most classes, and a value proves
# nothing. There the *words* tell: how many answers share five words in a row with the reason that a shown example gives, and, to compare, with the
# reason of an example that was not shown.
#
# This is what a copy looks like from inside, if there is one:

# %%
copied = found[(found["example"] > 0) & (found["truth_example"] == 0)]
chosen = table.merge(copied[["item_id", "seed", "modality"]]) if len(copied) else table
answers.trace(answers.pick(chosen, seed)).style.hide(axis="index")

# %% [markdown]
# An oracle with a wide tolerance may well pass such a value. With the defaults, copies are the rule where the answer can't be read off the input (gap,
# energy, moment), and fewer where the input offers numbers of its own to repeat. Those rates measure the worked examples. Whoever shows examples should
# count copies before quoting PCR.
#
# ## One answer or several?
#
# The paper takes three seeds of each condition. Do they tell more than one does?

# %% mystnb={"figure": {"name": "fig-evaluation-seeds", "caption": "PCR of each seed alone, with its 95 % interval over sources."}, "image": {"alt": "Groups of points with vertical intervals, a group a constraint type, a point a seed; most intervals within a group overlap."}}
from matpcr_utils.evaluation import seeds as by_seed

per_seed = by_seed.rates(table)
figures.seeds(per_seed)
plt.show()

# %%
by_seed.agreement(table).style.hide(axis="index").format(precision=2)

# %% [markdown]
# Two answers to one item agree in their verdict more often than in their words. That is why intervals resample items, or rather the sources of
# items, and never answers: three answers that agree are one observation. Whether one seed scores differently from another is a paired question, for the
# items are the same:

# %%
by_rate, by_coverage = by_seed.compare(table), by_seed.compare(table, "coverage")
for what, pairs in (("PCR", by_rate), ("coverage", by_coverage)):
    print(f"{what}: {(pairs['p_holm'] < 0.05).sum()} of {len(pairs)} pairs of seeds differ")

# %% tags=["hide-output"]
by_seed.told(by_rate).style.hide(axis="index").set_caption("PCR, on items that both let judge")

# %% tags=["hide-output"]
by_seed.told(by_coverage).style.hide(axis="index").set_caption("Coverage, on all items")

# %% [markdown]
# A pair differs when its exact McNemar test, corrected by Holm for the number of pairs, gives less than 0.05.
#
# With the defaults, some seeds differ in coverage, among them the two that were sampled at one temperature, and by far more than they could if
# every answer were sampled by itself. They are not: the sampler starts all answers of a seed from the same random numbers, so that a draw which
# leads away from the form does so for many items at once. An interval over items holds the seed fixed and knows nothing of this. Three seeds are
# too few to measure it, and reason enough not to quote one alone.
#
# ## How the answers end

# %%
answers.stops(table).style.hide(axis="index")

# %% [markdown]
# An answer that was cut (`max_tokens`) may have lost its claim; a refusal (`content_filter`) never had one. Both lower the coverage, for reasons that
# have nothing to do with physics.
#
# ## Was the answer read?
#
# A verdict needs a claim, and a claim has to be read by a program. Two things can go wrong: a claim is there and is missed, or one is read
# that nobody made. First, how many answers give anything to judge, over all recorded models:

# %% mystnb={"figure": {"name": "fig-evaluation-coverage", "caption": "Share of the answers in which a claim was read, with 95 % intervals over sources."}, "image": {"alt": "Two panels, items shown as images and as text, with a row a constraint type and a marker a model; the markers of the small model lie below those of all others, which lie near one."}}
from matpcr_utils.evaluation import parsing, recorded

everything = pd.concat([recorded.load(), recorded.load(modality="text")])
asked = pd.concat([everything[everything["model"] != model], table[everything.columns]])
asked = asked.drop_duplicates(["model", "item_id", "seed", "modality"])
shares = parsing.coverage(asked)
figures.coverage(shares)
plt.show()

# %%
parsing.reasons(asked).style.hide(axis="index")

# %% [markdown]
# The instrument and the guessers speak in one form, which the reader was built to know; that they are read proves nothing. So answers of the small
# model were drawn at random and labelled. As in the paper's precision audits (its section 4.10), there is a single annotator:

# %%
from IPython.display import Markdown

from matpcr_utils.evaluation import labels

compared = parsing.compare()
Markdown(labels.rules())

# %% mystnb={"figure": {"name": "fig-evaluation-extractor", "caption": "The reader against the labels, with the number of labelled answers. Precision: of the claims that were read, how many are stated. Recall: of the stated claims, how many were read. Same verdict: the oracle says the same of both."}, "image": {"alt": "Three panels of shares with intervals, precision, recall and same verdict, a row a constraint type and modality and one for all."}}
scored = parsing.scores(compared, seed=seed)
figures.extractor(scored)
plt.show()

# %%
overall = scored.iloc[-1]
for name in ("precision", "recall", "same_outcome"):
    ends = f"[{overall[f'{name}_lower']:.3f}, {overall[f'{name}_upper']:.3f}]"
    print(f"{name.replace('_', ' ')}: {overall[name]:.3f} {ends}, {overall['chains']} answers")

# %% [markdown]
# Each answer counts for as many as it stands for, since rare kinds were drawn more often than their share. Every error in the sample is in this table:

# %% tags=["hide-output"]
wrong = parsing.errors(compared)
wrong.style.hide(axis="index").format(precision=1)

# %%
print(wrong["error"].value_counts().to_string())

# %% [markdown]
# Behind many of them stands an answer that repeats the prompt, speaks of something else than the material, or makes no sense. The reader follows words,
# and such an answer has the right words. A misread claim often stands in an answer with another one, so that fewer verdicts change than
# claims are misread.
#
# And this is why answers state nothing, in the words of the annotator:

# %%
parsing.silence(compared).style.format({"share": "{:.1%}"})

# %% [markdown]
# The sample is of one model, whose sentences are short and few in kind. It says nothing of how the chains of a large model would be read, which are
# longer, change their mind and compare materials. For your own model, draw a sample (`labels.draw`), label it, and pass both to `parsing.compare`.
#
# ## Your own model
#
# ```
# matpcr run notebooks/models/evaluation -p model openai/gpt-4o    # this page, with its figures
# matpcr evaluate --model openai/gpt-4o --seeds 3                   # the table alone
# inspect eval matpcr/stability --model openai/gpt-4o               # one task, in Inspect AI's own viewer
# matpcr evaluate --chains my_chains.csv                            # answers that you have already
# ```
#
# The first three go through [Inspect AI](https://inspect.aisi.org.uk), and so take whatever providers it knows: hosted models, or a server of your
# own by `--base-url`. A key is read from the provider's usual variable, such as `OPENAI_API_KEY`; without it the call stops and says so.
#
# A run that breaks off goes on when the same command is given again: every answer is kept when it arrives, and is not paid for twice. Here is a run, and
# the same call once more:

# %% tags=["remove-output"]
import tempfile

with tempfile.TemporaryDirectory() as folder:
    small = {"n_items": 4, "seeds": 1, "live": True, "out": folder}
    first, again = (study("matpcr/guesser", "stability", **small) for _ in range(2))

# %%
print("the same answers:", first.table["created"].equals(again.table["created"]))
print("the same verdicts:", first.table.equals(again.table))

# %% [markdown]
# Answers from another harness need four columns, `item_id`, `model`, `seed` and `chain`, as CSV or JSONL. They get the same verdicts:

# %%
from pathlib import Path

from matpcr_utils.evaluation import results

own = first.table[["item_id", "model", "seed", "chain"]]
with tempfile.TemporaryDirectory() as folder:
    own.to_csv(Path(folder) / "my_chains.csv", index=False)
    judged = results.from_chains(Path(folder) / "my_chains.csv")
judged[["item_id", "chain", "outcome", "reason"]].style.hide(axis="index")

# %% [markdown]
# ### The models of the paper
# None of them was run for this book. This is what would run each, and what is not known:

# %%
answers.roster().style.hide(axis="index")

# %% [markdown]
# ## Published beside measured

# %%
from matpcr_utils.statistics import bootstrap_pcr

pooled = bootstrap_pcr(table["outcome"], table["source_id"], seed=seed)
published.beside(
    "evaluation",
    {
        "models_evaluated": f"1 here, {model}; none of the paper's",
        "pcr_lowest": f"not that model; {model}: {pooled}",
        "seeds_per_condition": str(table["seed"].nunique()),
    },
)

# %% [markdown]
# The paper's models saw its own items, ours sees ours; the two columns can't be compared, only read. Rank agreement over wordings needs several models
# with recorded answers in several wordings, which is a run of its own (`prompt_version`).
#
# ## Exercises
#
# ```{exercise} Whose number is it?
# :label: ex-evaluation-examples
# Take the questions for a magnetization. What PCR would a model get that always says the value of the first worked example? Compute it
# without asking any model, and compare it with the row of magnetism.
# ```
#
# ```{solution} ex-evaluation-examples
# :class: dropdown
# ~~~python
# value = copies.example_values("magnetism/magnetization")[0]
# ids = [i.item_id for i in items.load("magnetism", n_items) if i.asks == "magnetization"]
# rows = pd.DataFrame({"item_id": ids, "model": "copier"})
# rows["chain"] = f"The net magnetization is {value} μB per formula unit."
# rows.to_csv("copier.csv", index=False)
# results.from_chains("copier.csv")["outcome"].value_counts(normalize=True)
# ~~~
# The oracle asks for the right class, and then for the right order of magnitude. A moment of a few Bohr magnetons per formula unit is of the right
# order for nearly every magnet, so the copier passes on those and on nothing else. What looks like a rate of the model is a property of one
# sentence in the prompt and of the mix of the items.
# ```
#
# ```{exercise} No examples
# :label: ex-evaluation-none
# Run `matpcr run notebooks/models/evaluation -p examples 0 -p constraints stability -p n_items 20 -p seeds 1`. Which number of the page changes most, and
# why is PCR not the one to look at?
# ```
#
# ```{solution} ex-evaluation-none
# :class: dropdown
# The coverage. Without a form to follow the small model writes text in which hardly anything can be checked. PCR is then a rate over the few
# answers that happen to state something, with an interval to match. Two models, or two wordings, with different coverage are judged on different
# items: compare them on the items that both let judge, or report coverage beside PCR.
# ```
#
# ```{exercise} Missed claims
# :label: ex-evaluation-missed
# Suppose the reader misses a share $m$ of the stated claims, and that a missed claim violates with probability $v_m$ while one that was read
# violates with probability $v$. By how much is PCR off? When does it not matter how many are missed?
# ```
#
# ```{solution} ex-evaluation-missed
# :class: dropdown
# The measured rate is $1 - v$; with all claims it would be $1 - [(1 - m)\,v + m\,v_m]$. The first minus the second is $m\,(v_m - v)$. If claims are missed
# regardless of whether they are right, $v_m = v$, and PCR is not moved at all, whatever the recall. A reader that stumbles over unusual answers
# may well miss the wrong ones more often, and PCR then comes out too high. Recall alone can't tell; *same verdict* comes nearer.
# ```
#
# ## In short
# - An answer is kept with all that made it and judged whenever the page is built. Each number can be traced to a run.
# - Coverage, accuracy and chance belong beside every PCR. What a model was not asked is no error.
# - Worked examples make a small model answer in form, and make it repeat them. Count the copies.
# - Several answers to an item are one observation, and answers that share a seed share its luck.
# - How well answers are read is measured on labelled ones, by constraint type, and its errors are shown.
