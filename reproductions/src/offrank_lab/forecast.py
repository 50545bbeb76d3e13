"""What the error of an estimator will be under a design, before there is a log: exact second moments of its terms.

A design is a logging policy. Users are position-based: an item at a rank is clicked with a known probability, whatever
stands around it. Then the term of an impression, sum_k w_k c_k less what normalises it, has moments that follow from
the laws of the policies. Weights of items need the probabilities of items at ranks, and of pairs of these; weights of
slates only the probabilities of the slates that the target and production show, as they are 0 elsewhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from offrank.checks.rows import ImpressionsFold
from offrank.errors import ColumnError, UsageError
from offrank.estimators.layout import BLOCKS
from offrank.language.formatting import percent
from offrank.log.batch import Contexts, Floats, Integers
from offrank.log.source import Needs, Source, has_clicks
from offrank.policies.base import Policy, all_items
from offrank.readers.log import opened
from offrank.running.executors import run
from offrank.sums.base import Tee
from offrank.sums.sampled import SampledRowsFold
from offrank.wording import ColumnNames, Option, Wording

ESTIMATORS = {"ips": "as a whole slate", "ipm": "at its rank", "pbm": "in every slate"}
ESTIMATORS |= {"snips": ESTIMATORS["ips"], "snipm": ESTIMATORS["ipm"]}
"""Estimators whose errors are forecast, and how a design has to show what the target does."""
MEANS = "arm means"
LISTED, DRAWS = 120, 100_000
"""Slates of a context that are all looked at, if there are no more; otherwise so many of all contexts are drawn."""
QUERIES, CANDIDATES, SLOTS, CLICKS = 10_000, 200_000, 10, 0.3
"""Contexts that are looked at, with so many candidates; ranks, and clicks per impression, where nobody says."""
_SURE, _NEVER = 1 - 1e-9, -300.0
_EXAMPLE = '{"candidates": ["a", "b"], "old_score": [0.2, 0.7], "new_score": [0.4, 0.1]}'
Moments = tuple[Floats, Floats]
"""Of the terms of an impression in each context [q], their mean and their mean square."""


@dataclass(frozen=True)
class Forecast:
    """Forecasts of a target and of production, under any design.

    share: [q] how often each context is met, adds up to 1. clicks: [q, m, k] probability of a click on each candidate
    at each rank. examination: [k].
    """

    contexts: Contexts
    share: Floats
    clicks: Floats
    examination: Floats
    target: Policy
    production: Policy
    _ranks: dict[Policy, Floats] = field(default_factory=dict, init=False, repr=False)

    def ranks(self, policy: Policy) -> Floats:
        """[q, m, k] probability of each candidate at each rank."""
        if policy not in self._ranks:
            self._ranks[policy] = policy.law("rank_probs").rank_probs(self.contexts, all_items(self.contexts))
        return self._ranks[policy]

    def value(self, policy: Policy) -> float:
        """Clicks per impression."""
        return float(self.share @ (self.ranks(policy) * self.clicks).sum(axis=(1, 2)))

    def moved(self, design: Policy) -> float:
        """The share of examination that a design takes from where production has it, and gives to other items."""
        seen, usual = (self.ranks(one) @ self.examination for one in (design, self.production))
        return float(self.share @ np.maximum(usual - seen, 0.0).sum(axis=1) / (self.share @ usual.sum(axis=1)))

    def arm(self, design: Policy) -> float:
        """The share of the target in a design that shows either it or production; 0 of any other."""
        n, pair = len(self.share), (self.target, self.production)
        arms = design.expected(self.contexts, lambda part: np.full((n, 2), [part == one for one in pair], np.float64))
        return float(arms[0, 0]) if arms[0].min() > 0 and arms[0].sum() > _SURE else 0.0

    def variance(self, moments: Moments) -> tuple[float, float]:
        """The variance of the term of an impression, and its standard error over it: the contexts are a sample."""
        mean, square = moments
        found = max(float(self.share @ square - (self.share @ mean) ** 2), 0.0)
        each = square - 2 * (self.share @ mean) * mean
        return found, float(np.sqrt(self.share**2 @ (each - self.share @ each) ** 2)) / (found or math.inf)

    def found(self, design: Policy, estimator: str) -> tuple[Moments, Moments] | str:
        """The moments of the target and of its difference to production; or why the design never tells them."""
        if estimator == MEANS:
            return self._arms(self.arm(design))
        weigh = self._slates if estimator.endswith("ips") else self._items
        missing, target, difference = weigh(design, estimator)
        never = f"{percent(missing)} of what target and production show is never shown {ESTIMATORS[estimator]}"
        return never if missing > 0 else (target, difference)

    def drawn(self, design: Policy, estimator: str) -> bool:
        """Whether the moments are those of drawn slates, not of all that there are."""

        def whole(part: Policy) -> Floats:
            return np.full(len(self.share), part.shuffles or bool(part.sure_slates(self.contexts)[0].all()), np.float64)

        both = (self.target, self.production)
        if _few(self.contexts):
            return False
        if estimator.endswith("ips"):
            return not all(one.sure_slates(self.contexts)[0].all() for one in both)
        laws = both if estimator == MEANS else (design,)
        return any(one.expected(self.contexts, whole).min() < _SURE for one in laws)

    def additive(self, policy: Policy, weight: Floats | float, less: Floats | float) -> Moments:
        """The moments of a sum over slots of weight [q, m, k] times click, minus `less` [q, m, k], under a policy."""
        law, chance = self.ranks(policy), self.clicks
        mean = (weight * chance - less) * (law > 0)
        own = (law * (weight**2 * chance * (1 - chance) + mean**2)).sum(axis=(1, 2))
        pairs = policy.expected(self.contexts, lambda part: _of_pairs(part, self.contexts, mean))
        return (law * mean).sum(axis=(1, 2)), own + pairs

    def _arms(self, share: float) -> tuple[Moments, Moments]:
        """Independent arms: (c - V) / share of the one, less (c - V) / share of the other."""
        slots, both = np.maximum(self.contexts.length, 1.0)[:, None, None], (self.target, self.production)
        one, other = (self.additive(policy, 1.0, self.value(policy) / slots) for policy in both)
        return (one[0], one[1] / share), (one[0] - other[0], one[1] / share + other[1] / (1 - share))

    def _items(self, design: Policy, name: str) -> tuple[float, Any, Any]:
        """ipm: w = P(item at this rank | target) / P(item at it | design), normalised for each block of slots.

        pbm: w = examination of the item under the target / examination of the rank where it was shown.
        """
        drawn, laws = self.ranks(design), [self.ranks(self.target), self.ranks(self.production)]
        if name == "pbm":
            lacking, curve = drawn.sum(axis=2, keepdims=True) < _SURE, self.examination
            weights = [(law @ curve)[:, :, None] / curve for law in laws]
        else:
            lacking = drawn < math.exp(_NEVER)
            weights = [np.divide(law, drawn, out=np.zeros_like(law), where=~lacking) for law in laws]
        missing = (lacking * (laws[0] + laws[1])).sum(axis=(1, 2)) / np.maximum(self.contexts.length, 1)
        if self.share @ missing > 0:  # and no moments
            return float(self.share @ missing) / 2, laws, laws
        rates = [self._rates(law) if name == "snipm" else 0.0 for law in laws]
        one, other = ((weight - 1) * rate for weight, rate in zip(weights, rates, strict=True))
        both = self.additive(design, weights[0] - weights[1], one - other)
        return 0.0, self.additive(design, weights[0], one), both

    def _rates(self, law: Floats) -> Floats:
        """[k] the click rate at each rank, where it is filled; that of all the last ranks for each of these."""
        block = np.minimum(np.arange(self.contexts.slots), BLOCKS - 1)
        clicks, shown = (np.bincount(block, self.share @ one.sum(axis=1)) for one in (law * self.clicks, law))
        return np.divide(clicks, shown, out=np.zeros_like(clicks), where=shown > 0)[block]

    def _slates(self, design: Policy, name: str) -> tuple[float, Moments, Moments]:
        """Whole slates: E[w^2 f] under a design is E[w f] under the target, and of both the mean over their slates."""
        row, rank, missing = np.arange(len(self.share))[:, None], np.arange(self.contexts.slots), 0.0
        sums, both = np.zeros((2, 2, len(self.share))), (self.target, self.production)
        values = [self.value(one) if name == "snips" else 0.0 for one in both]
        for often, slates in itertools.chain(*(_drawn(one, self.contexts) for one in both)):
            chance = np.where(slates >= 0, self.clicks[row, np.maximum(slates, 0), rank], 0.0)
            drawn = design.law("log_prob").log_prob(self.contexts, slates)
            never = drawn < _NEVER
            missing += float(self.share @ (never * often)) / 2
            laws = (one.law("log_prob").log_prob(self.contexts, slates) for one in both)
            one, other = (np.exp(law - np.where(never, 0.0, drawn)) for law in laws)
            less = one * values[0], one * values[0] - other * values[1]
            for at, (weight, apart) in enumerate(zip((one, one - other), less, strict=True)):
                mean = weight * chance.sum(axis=1) - apart
                square = weight**2 * (chance * (1 - chance)).sum(axis=1) + mean**2
                sums[at] += np.stack([mean, square]) * often / np.maximum(one + other, np.finfo(float).tiny)
        return missing, (sums[0, 0], sums[0, 1]), (sums[1, 0], sums[1, 1])


def _of_pairs(policy: Policy, contexts: Contexts, mean: Floats) -> Floats:
    """[q] sum over two unlike slots of the mean product of numbers [q, m, k] of what a policy shows there."""
    if policy.shuffles:
        same = [(mean.sum(axis=axis) ** 2).sum(axis=1) for axis in (1, 2)]
        apart = mean.sum(axis=(1, 2)) ** 2 - same[0] - same[1] + (mean**2).sum(axis=(1, 2))
        return np.asarray(apart / np.maximum(contexts.size * (contexts.size - 1), 1))
    found, row, rank = np.zeros(len(contexts)), np.arange(len(contexts))[:, None], np.arange(contexts.slots)
    for chance, slates in _drawn(policy, contexts):
        each = np.where(slates >= 0, mean[row, np.maximum(slates, 0), rank], 0.0)
        found += chance * (each.sum(axis=1) ** 2 - (each**2).sum(axis=1))
    return found


def _few(contexts: Contexts) -> bool:
    """Whether all slates of every context are looked at."""
    size, slots = int(contexts.size.max(initial=0)), contexts.slots
    return bool(contexts.size.min() == size and contexts.length.min() == slots and math.perm(size, slots) <= LISTED)


def _drawn(policy: Policy, contexts: Contexts) -> Iterator[tuple[Any, Integers]]:
    """Slates [q, k] of a policy with the probability [q] of each: all that there are, or draws."""
    sure, slates = policy.sure_slates(contexts)
    size, slots = int(contexts.size.max(initial=0)), contexts.slots
    if sure.all():
        yield 1.0, slates
    elif _few(contexts):
        for each in itertools.permutations(range(size), slots):
            slates = np.tile(np.array(each), (len(contexts), 1))
            yield np.exp(policy.law("log_prob").log_prob(contexts, slates)), slates
    else:
        rng, draws = np.random.default_rng(0), min(max(DRAWS // len(contexts), 8), 64)
        yield from ((1 / draws, policy.law("sample").sample(contexts, rng)) for _ in range(draws))


def scored_table(given: Any, columns: Mapping[str, str] | None) -> Source:
    """A log, or a table of candidates and scores as if all candidates had been shown.

    Raises:
        ColumnError: it is neither.
    """
    try:
        return opened(given, columns)
    except ColumnError as error:
        named, remedy = dict(columns or {}), "give a row for each query, {}; name other columns with {}"
        try:
            return opened(given, {"slate": named.get("candidates", "candidates"), **named})
        except ColumnError:
            message = f"it is neither a log nor a table of candidates and their scores: {error.message}"
            raise ColumnError(message, Wording(remedy, _EXAMPLE, ColumnNames({"candidates": "NAME"}))) from None


def forecast_for(
    source: Source, policies: Sequence[Policy], curve: Any, clicks: Any, slots: Any, relevance: str | None, *run_by: Any
) -> tuple[Forecast, tuple[str, ...]]:
    """The forecast for a sample of the contexts of a log or table, and what it assumes of users, in sentences.

    policies: the target, production, and designs. curve: examination. run_by: executor and progress.

    Raises:
        UsageError: an examination curve that is too short or not positive, or clicks likelier than 1.
    """
    logged, score = has_clicks(source), frozenset([relevance] if relevance else [])
    wanted = Needs(frozenset(["candidates"]), score, weights=score)
    for policy in policies:
        wanted |= policy.reads("rank_probs") | policy.reads("log_prob") | policy.reads("sample")
    folds = {"rows": SampledRowsFold(wanted, QUERIES, cells=CANDIDATES, each="candidate"), "log": ImpressionsFold()}
    found = run(source.select(wanted | Needs(frozenset(["clicks"] if logged else []))), Tee(folds), *run_by)
    rows, log = found["rows"], found["log"]
    log.refuse_none(source.describe())
    most = slots or (rows.contexts.slots if logged else SLOTS)
    contexts, share = replace(rows.contexts, length=np.minimum(rows.contexts.length, most)), 1 / rows.inclusion
    sums = log.ranks if logged else np.full((contexts.slots, 3), CLICKS)
    rates = sums[:, 2] / np.maximum(sums[:, 1], 1) if logged else 1 / np.arange(1, contexts.slots + 1)
    earned = clicks or (float(sums[: contexts.slots, 2].sum() / log.estimated) if logged else CLICKS)
    examined = np.array(rates if curve is None else curve, np.float64)[: contexts.slots]
    if len(examined) < contexts.slots or not (examined > 0).all() or not earned > 0:
        remedy = Wording("use {}, {}", Option("examination", [1, 0.5, 0.33]), Option("clicks", CLICKS))
        raise UsageError(f"clicks at {contexts.slots} ranks are not known: {earned:g}, as {examined.tolist()}", remedy)
    worth = np.ones(contexts.candidates.shape) if relevance is None else contexts.scores[relevance]
    made = Forecast(contexts, share / share.sum(), worth[:, :, None] * examined, examined, *policies[:2])
    scale = earned / max(made.value(policies[1]), np.finfo(float).tiny)
    if not made.clicks.max() * scale <= 1:
        remedy = Wording("use fewer {} or a flatter {}", Option("clicks"), Option("examination"))
        raise UsageError(f"an item would be clicked with probability {made.clicks.max() * scale:.3g}", remedy)
    said = ["as given" if one else "of the log" if logged else "ASSUMED" for one in (clicks, curve)]
    return replace(made, clicks=made.clicks * scale), (
        f"Production earns {earned:.3g} clicks per impression ({said[0]}).",
        f"Ranks are examined as {', '.join(f'{one:.2g}' for one in examined[:5] / examined[0])} ... ({said[1]}).",
        f"Clicks are proportional to `{relevance}` at equal examination, by which some are lost or, below 0, won."
        if relevance
        else "Items are equally relevant. At stake is the examination that a design takes from items of production: so "
        "many clicks are lost if what it shows instead earns nothing.",
        "A click depends on its item and rank alone, and impressions are independent: if users return, it takes more.",
        f"These {len(share):,} contexts are a sample of all; ± is the 95 % interval that follows.",
    )
