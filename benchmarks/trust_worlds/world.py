"""Worlds, healthy and broken: how their logs come about, what is asked of them, and what ought to be said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import offrank
from offrank.clicks import Fitted
from offrank.estimators import Direct, DoublyRobust

from . import log
from .engine import CURVE, Draft, Engine, Integers, Law, Step, Users, stream

SOUND, CARE, NONE = "sound", "with care", "none"
Z = 1.959964
SEVERITIES = ("note", "warning", "serious")
FEW = ("ips", "snips", "rips", "ipm")


@dataclass(frozen=True)
class World:
    """One kind of log, and one question.

    - drawn: how slates are drawn; said: what `logging=` says, by default the truth; asked: what `target=` says.
    - shown, written: what happens before users see a slate, and to what is written afterwards.
    - causes: codes that name what is wrong; None where nothing in the log can tell; empty in a healthy world.
    - known_from: rows from which on a test of the right question would see it, or a healthy log can answer.
    - spared: estimators that what is wrong does not harm: where one of them answers, no cause has to be named.
    - serious: every estimate asked for is wrong, or rests on next to nothing: *use* would be a fault.
    - learnt: a click model whose `direct` and `dr` estimates are asked for too; copied: learnt from this very log.
    - sampled: the log holds so many of the queries, of sizes rank^-power, and the question is about all of them.
    """

    name: str
    drawn: Law = field(default_factory=Law)
    said: str = ""
    asked: str = ""
    target: Law = field(default_factory=lambda: Law("new_score", top=True))
    users: Users = field(default_factory=Users)
    shape: Mapping[str, Any] = field(default_factory=dict)
    shown: tuple[Step, ...] = ()
    written: tuple[Step, ...] = ()
    estimators: tuple[str, ...] = FEW
    options: Mapping[str, Any] = field(default_factory=dict)
    causes: frozenset[str] | None = frozenset()
    known_from: int = 0
    spared: frozenset[str] = frozenset()
    serious: bool = False
    learnt: str = ""
    copied: bool = False
    sampled: tuple[int, float] | None = None
    unit: float = 1.0

    @property
    def healthy(self) -> bool:
        """Nothing is wrong with the log, and it can answer."""
        return self.causes == frozenset()

    @cached_property
    def engine(self) -> Engine:
        return Engine(self.name, **self.shape)

    @cached_property
    def truth(self) -> float:
        """What the target would earn per impression."""
        return self.unit * self.target.value(self.engine, self.users)

    def table(self, rows: int, seed: int) -> pa.Table:
        """A log of about so many rows."""
        rng, engine = stream(self.name, rows, seed + 1), self.engine
        query = self._queries(rows, rng)
        draft = Draft(engine, self.users, query, self.drawn.draw(engine, query, rng), {}, rng)
        for step in self.shown:
            step(draft)
        query = draft.query
        draft.columns = {"candidates": engine.items[query], "slate": engine.items[query[:, None], draft.slate]}
        draft.click()
        asked = f"{self.question()['target']} {self.question()['logging']}"
        scores = {name for name in engine.columns if f"{name})" in asked or f"{name}," in asked}
        draft.columns |= {name: engine.columns[name][query] for name in sorted(scores)}
        for step in self.written:
            step(draft)
        return draft.table()

    def question(self) -> dict[str, Any]:
        """Arguments of `offrank.evaluate`, besides the log."""
        asked = {"target": self.asked or self.target.spelling, "logging": self.said or self.drawn.spelling}
        return asked | {"estimators": list(self.estimators), **self.options}

    def answer(self, log: pa.Table) -> offrank.Result:
        """What offrank says of a log.

        Raises:
            OffrankError: it refuses.
        """
        asked = self.question()
        if self.learnt:
            fitted = self._learn(log) if self.copied else self._fitted
            asked["estimators"] += [Direct(fitted), DoublyRobust(fitted)]
        return offrank.evaluate(log, **asked)

    @cached_property
    def _fitted(self) -> Fitted:
        return self._learn(self.table(10_000, -1))

    def _learn(self, log: pa.Table) -> Fitted:
        with TemporaryDirectory() as folder:
            return offrank.fit_clicks(log, self.learnt, Path(folder) / "model.json", by=None).fitted

    def _queries(self, rows: int, rng: np.random.Generator) -> Integers:
        known = len(self.engine.columns["relevance"])
        if self.sampled is None:
            return rng.integers(known, size=rows)
        count, power = self.sampled
        sizes = np.arange(1, count + 1) ** -power
        return rng.choice(rng.permutation(known)[:count], size=rows, p=sizes / sizes.sum())


@dataclass(frozen=True)
class Outcome:
    """What was said of one log.

    first: the code that is named first, and whether it is right. held: the interval holds the truth; off: the error
    exceeds three standard errors; spared: the answer is from an estimator that the fault of the world does not harm;
    decided, astray: better or worse than the log, and the truth lies on the other side of what the log earned.
    """

    trust: str
    first: str
    right: bool
    held: bool | None = None
    off: bool | None = None
    spared: bool = False
    decided: bool = False
    astray: bool = False

    @property
    def sound(self) -> bool:
        return self.trust == SOUND

    @property
    def refused(self) -> bool:
        return self.trust == NONE


def outcome(world: World, rows: int, seed: int) -> Outcome:
    """One log of a world, judged; what is refused is not used."""
    try:
        return judged(world, world.answer(world.table(rows, seed)))
    except offrank.OffrankError as error:
        return Outcome(NONE, error.code, error.code in (world.causes or ()))


def judged(world: World, result: offrank.Result) -> Outcome:
    """A result of a log of a world; of its findings, those that the verdict rests on are named first."""
    found, truth = result.verdict, world.truth
    worst_first = sorted(result.findings, key=lambda one: -SEVERITIES.index(one.severity))
    first = next((one.code for one in (*found.reasons, *worst_first)), "")
    right = first in (world.causes or ())
    if found.value is None:
        return Outcome(found.trust, first, right)
    value, low, high = found.value.value, found.value.low, found.value.high
    logged = found.logged
    astray = logged is not None and (
        (found.decision == "better" and truth < logged.low) or (found.decision == "worse" and truth > logged.high)
    )
    off = abs(value - truth) > 3 * (high - low) / 2 / Z
    spared = str(found.estimator).partition("(")[0] in world.spared
    return Outcome(
        found.trust, first, right, low <= truth <= high, off, spared, found.decision in ("better", "worse"), astray
    )


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    count: int
    of: int

    def __str__(self) -> str:
        return f"{100 * self.count / self.of:.0f} %" if self.of else ""

    @classmethod
    def that(cls, judged: Iterable[Any]) -> Share:
        kept = list(map(bool, judged))
        return cls(sum(kept), len(kept))


def share(logs: Iterable[Any], what: str, *trust: str) -> Share:
    """Of the logs (of this trust) of which it can be said, those of which it is true. what: a property of theirs."""
    found = [getattr(one, what) for one in logs if not trust or one.trust in trust]
    return Share.that(one for one in found if one is not None)


# Worlds in which nothing is wrong -------------------------------------------------------------------------------------

NEAR = Law("near_score", temperature=0.8)
NEAR_TOP = Law("near_score", top=True)
CURVED = {"examination": list(CURVE)}

HEALTHY = (
    World("uniform, 3 of 6", known_from=5000, drawn=Law("flat"), shape={"candidates": 6, "slots": 3}),
    World("uniform, target like it", drawn=Law("flat"), target=Law("new_score"), shape={"slots": 3}),
    World("Plackett-Luce, 1 slot", shape={"slots": 1}, estimators=("ips", "snips")),
    World("Plackett-Luce, 3 slots", known_from=5000, shape={"slots": 3}),
    World("Plackett-Luce, 3 slots, near target", target=NEAR, shape={"slots": 3}),
    World("Plackett-Luce, 5 slots", known_from=5000, shape={"slots": 5}),
    World("Plackett-Luce, 5 slots, near target", target=NEAR, shape={"slots": 5}),
    World("Plackett-Luce, written propensities", drawn=Law(), said="logged", target=NEAR, shape={"slots": 3},
          written=(log.propensities(Law()),), estimators=("ips", "snips", "rips")),
    World("epsilon-greedy", drawn=Law(top=True, epsilon=0.5), known_from=5000),
    World("random swaps", drawn=Law(top=True, epsilon=0.4 * 8 / 7), said="swaps(top(old_score), 0.6)", known_from=5000),
    World("sub-sampled, and told so", written=(log.subsample(0.2),), target=NEAR),
    World("slates of unlike lengths", known_from=5000, shape={"lengths": (0.3, 0.3, 0.2, 0.2)}, written=(log.cut,)),
    World("40 candidates", target=NEAR_TOP, known_from=5000, drawn=Law(temperature=0.5),
          shape={"candidates": 40, "slots": 2}),
    World("queries of unlike sizes", sampled=(300, 0.5), known_from=5000, shape={"queries": 1000, "slots": 2},
          written=(log.tell_query,)),
    World("clicks of unlike worth", target=NEAR, written=(log.prices,)),
    World("a noisy reward", target=NEAR, written=(log.reward(1.0, 1.0),), estimators=("ips", "snips")),
    World("the right examination curve", estimators=(*FEW, "interpol(window=1)", "interpol(window=2)"),
          options=CURVED, known_from=5000),
    World("pi under epsilon", known_from=5000, drawn=Law(top=True, epsilon=0.5), shape={"candidates": 6, "slots": 3},
          estimators=("ips", "pi", "ipm")),
)  # fmt: skip

# Worlds in which something is wrong: with probabilities, with what was written, or with what is assumed ---------------

OFF = frozenset({"mean-weight"})
LAW = frozenset({"miscalibrated"})
KEPT = frozenset({"mean-weight", "miscalibrated", "double-subsampling"})
POOR = frozenset({"low-ess", "hidden-mass", "heavy-tail", "large-weight", "few-rewards", "support", "no-overlap"})
USERS = frozenset({"disagreement", "assumed"})
WRONG_CURVE = frozenset({"disagreement", "odd-examination"})
TAIL = Law("far_score", top=True)
SLATES_ALONE = frozenset({"ips", "snips"})
DOWN_TO_A_CLICK = SLATES_ALONE | {"rips"}
WITHOUT_CURVE = DOWN_TO_A_CLICK | {"ipm"}
MODELS = ("ips", "rips", "ipm", "interpol(window=1)", "interpol(window=3)")
CASCADE = Users((1.0,) * 5, stop=1.0)
THREE = {"slots": 3}


def written(name: str, *steps: Step, causes: frozenset[str] = OFF, known_from: int = 1000) -> World:
    """A log of a near target whose propensities are written, and wrong."""
    return World(name, said="logged", target=NEAR, shape=THREE, written=steps, estimators=("ips", "snips"),
                 causes=causes, known_from=known_from, serious=True)  # fmt: skip


def shown(name: str, *steps: Step, drawn: Law | None = None, said: str = "plackett_luce(old_score)",
          known_from: int = 1000, serious: bool = True) -> World:  # fmt: skip
    """A log whose slates are not those of the policy that is named."""
    return World(name, drawn=drawn or Law(), said=said, target=NEAR, shape=THREE, shown=steps, causes=LAW,
                 known_from=known_from, serious=serious)  # fmt: skip


def told(name: str, *steps: Step, causes: frozenset[str] | None, serious: bool = False,
         spared: frozenset[str] = frozenset()) -> World:  # fmt: skip
    """A log that was drawn as is said, and written down otherwise."""
    return World(name, target=NEAR, shape=THREE, written=steps, causes=causes, serious=serious, spared=spared)


def curve(name: str, *wrong: float, known_from: int = 20000) -> World:
    """An examination curve that is not that of the users, beside estimates without one."""
    return World(name, drawn=Law("flat"), estimators=MODELS, options={"examination": list(wrong)}, causes=WRONG_CURVE,
                 spared=WITHOUT_CURVE, known_from=known_from, shape={"candidates": 6})  # fmt: skip


PROPENSITIES = (
    written("propensities twice too large", log.propensities(Law(), 2.0)),
    written("propensities half of the right ones", log.propensities(Law(), 0.5)),
    written("propensities a tenth too large", log.propensities(Law(), 1.1), known_from=5000),
    written("propensities a tenth too small", log.propensities(Law(), 0.9), known_from=5000),
    written("propensities of sets, not of orders", log.of_the_set),
    written("propensities of other rows", log.mixed_up),
    written("propensities of another temperature", log.propensities(Law(temperature=0.6))),
    replace(
        written("another score's column, and its propensities", log.propensities(Law("other_score"))),
        said="plackett_luce(other_score)", drawn=Law(), causes=frozenset({"miscalibrated"}),
    ),
    replace(
        written("the named policy against right propensities", log.propensities(Law())),
        said="plackett_luce(other_score)", causes=frozenset({"propensity-mismatch", "miscalibrated"}),
    ),
    replace(
        told("sub-sampling forgotten", log.subsample(0.1), log.drop("inclusion"), causes=KEPT), serious=True,
        known_from=5000,
    ),
    replace(
        written("sub-sampling corrected twice", log.subsample(0.1), log.inclusion_twice),
        causes=frozenset({"double-subsampling"}),
    ),
    replace(
        told("only clicked rows kept", log.clicked_only, causes=KEPT | {"only-clicked-rows"}), serious=True,
    ),
    written("propensities of another day", log.propensities(Law("stale_score"))),
    written("propensities of another arm in half of the rows", log.one_arm, known_from=5000),
    replace(
        told("inclusion inverted", log.subsample(0.1), log.inclusion_inverted, causes=KEPT), serious=True,
        known_from=5000,
    ),
)  # fmt: skip

SLATES = (
    shown("two slots swapped", log.swap(0, 1)),
    shown("two slots swapped in a fifth of the rows", log.swap(0, 2, 0.2), known_from=20000, serious=False),
    shown("slots shuffled", log.shuffle),
    shown("slates bottom first", log.turn_over),
    replace(shown("an item pinned on top", log.pin(1.0)), causes=LAW | {"not-random"}),
    shown("an item pinned in a tenth of the rows", log.pin(0.1), known_from=20000, serious=False),
    shown("candidates filtered after scoring", drawn=Law("holes_score")),
    shown("noise on the logging scores", drawn=Law(noise=0.8), known_from=5000),
    shown("logging scores rounded in the log", said="plackett_luce(rounded_score)", known_from=5000),
    shown("temperature .5 not told", drawn=Law(temperature=0.5)),
    shown("temperature .8 not told", drawn=Law(temperature=0.8)),
    shown("temperature 1.5 not told", drawn=Law(temperature=1.5)),
    shown("temperature 2 not told", drawn=Law(temperature=2.0)),
    shown("another score's column", said="plackett_luce(other_score)"),
    shown("scores of yesterday", drawn=Law("stale_score")),
    shown("a fifth of uniform slates not told", drawn=Law(epsilon=0.2)),
    replace(shown("said to be uniform", said="uniform"), causes=LAW | OFF),
)

RECORDS = (
    told("clicks bottom first", log.bottom_first("clicks"), causes=USERS, spared=SLATES_ALONE),
    told("clicks one rank late", log.one_rank_late, causes=None),
    told("slates and clicks bottom first", log.bottom_first("slate"), log.bottom_first("clicks"), causes=LAW,
         serious=True),
    told("every row twice", log.double(1.0), causes=frozenset({"duplicate-rows"})),
    told("a third of the rows twice", log.double(1 / 3), causes=frozenset({"duplicate-rows"})),
    told("robots click everything in 1 of 20 rows", log.bots(0.05), causes=None),
    replace(told("a reward of another unit", log.reward(3.0), causes=frozenset({"clicks-not-reward"}),
                 spared=SLATES_ALONE), unit=3.0),
    told("the target knows the clicks", log.leak, causes=OFF, serious=True),
    told("only shown items are candidates", log.shown_only, causes=frozenset({"shown-only"}) | LAW,
         serious=True),
    replace(told("slates shown again on reload", causes=frozenset({"duplicate-rows"})), shown=(log.reload,)),
    replace(told("queries of unlike sizes, not told", causes=None), sampled=(60, 1.0),
            shape={"queries": 1000, "slots": 2}),
    World("a hidden feature decides slates and clicks", drawn=Law("insider_score"), said="logged", target=NEAR,
          shape={**THREE, "hidden": True}, written=(log.of_two_kinds,), estimators=("ips", "snips"), causes=None),
)  # fmt: skip

ASSUMPTIONS = (
    World("users who stop at a click", users=CASCADE, causes=USERS, spared=DOWN_TO_A_CLICK, known_from=5000),
    World("users whom the next result distracts", users=Users(distraction=0.9), causes=USERS, known_from=5000,
          spared=SLATES_ALONE, drawn=Law("flat"), shape=THREE),
    World("stopping users, position-based curve", users=CASCADE, estimators=MODELS, causes=USERS, known_from=5000,
          spared=DOWN_TO_A_CLICK, options={"examination": [1.0, 0.7, 0.5, 0.4]}),
    curve("curve a little wrong", 1.0, 0.6, 0.45, 0.36),
    curve("curve much wrong", 1.0, 0.9, 0.8, 0.7),
    curve("curve constant", 1.0, 1.0, 1.0, 1.0),
    curve("curve bottom first", 0.25, 0.33, 0.5, 1.0, known_from=1000),
    World("pbm where not all is shown", estimators=("pbm", "ipm", "ips"),
          options={"examination": [1.0, 0.5, 0.33, 0.25]}, causes=frozenset({"unseen-items"}),
          spared=WITHOUT_CURVE),
    World("pi where rewards do not add up", users=CASCADE, drawn=Law(top=True, epsilon=0.7), target=NEAR_TOP,
          shape={"candidates": 6, "slots": 3}, estimators=("ips", "pi"), causes=USERS, spared=SLATES_ALONE,
          known_from=5000),
    World("a click model without positions", target=NEAR, shape=THREE, estimators=(), learnt="dctr",
          causes=frozenset({"model-based", "disagreement"}), spared=frozenset({"dr"})),
    World("a click model learnt from the same log", target=NEAR, shape=THREE, estimators=(), learnt="pbm", copied=True,
          causes=frozenset({"same-log"}), serious=True),
    World("ties that the ranker broke by more", asked="top(tied_score)", causes=frozenset({"ties"}),
          estimators=("ips", "snips"), shape={"slots": 1}),
)  # fmt: skip

OVERLAP = (
    World("items that the log never shows", drawn=Law("holes_score"), causes=POOR | OFF, serious=True, shape=THREE),
    World("whole slates of a far target", target=TAIL, drawn=Law(temperature=0.6), shape={"slots": 5},
          estimators=("ips", "snips"), causes=POOR, serious=True),
    World("a sharp target with heavy tails", target=Law("far_score", temperature=0.5), drawn=Law(temperature=0.6),
          estimators=("ips", "snips"), causes=POOR, serious=True),
    World("a fixed ranking with few random slates", drawn=Law(top=True, epsilon=0.02),
          estimators=("ips", "snips"), causes=POOR, serious=True),
)  # fmt: skip

BROKEN = (*PROPENSITIES, *SLATES, *RECORDS, *ASSUMPTIONS, *OVERLAP)

WORLDS: dict[str, World] = {world.name: world for world in (*HEALTHY, *BROKEN)}
