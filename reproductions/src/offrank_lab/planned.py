"""The plan before a log: what each estimator will tell of a target under each design, what that costs, and the page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from offrank.evaluation.counts import POWER
from offrank.frames import plain
from offrank.language.formatting import nine_digits, percent, quote
from offrank.log.batch import Contexts
from offrank.policies import EpsilonUniform, Interleaved, PlackettLuce, Policy, PolicyMixture, Shuffled, Swaps
from offrank.report.charts import Chart, Series
from offrank.report.document import Answer, Document, Figures, Section
from offrank.report.facts import again
from offrank.report.printable import Delivered
from offrank.sums.estimate import Caution
from offrank.wording import command_line

from .forecast import MEANS, Forecast

EFFECTS, BUCKET = (0.01, 0.02, 0.05), 0.01
"""Relative differences whose impressions, and the share of uniform slates whose worth, are always told."""
LEVEL, NEAR, MANY, FAR = 0.95, 1.1, 1e9, 1e12
"""Of the test of a difference; what assumes less may cost so many times as much; impressions that have an exponent, and
that nobody has."""


@dataclass(frozen=True)
class Planned:
    """What one estimator will tell under one design.

    - cost: the share of production's clicks per impression that the design loses, or may lose at most.
    - assumes: about users, as the kind of the estimator has it.
    - effective_share: the impressions of the target itself that one of the design is worth.
    - target_error, difference_error: standard errors by one impression, which those by n are over the root of n: of the
      target's clicks per impression, and of their difference to production's, over the latter. doubt: standard error of
      the square of the last one, over it.
    - drawn: whether these are of drawn slates, not of all that there are.
    - message: why there are no numbers, if there are none.
    """

    design: str
    estimator: str
    cost: float
    assumes: tuple[str, ...] = ()
    effective_share: float = math.nan
    target_error: float = math.nan
    difference_error: float = math.nan
    doubt: float = math.nan
    drawn: bool = False
    message: str = ""

    def impressions(self, effect: float) -> float:
        """Until a relative difference is seen with `POWER`, two-sided; infinite if it never is."""
        deviates = sum(map(NormalDist().inv_cdf, (0.5 + LEVEL / 2, POWER)))
        return math.inf if self.message else (deviates * self.difference_error / effect) ** 2


def cheapest(rows: Iterable[Planned], effect: float, most: float = math.inf) -> Planned | None:
    """Return the row that costs the fewest clicks until a difference is seen, of those within so many impressions.

    Of those that cost at most `NEAR` times as many, it is the one that assumes the least, then the cheapest, then the
    quickest. None if none sees it.
    """
    able = [one for one in rows if not one.message and one.impressions(effect) <= most]
    spent = [nine_digits(max(one.cost, 0.0) * one.impressions(effect)) for one in able]
    keys = ((len(one.assumes), each, one.impressions(effect)) for one, each in zip(able, spent, strict=True))
    near = [(key, one) for key, one in zip(keys, able, strict=True) if key[1] <= NEAR * min(spent)]
    return min(near, key=lambda each: each[0])[1] if near else None


def quickest(rows: Iterable[Planned], design: str | None = None) -> Planned | None:
    """Return the row, of one design or of all, that sees a difference the soonest; None if none sees it."""
    able = (one for one in rows if not one.message and design in (None, one.design))
    return min(able, key=lambda one: one.difference_error, default=None)


def usual_designs(forecast: Forecast) -> list[Policy]:
    """Return the designs that are tried where nobody names any, first that of few uniform slates.

    Plackett-Luce has as its temperature half of the spread of the score within a context.
    """
    production, target, contexts = forecast.production, forecast.target, forecast.contexts
    found: list[Policy] = [EpsilonUniform(production, share) for share in (BUCKET, 0.05, 0.2)]
    if production.always_sorts:
        for score, values in contexts.scores.items() if not production.ascending else ():
            if {score} == production.reads("rank_probs").scores:
                spread = np.nanmedian([np.std(each[:size]) for each, size in zip(values, contexts.size, strict=True)])
                found.append(PlackettLuce(score, temperature=float(f"{spread / 2 or 1.0:.2g}"), log=True))
        found += [Shuffled(production, 3, method="top"), Swaps(production, 0.9)]
        found += [Interleaved(production, target)] if target.always_sorts else []
    return [*found, *(PolicyMixture({production: 1 - share, target: share}) for share in (0.1, 0.5))]


def planned_rows(
    forecast: Forecast, designs: Iterable[Policy], assumes: Mapping[str, Any], known: bool
) -> Iterator[Planned]:
    """Yield the rows of designs by estimators. assumes: of each estimator. known: whether the relevance of items is."""
    usual = forecast.value(forecast.production)
    reward, _ = forecast.variance(forecast.additive(forecast.target, 1.0, 0.0))
    for design in designs:
        cost = 1 - forecast.value(design) / usual if known else forecast.moved(design)
        for name in ([MEANS] if forecast.arm(design) else []) + list(assumes):
            row, found = (repr(design), name, cost, tuple(sorted(assumes.get(name, ())))), forecast.found(design, name)
            if isinstance(found, str):
                yield Planned(*row, message=found)
            else:
                (one, _), (both, doubt) = map(forecast.variance, found)
                yield Planned(
                    *row,
                    reward / (one or math.nan),
                    math.sqrt(one),
                    math.sqrt(both) / usual,
                    doubt,
                    forecast.drawn(design, name),
                )


@dataclass(frozen=True)
class LoggingPlan(Delivered):
    """What to log: designs by estimators, and the cheapest of them.

    Parameters:
        rows: What each estimator will tell under each design.
        effect: The relative difference to be seen.
        most: Impressions that there are.
        clicks: Of production, per impression.
        assumed: In sentences.
        log: Of the cheapest design what draws it (`logging`), a `line` of it, and the `command` that answers by it;
            empty if no design sees the difference.
        facts: What else `to_dict` holds.

    Examples:
        >>> found = plan("offrank-demo/log.parquet", "top(new_score)", "top(old_score)", "snips")
        >>> found.log["logging"]
        'mixture({top(old_score): 0.9, top(new_score): 0.1})'
    """

    rows: tuple[Planned, ...]
    effect: float
    most: float
    clicks: float
    assumed: tuple[str, ...]
    log: Mapping[str, Any] = field(default_factory=dict)

    headings = ("design", "estimator", "cost", "effective_share", "difference_error", "message")

    @property
    def cheapest(self) -> Planned | Any:
        """The design, and the estimator, that cost the fewest clicks; None if none sees the difference in time."""
        return cheapest(self.rows, self.effect, self.most)

    @property
    def cautions(self) -> Mapping[str, Sequence[Caution]]:
        return {}

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each design and estimator; `impressions_0.02` are those until 2 % are seen."""
        needed = ({f"impressions_{each:g}": one.impressions(each) for each in self._effects} for one in self.rows)
        return [plain(vars(one) | more) for one, more in zip(self.rows, needed, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain lists, dicts and numbers (None for unknown values)."""
        told = {name: getattr(self.cheapest, name, None) for name in ("design", "estimator")} | dict(self.log)
        return {**self.facts, "assumed": list(self.assumed), "cheapest": told, "rows": self.records()}

    def to_document(self) -> Document:
        """Return the page: the cheapest design, all of them, what can be had today, and what to log."""
        lead = f"Impressions until a difference is seen with power {POWER:g}, two-sided at {percent(1 - LEVEL)}."
        refused = (f"{quote(one.design)}, {quote(one.estimator)}: {one.message}" for one in self.rows if one.message)
        log = [f"A line for each impression; then `{self.log['command']}`."] if self.log else []
        sections = (
            Section("Designs", charts=self._charts(), tables=(self._table(),)),
            Section("What is never told", items=tuple(refused)),
            Section(f"Today, by {quote(self.facts['production'])}", items=tuple(self._today())),
            Section("What to log", tuple(log), code=json.dumps(self.log["line"]) if self.log else ""),
            Section("What is assumed", items=(*self.assumed, *self._inexact())),
            again(self.facts),
        )
        return self._page(lead, (one for one in sections if not one.empty), self._answer())

    @property
    def _effects(self) -> list[float]:
        return sorted({*EFFECTS, self.effect})

    def _answer(self) -> Answer:
        best, quick, seen = self.cheapest, quickest(self.rows), percent(self.effect)
        rest = f" The quickest is {self._told(quick)}." if quick and quick != best else ""
        if best is None:
            within = "in that time" if quick else "however long it runs"
            return Answer(f"**No design sees {seen}** {within}.{rest}", severity="serious")
        clicks = f"{self._lost} {_round(max(best.cost, 0.0) * best.impressions(self.effect) * self.clicks)} clicks"
        return Answer(f"{self._told(best)}, {clicks}: **the cheapest that sees {seen}**.{rest}")

    def _inexact(self) -> Iterator[str]:
        """Say which numbers are of drawn slates."""
        if found := [f"{quote(one.design)} by {one.estimator}" for one in self.rows if one.drawn]:
            yield f"Not exact, but from drawn slates: {', '.join(found)}."

    @property
    def _lost(self) -> str:
        return "lost" if self.facts["relevance"] else "at stake"

    def _told(self, row: Planned) -> str:
        """Say how many impressions, and days, a design takes."""
        needed, a_day = row.impressions(self.effect), self.facts["impressions_a_day"]
        days = f", {_round(needed / a_day)} days" if a_day else ""
        return f"{quote(row.design)} with {quote(row.estimator)}: {_round(needed)} impressions{days}"

    def _table(self) -> Figures:
        effects, a_day = self._effects, self.facts["impressions_a_day"] or math.nan
        header = ("design", "estimator", self._lost, *map(percent, effects), "±", "worth", "days")
        cells = []
        for one in (one for one in self.rows if not one.message):
            days = one.impressions(self.effect) / a_day
            shares = percent(1.96 * one.doubt), percent(one.effective_share), "" if math.isnan(days) else _round(days)
            needed = (_round(one.impressions(each)) for each in effects)
            cells.append((one.design, one.estimator, percent(one.cost), *needed, *shares))
        extra = ((3,), (2 + len(effects),), (4 + len(effects),), (3 + len(effects),))
        return Figures("Impressions until a difference is seen", header, tuple(cells), extra)

    def _charts(self) -> tuple[Chart, ...]:
        """Draw the quickest estimator of each design that costs something."""
        best = (quickest(self.rows, each) for each in dict.fromkeys(one.design for one in self.rows))
        points = [(one, one.impressions(self.effect)) for one in best if one and one.cost > 0]
        series = tuple(Series(one.design, [needed], [100 * one.cost]) for one, needed in points if needed < FAR)
        across, up = f"impressions until {percent(self.effect)} is seen", f"clicks {self._lost}, %"
        return (Chart("Costs and times of designs", across, up, series, log_x=True, log_y=True),) if series else ()

    def _today(self) -> Iterator[str]:
        """Say what a log of production tells, and what a bucket of uniform slates would buy."""
        words = ["offrank", "evaluate", "LOG", "--target", self.facts["target"], "--logging", self.facts["production"]]
        if own := quickest(self.rows, self.facts["production"]):
            yield self._told(own)
        yield f"bounds, which assume nothing: `{command_line([*words, '--bounds'])}`"
        yield f"a click model, which assumes how users read: `{command_line([*words, '-e', 'weights(dbn)'])}`"
        if bought := quickest(self.rows, f"epsilon({self.facts['production']}, {BUCKET})"):
            share = f"{percent(bought.cost)} of the clicks {self._lost}"
            yield f"a bucket would buy {percent(self.effect)}: {self._told(bought)}, {share}; any later target, too"


def _round(value: float) -> str:
    """Write a number of impressions or days with three digits, and no wider than eleven characters."""
    if MANY <= value <= FAR:
        return f"{value:.3g}".replace("e+0", "e").replace("e+", "e")
    return "> 1e12" if value > FAR else f"{float(f'{value:.3g}'):,.0f}" if value >= 10 else f"{value:.1f}"


def with_log(plan: LoggingPlan, forecast: Forecast, designs: Iterable[Policy]) -> LoggingPlan:
    """Return a plan with what to log of its cheapest design, if there is one: with its arm, if arms are compared."""
    if (best := plan.cheapest) is None:
        return plan
    [design], arms = [one for one in designs if repr(one) == best.design], best.estimator == MEANS
    new, now = repr(forecast.target), repr(forecast.production)
    logging = f"by(arm, {{A: {now}, B: {new}}})" if arms else best.design
    words = ["--target", f"new={new}", "--target", f"now={now}", "--baseline", "now", "-e", best.estimator]
    words = ["offrank", "compare", "LOG", "--logging", logging, *(["--cluster", "user"] if arms else words)]
    items, order, contexts = ["a", "b", "c"], np.arange(3), forecast.contexts
    scores = {name: np.roll([0.1, 0.2, 0.7], at)[None] for at, name in enumerate(sorted(contexts.scores))}
    rankings = {name: np.roll(order, at)[None] for at, name in enumerate(sorted(contexts.rankings))}
    few = Contexts(order[None], np.array([3]), np.array([2]), scores, rankings)
    slate = (forecast.target if arms else design).law("sample").sample(few, np.random.default_rng(0))
    line: dict[str, Any] = {"query": "q1", "user": "u1", "time": "2026-01-31T12:00:00Z", "candidates": items}
    line |= {name: one[0].tolist() for name, one in few.scores.items()}
    line |= {name: [items[place] for place in one[0]] for name, one in few.rankings.items()}
    line |= {"slate": [items[place] for place in slate[0]], "clicks": [1, 0]}
    chance = float(np.exp(design.law("log_prob").log_prob(few, slate)[0]))
    line |= {"arm": "B"} if arms else {"propensity": chance}
    return replace(plan, log={"logging": logging, "line": line, "command": command_line(words)})
