"""Errors of estimators, and of the choice among them, in simulated logs whose truth is known.

python benchmarks/selection.py selecting [--logs 200] [--rows 1000 20000] [--worlds position-based ...]
python benchmarks/selection.py auto [--logs 50] [--rows 5000] [--write]
python benchmarks/selection.py pseudoinverse [--logs 300] [--rows 500 5000]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from _page import Here, markdown_head, markdown_row, run
from trust_worlds.world import HEALTHY
from trust_worlds.world import World as Healthy

import offrank
from offrank.estimators import estimator
from offrank.findings.verdict import Verdict
from offrank.inference.clusters_and_level import IntervalSpec
from offrank.language.formatting import percent
from offrank.language.from_text import CANDIDATE_ESTIMATORS
from offrank.log.batch import Contexts, Floats, Integers, LogBatch, Shown
from offrank.metrics import err, ndcg
from offrank.policies import PlackettLuce, Top, policy
from offrank.selection.estimators import ranking
from offrank.selection.selector import EstimatorSelector
from offrank_papers.like_log import BEHAVIOURS, LikeLog
from offrank_testing import MemorySource

WORLDS = {  # behaviour, whether only the reward of the page is logged
    "position-based": ("position-based", False),
    "cascade": ("cascade", False),
    "neighbours": ("neighbours", False),
    "additive": ("position-based", True),
    "interactions": ("neighbours", True),
}
TARGETS = {"similar": "plackett_luce(near)", "distant": "top(new)"}
LOGGING = policy("epsilon(plackett_luce(old), 0.3)")
QUERIES, ITEMS, SLOTS = 50, 5, 4
CURVE = np.array([1.0, 0.7, 0.5, 0.4])
MEASURED = ("ips", "snips", "rips", "snrips", "pi", "wpi", "ipm", "snipm", "interpol(window=1)", "pbm")


def world(name: str) -> LikeLog:
    rng, shape = np.random.default_rng(1), (QUERIES, ITEMS)
    attraction = rng.beta(1.2, 1.8, shape)
    merit = 2.5 * (attraction - attraction.mean()) / attraction.std()
    old, new = np.exp(0.3 * merit + 0.6 * rng.normal(size=shape)), merit + 0.8 * rng.normal(size=shape)
    items, each = np.tile(np.arange(ITEMS), (QUERIES, 1)), np.ones(QUERIES, np.int64)
    scores = {"old": old, "new": new, "near": old * np.exp(0.25 * new)}
    contexts = Contexts(items, ITEMS * each, SLOTS * each, scores)
    behaviour, rewards = WORLDS[name]
    return LikeLog(contexts, attraction, LOGGING, BEHAVIOURS[behaviour], 0.3 * CURVE, rewards)


def errors_of(here: LikeLog, target: str, rows: int, logs: int) -> tuple[dict[str, Floats], list[str]]:
    """Errors of each estimator and of each rule, and what the rule chose, log by log."""
    asked, spec = policy(target), IntervalSpec("normal", cluster=None)
    usual = tuple(map(estimator, CANDIDATE_ESTIMATORS))
    selector = EstimatorSelector(here.source(rows, 0), LOGGING, CURVE.tolist(), spec, usual, executor=Here())
    truth, chosen = here.truth(asked), []
    errors: dict[str, list[float]] = {}
    for log in range(logs):
        found = replace(selector, source=here.source(rows, log)).select(asked)
        every = [one.candidate for one in found.ranking.ranked] + list(found.ranking.unusable)
        target_only = ranking([replace(one, others={}) for one in every]).chosen
        chosen.append(found.chosen)
        for rule, name in (("auto", found.chosen), ("target only", target_only), *((one, one) for one in MEASURED)):
            value = found.estimates[name].value - truth if name in found.estimates else np.nan
            errors.setdefault(rule, []).append(value)
    return {name: np.array(values) for name, values in errors.items()}, chosen


def root(errors: Floats) -> float:
    return float(np.sqrt((errors**2).mean()))


DEFAULT = ("ips", "snips")


@dataclass(frozen=True)
class Beside:
    """Two verdicts on one log, and the truth."""

    default: Verdict
    auto: Verdict
    truth: float

    @property
    def contains(self) -> bool:
        one, other = self.auto.value, self.default.value
        return one is not None and other is not None and one.low <= other.low and one.high >= other.high

    @property
    def answered(self) -> bool:
        return self.auto.value is not None and self.default.value is not None


def width(found: Verdict) -> float:
    return np.nan if found.value is None else found.value.high - found.value.low


def away(found: Verdict, truth: float) -> float:
    return np.nan if found.value is None else abs(found.value.value - truth)


def beside(world: Healthy, rows: int, seed: int) -> Beside:
    log, question = world.table(rows, seed), {**world.question()}
    question.pop("estimators")
    verdicts = (offrank.evaluate(log, estimators=asked, **question).verdict for asked in (DEFAULT, "auto"))
    return Beside(*verdicts, world.truth)


def lines(found: list[Beside]) -> Iterator[str]:
    both = [one for one in found if one.answered]
    sound = [one for one in both if one.default.trust == "sound"]
    kept = [one for one in sound if one.contains]
    ratios = [width(one.auto) / width(one.default) for one in both]
    errors = [away(one.auto, one.truth) / away(one.default, one.truth) for one in both]
    held = [one.auto.value is not None and one.auto.value.low <= one.truth <= one.auto.value.high for one in both]
    yield "| `-e auto` beside `-e ips -e snips` | |"
    yield "|---|--:|"
    yield f"| logs, both with an answer | {len(both)} of {len(found)} |"
    yield f"| the default is sound | {len(sound)} |"
    yield f"| of these auto's interval contains the default's | {len(kept)} |"
    yield f"| of these auto is sound | {sum(one.auto.trust == 'sound' for one in kept)} |"
    yield f"| width, auto over default: median, and a quarter to three quarters | {quarters(ratios)} |"
    yield f"| distance from the truth, auto over default: likewise | {quarters(errors)} |"
    yield f"| auto's interval holds the truth | {percent(np.mean(held), 0)} |"


def quarters(found: list[float]) -> str:
    low, middle, high = np.quantile(found, [0.25, 0.5, 0.75])
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


ESTIMATORS = ["ips", "snips", "pi", "wpi", "controlled(pi)", "clip(pi, 20)", "clip(pi, 5)", "clip(wpi, 5)"]
OLD, NEW = PlackettLuce("old"), Top("new")
GRADED, ABLE, SHOWN = 20, 8, 4


@dataclass(frozen=True)
class World:
    """Grades [c, m] of the candidates of each context, and two scores that know of them a little."""

    grades: Integers
    old: Floats
    new: Floats

    def contexts(self, which: Integers) -> Contexts:
        n = len(which)
        scores = {"old": self.old[which], "new": self.new[which]}
        return Contexts(np.tile(np.arange(ABLE), (n, 1)), np.full(n, ABLE), np.full(n, SHOWN), scores)

    def reward(self, metric: str, which: Integers, slates: Integers) -> Floats:
        """[n] probability that the slate is rewarded."""
        grades = np.take_along_axis(self.grades[which], slates, axis=1)
        if metric == "ERR":
            return np.asarray(err(grades))
        return np.asarray(ndcg(grades, judged=self.grades[which]))

    def log(self, metric: str, rows: int, rng: np.random.Generator) -> MemorySource:
        which = rng.integers(GRADED, size=rows)
        contexts = self.contexts(which)
        slates = OLD.sample(contexts, rng)
        reward = (rng.random(rows) < self.reward(metric, which, slates)).astype(np.float64)
        row = np.arange(rows, dtype=np.uint64)
        return MemorySource((LogBatch(contexts, Shown(slates), None, reward, np.ones(rows), row),))

    def truth(self, metric: str) -> float:
        every = np.arange(GRADED)
        return float(self.reward(metric, every, NEW.sample(self.contexts(every), np.random.default_rng())).mean())


def graded(seed: int) -> World:
    rng = np.random.default_rng(seed)
    grades = rng.choice(5, p=[0.5, 0.2, 0.15, 0.1, 0.05], size=(GRADED, ABLE))
    noise = rng.normal(size=(2, GRADED, ABLE))
    return World(grades, np.exp(0.2 * grades + 0.5 * noise[0]), grades + noise[1])


def spread(here: World, metric: str, rows: int, logs: int) -> Iterator[str]:
    rng = np.random.default_rng(rows)
    found = np.empty((logs, len(ESTIMATORS)))
    for index in range(logs):
        given = offrank.evaluate(here.log(metric, rows, rng), NEW, OLD, ESTIMATORS).estimates.given
        # Without any overlap there is no estimate; 0 is what a sum over matching slates says.
        found[index] = [given["top(new)", name].value if ("top(new)", name) in given else 0.0 for name in ESTIMATORS]
    truth = here.truth(metric)
    yield f"{metric}, {rows:,} impressions, {logs} logs; truth {truth:.4f}\n"
    heads = ("bias", "its standard error", "standard deviation", "root mean squared error")
    yield from markdown_head("estimator", *heads)
    for name, values in zip(ESTIMATORS, found.T, strict=True):
        bias, deviation = values.mean() - truth, values.std(ddof=1)
        cells = (bias, deviation / np.sqrt(logs), deviation, np.sqrt(((values - truth) ** 2).mean()))
        yield markdown_row(name, *(f"{cell:.4f}" for cell in cells))
    yield ""


def selecting(
    *, logs: int = 200, rows: Sequence[int] = (1000, 20000), worlds: Sequence[str] = tuple(WORLDS)
) -> Iterator[str]:
    """How often `auto` is right: root mean squared errors of the choice and of every fixed estimator.

    Worlds: clicks are position-based, a cascade, or depend on neighbours; or the whole page earns a reward, a sum over
    its items (additive) or with interactions. The target is similar to the logging policy or sorts by another score;
    logs are small and large. `best` is the estimator of least error in a world, which nobody knows beforehand; `target
    only` is the choice without pseudo-targets.
    """
    headings = ("world", "target", "rows", "best", "auto", "target only", *MEASURED, "right", "chosen most")
    every: list[list[float]] = []
    yield "RMSE as a multiple of that of the best fixed estimator\n"
    yield from markdown_head(*headings, left=2)
    for name, (title, target), size in product(worlds, TARGETS.items(), rows):
        errors, chosen = errors_of(world(name), target, size, logs)
        fixed = {one: root(errors[one]) for one in MEASURED if np.isfinite(errors[one]).all()}
        best = min(fixed, key=fixed.__getitem__)
        good = np.mean([fixed.get(one, np.inf) <= 1.2 * fixed[best] for one in chosen])
        ratios = [root(errors[one]) / fixed[best] for one in ("auto", "target only", *MEASURED)]
        every.append(ratios)
        most = max(set(chosen), key=chosen.count)
        cells = ["" if np.isnan(one) else f"{one:.2f}" for one in ratios]
        yield markdown_row(name, title, f"{size:,}", best, *cells, percent(good, 0), f"{most} {chosen.count(most)}")
    worst = np.array(every).T
    yield markdown_row(
        "geometric mean", "", "", "", *(f"{np.exp(np.nanmean(np.log(one))):.2f}" for one in worst), "", ""
    )
    yield markdown_row("worst", "", "", "", *(f"{np.nanmax(one):.1f}" for one in worst), "", "")


def auto(*, logs: int = 50, rows: int = 5000) -> Iterator[str]:
    """`-e auto` beside the default estimators on healthy logs: is it as sound, how wide is it, how far is it off?"""
    worlds = [world for world in HEALTHY if "estimators" not in world.options and world.sampled is None]
    found = []
    for place in range(logs):
        asked = worlds[place % len(worlds)]
        try:
            found.append(beside(asked, rows, place // len(worlds)))
        except offrank.OffrankError as refused:
            print(f"{asked.name}: {refused.code}", file=sys.stderr)
    yield f"{logs} healthy logs of {rows:,} rows."
    yield ""
    yield from lines(found)


def pseudoinverse(*, logs: int = 300, rows: Sequence[int] = (500, 5000)) -> Iterator[str]:
    """Bias and spread of pi, its relatives and ips.

    Slates of 4 among 8 candidates in 20 contexts, drawn by Plackett-Luce; the target sorts by another score. Rewards
    are NDCG (a sum over slots) or ERR (not one), and are paid out as 0 or 1 with that probability.
    """
    for metric, size in product(("NDCG", "ERR"), rows):
        yield from spread(graded(seed=3), metric, size, logs)


COMMANDS = {selecting: "", auto: "auto", pseudoinverse: ""}
if __name__ == "__main__":
    run(__file__, COMMANDS)
