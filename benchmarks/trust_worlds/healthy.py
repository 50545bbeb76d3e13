"""Worlds in which nothing is wrong."""

from __future__ import annotations

from . import log
from .engine import CURVE, Law
from .world import FEW, World

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
