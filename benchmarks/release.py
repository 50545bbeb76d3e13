"""How often the release rule lets a policy through that is no better than the one that drew the log, and a better one.

Every world has a finite set of contexts, so that what a policy earns is known exactly. Of each simulated log a policy
is learnt by `regression` (sorted by) and one by `poem` (drawn from), as `offrank learn` does, and four more are made
to fool the rule: of `TRIED` policies that are no better than the logging one, the best by snips on the validation third
(once drawn, once sorted, once close to the logging policy), and one that leaves the logged items where they earn least.
For the power the best of those close to the logging policy that are better is judged too.
"Before" is the rule that it replaced: the verdict is usable, and its two-sided 95 % interval lies above 0.

    python benchmarks/release.py [--logs 500] [--learnt 100] [--only NAME] [--kept FILE]
        [--write]
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from _page import markdown_head, markdown_row, measured, restored, run
from _worlds import lists

import offrank

CONTEXTS, FEATURES, TRIED = 40, 8, 40
Floats = np.ndarray


@dataclass(frozen=True)
class World:
    """How logs come about: `rows` in the last third, `slots` of `items`, clicked with probability about `rate`.

    sharpness: of the Plackett-Luce logging policy, infinite: it sorts. spread: of the log-odds of clicks, 0: all items
    earn the same. keep: share of the rows without a click that are logged. tail: of the log-normal worth of a click.
    """

    name: str
    rows: int = 1000
    slots: int = 1
    items: int = 6
    rate: float = 0.1
    sharpness: float = 1.0
    spread: float = 1.0
    keep: float = 1.0
    tail: float = 0.0
    known: bool = False

    @cached_property
    def features(self) -> Floats:
        """[contexts, items, features], the columns that every policy may use."""
        return np.random.default_rng(11).normal(size=(CONTEXTS, self.items, FEATURES))

    @cached_property
    def old(self) -> Floats:
        """[contexts, items] scores of the logging policy: it knows some of what is clicked."""
        weights = np.random.default_rng(12).normal(size=FEATURES) / np.sqrt(FEATURES)
        return self.features @ weights

    @cached_property
    def click(self) -> Floats:
        """[contexts, items] chance of a click in the first slot."""
        weights = np.random.default_rng(13).normal(size=FEATURES) / np.sqrt(FEATURES)
        odds = self.features @ weights + 0.5 * self.old
        return 1 / (1 + np.exp(-np.log(self.rate / (1 - self.rate)) - self.spread * odds))

    @cached_property
    def slates(self) -> np.ndarray:
        """[slates, slots] all slates."""
        return np.array(list(itertools.permutations(range(self.items), self.slots)))

    @cached_property
    def worth(self) -> Floats:
        """[contexts, slates] expected reward before sub-sampling."""
        examination = 1 / np.arange(1, self.slots + 1)
        return (self.click[:, self.slates] * examination).sum(axis=2) * np.exp(self.tail**2 / 2)

    def law(self, scores: Floats) -> Floats:
        """[contexts, slates] Plackett-Luce; scores of infinite size sort."""
        left = np.where(np.isinf(scores), np.sign(scores) * 1e3, scores)[:, self.slates]
        everything = np.exp(scores - scores.max(axis=1, keepdims=True))
        shown = np.exp(left - scores.max(axis=1)[:, None, None])
        above = np.cumsum(shown, axis=2) - shown
        return (shown / np.maximum(everything.sum(axis=1)[:, None, None] - above, shown)).prod(axis=2)

    def sorted(self, scores: Floats) -> Floats:
        """[contexts, slates] all on the slate in order of the scores."""
        best = np.argsort(-scores, axis=1)[:, : self.slots]
        return (self.slates[None] == best[:, None]).all(axis=2).astype(float)

    @cached_property
    def drawn(self) -> Floats:
        """[contexts, slates] the logging policy."""
        return self.sorted(self.old) if np.isinf(self.sharpness) else self.law(self.sharpness * self.old)

    def truth(self, law: Floats) -> float:
        return float((law * self.worth).sum(axis=1).mean())

    @cached_property
    def logged(self) -> float:
        return self.truth(self.drawn)

    def draw(self, seed: int) -> dict[str, Floats]:
        """A log of three times `rows` rows."""
        rng, examination = np.random.default_rng([seed, 3]), 1 / np.arange(1, self.slots + 1)
        parts, found = [], 0
        while found < 3 * self.rows:
            n = int(3 * self.rows / min(1.0, self.rate + self.keep)) + 100
            context = rng.integers(CONTEXTS, size=n)
            place = (self.drawn[context].cumsum(axis=1) > rng.random((n, 1)) * (1 - 1e-12)).argmax(axis=1)
            chance = self.click[context[:, None], self.slates[place]] * examination
            clicks = (rng.random((n, self.slots)) < chance) * np.exp(self.tail * rng.normal(size=(n, self.slots)))
            kept = clicks.any(axis=1) | (rng.random(n) < self.keep)
            inclusion = np.where(clicks.any(axis=1), 1.0, self.keep)
            parts.append([each[kept] for each in (context, place, clicks, inclusion)])
            found += len(parts[-1][0])
        columns = (np.concatenate(each)[: 3 * self.rows] for each in zip(*parts, strict=True))
        return dict(zip(("context", "place", "clicks", "inclusion"), columns, strict=True))

    def table(self, log: dict[str, Floats], scores: dict[str, Floats]) -> pa.Table:
        """The log as offrank reads it, with score columns."""
        context, n = log["context"], len(log["context"])
        offsets = pa.array(np.arange(0, n * self.items + 1, self.items, dtype=np.int32))
        inner = lists(np.tile(np.arange(FEATURES), (n * self.items, 1)))
        columns = {
            "candidates": lists(np.tile(np.arange(self.items), (n, 1))),
            "slate": lists(self.slates[log["place"]]),
            "reward": pa.array(log["clicks"].sum(axis=1)),
            "clicks": lists(log["clicks"]),
            "inclusion": pa.array(log["inclusion"]),
            "features": pa.ListArray.from_arrays(offsets, inner),
            "feature_values": pa.ListArray.from_arrays(offsets, lists(self.features[context].reshape(-1, FEATURES))),
            "old": lists(self.sharpness * self.old[context] if np.isfinite(self.sharpness) else self.old[context]),
        }
        if not self.known:
            columns["propensity"] = pa.array(self.drawn[context, log["place"]])
        return pa.table(columns | {name: lists(each[context]) for name, each in scores.items()})

    @property
    def logging(self) -> str:
        return "plackett_luce(old, log=True)" if self.known else "logged"


WORLDS = (
    World("adverts, one slot"),
    World("the same, the logging policy known", known=True),
    World("clicks of 1 %", rows=4000, rate=0.01),
    World("sub-sampled non-clicks", rate=0.03, keep=0.1),
    World("slates of three", slots=3, items=5),
    World("small logs", rows=300, rate=0.25),
    World("frequent clicks", rows=500, rate=0.85),
    World("clicks of unlike worth", tail=1.2),
    World("nearly deterministic logging", sharpness=6.0),
    World("deterministic logging", sharpness=np.inf),
    World("nothing to gain", spread=0.0),
    World("nothing to gain, small logs, greedy", rows=300, rate=0.25, spread=0.0, sharpness=3.0),
)


@dataclass(frozen=True)
class Outcome:
    """One policy of one log: its kind, whether it is truly better, and whether each rule released it."""

    kind: str
    better: bool
    before: bool
    now: bool


def outcome(world: World, kind: str, law: Floats, result: offrank.Result, target: str) -> Outcome:
    found = result.verdicts[target]
    before = found.usable and found.difference is not None and found.difference.low > 0
    better = world.truth(law) > world.logged * (1 + 1e-9)
    return Outcome(kind, bool(better), bool(before), result.release(target, 0.95).released)


def picked(world: World, log: dict[str, Floats], seed: int) -> dict[str, tuple[Floats, bool]]:
    """Scores of the policies that are to fool the rule, and whether they sort."""
    rng, found = np.random.default_rng([seed, 4]), {}
    second = np.arange(1, len(log["context"]), 3)
    context, place, weight = log["context"][second], log["place"][second], 1 / log["inclusion"][second]
    reward, q = log["clicks"][second].sum(axis=1), world.drawn[context, place]
    finite = world.old * (world.sharpness if np.isfinite(world.sharpness) else 3.0)
    for kind, sorts, away, scale in (
        ("random, drawn", False, 0.0, 2.0),
        ("random, sorted", True, 0.0, 1.0),
        ("near the log", False, 1.0, 0.5),
    ):
        most: dict[str, float] = {}
        for _ in range(TRIED):
            scores = away * finite + scale * (world.features @ rng.normal(size=FEATURES)) / np.sqrt(FEATURES)
            law = world.sorted(scores) if sorts else world.law(scores)
            better = world.truth(law) > world.logged * (1 + 1e-9)
            if better and kind != "near the log":
                continue
            w = weight * law[context, place] / q
            worth = float((w * reward).sum() / w.sum()) if w.any() else -np.inf
            name = f"{kind}, better" if better else kind
            if name not in most or worth > most[name]:
                most[name], found[name] = worth, (scores, sorts)
    least = (world.drawn * world.worth).sum(axis=1).argsort()[: CONTEXTS // 8]
    rare = finite[least].argsort(axis=1)[:, : world.items // 2]
    worst = np.take_along_axis(rare, np.take_along_axis(world.click[least], rare, axis=1).argmin(axis=1)[:, None], 1)
    scores = finite.copy()
    scores[least[:, None], worst] += 10.0
    found["leaves the log where it earns least"] = scores, np.isinf(world.sharpness)
    return found


def fooled(world: World, seed: int) -> Iterator[Outcome]:
    """The policies made to fool the rule, judged on the last third."""
    log = world.draw(seed)
    asked = picked(world, log, seed)
    names = {kind: f"score_{place}" for place, kind in enumerate(asked)}
    table = world.table({name: each[2::3] for name, each in log.items()}, {names[k]: s for k, (s, _) in asked.items()})
    spelled = {True: "top({})", False: "plackett_luce({}, log=True)"}
    targets = {kind: spelled[sorts].format(names[kind]) for kind, (_, sorts) in asked.items()}
    try:
        result = offrank.evaluate(table, targets, world.logging)
    except offrank.OffrankError:
        return
    for kind, (scores, sorts) in asked.items():
        yield outcome(world, kind, world.sorted(scores) if sorts else world.law(scores), result, kind)


def learnt(world: World, seed: int, folder: str) -> Iterator[Outcome]:
    """Policies learnt as `offrank learn` does."""
    table = world.table(world.draw(seed), {})
    for method in ("regression", "poem"):
        try:
            made = offrank.learn(table, method, f"{folder}/p.npz", logging=world.logging, bits=4, epochs=2)
        except offrank.OffrankError:
            continue
        model = made.policy.model
        scores = (world.features * model.encoding.scale[:FEATURES]) @ model.weights[:FEATURES]
        law = world.sorted(scores) if made.greedy else world.law(scores)
        yield outcome(world, f"learnt by {method}", law, made.tested, "sorted" if made.greedy else "drawn")


def outcomes(task: tuple[str, int, int]) -> list[Outcome]:
    """The policies of the logs of a world: its name, logs, and how many of these policies are learnt from."""
    name, logs, learnt_logs = task
    world = next(one for one in WORLDS if one.name == name)
    found = [one for seed in range(logs) for one in fooled(world, seed)]
    with TemporaryDirectory() as folder:
        return found + [one for seed in range(learnt_logs) for one in learnt(world, seed, folder)]


def share(found: list[bool]) -> str:
    return f"{100 * np.mean(found):.1f} %" if found else ""


def line(name: str, every: list[Outcome]) -> str:
    """A line of the table."""
    worse, better = ([one for one in every if one.better is side] for side in (False, True))
    kinds = [[one for one in worse if one.kind == kind] for kind in dict.fromkeys(one.kind for one in worse)]
    rules = ("before", "now")
    most = [max((np.mean([getattr(one, rule) for one in some]) for some in kinds), default=0.0) for rule in rules]
    cells = [f"{len(worse):,}", *(share([getattr(one, rule) for one in worse]) for rule in rules)]
    cells += [*(f"{100 * one:.1f} %" for one in most), f"{len(better):,}"]
    return markdown_row(name, *cells, *(share([getattr(one, rule) for one in better]) for rule in rules))


def release(
    *, logs: int = 500, learnt: int = 100, only: str = "", workers: int = 1, kept: Path | None = None
) -> Iterator[str]:
    """What each rule let through, by world. learnt: of the logs of each world, how many policies are learnt from."""
    yield f"{logs} logs of each world, {learnt} of them learnt from."
    yield ""
    heads = ("No better", "released before", "now", "of a kind, most before", "now", "Better", "before", "now")
    yield from markdown_head("World", *heads)
    every: list[Outcome] = []
    tasks = [(world.name, logs, learnt) for world in WORLDS if only in world.name]
    for (name, *_), found in measured(outcomes, tasks, workers, kept):
        some = [restored(Outcome, one) for one in found]
        every += some
        yield line(name, some)
    yield line("all", every)


COMMANDS = {release: "release"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
