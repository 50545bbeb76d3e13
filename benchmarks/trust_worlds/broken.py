"""Worlds in which something is wrong: with the probabilities, with what was written, or with what is assumed."""

from __future__ import annotations

from dataclasses import replace

from . import log
from .engine import Law, Users
from .world import World

OFF = frozenset({"mean-weight"})
LAW = frozenset({"miscalibrated"})
KEPT = frozenset({"mean-weight", "miscalibrated", "double-subsampling"})
POOR = frozenset({"low-ess", "hidden-mass", "heavy-tail", "large-weight", "few-rewards", "support", "no-overlap"})
USERS = frozenset({"disagreement", "assumed"})
CURVE = frozenset({"disagreement", "odd-examination"})
NEAR = Law("near_score", temperature=0.8)
NEAR_TOP = Law("near_score", top=True)
TAIL = Law("far_score", top=True)
SLATES_ALONE = frozenset({"ips", "snips"})
DOWN_TO_A_CLICK = SLATES_ALONE | {"rips"}
WITHOUT_CURVE = DOWN_TO_A_CLICK | {"ipm"}
MODELS = ("ips", "rips", "ipm", "interpol(window=1)", "interpol(window=3)")
CASCADE = Users((1.0,) * 5, stop=1.0)
THREE = {"slots": 3}


def written(name: str, *steps: log.Step, causes: frozenset[str] = OFF, known_from: int = 1000) -> World:
    """A log of a near target whose propensities are written, and wrong."""
    return World(name, said="logged", target=NEAR, shape=THREE, written=steps, estimators=("ips", "snips"),
                 causes=causes, known_from=known_from, serious=True)  # fmt: skip


def shown(name: str, *steps: log.Step, drawn: Law | None = None, said: str = "plackett_luce(old_score)",
          known_from: int = 1000, serious: bool = True) -> World:  # fmt: skip
    """A log whose slates are not those of the policy that is named."""
    return World(name, drawn=drawn or Law(), said=said, target=NEAR, shape=THREE, shown=steps, causes=LAW,
                 known_from=known_from, serious=serious)  # fmt: skip


def told(name: str, *steps: log.Step, causes: frozenset[str] | None, serious: bool = False,
         spared: frozenset[str] = frozenset()) -> World:  # fmt: skip
    """A log that was drawn as is said, and written down otherwise."""
    return World(name, target=NEAR, shape=THREE, written=steps, causes=causes, serious=serious, spared=spared)


def curve(name: str, *wrong: float, known_from: int = 20000) -> World:
    """An examination curve that is not that of the users, beside estimates without one."""
    return World(name, drawn=Law("flat"), estimators=MODELS, options={"examination": list(wrong)}, causes=CURVE,
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
