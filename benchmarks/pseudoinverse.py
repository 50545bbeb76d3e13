"""Weights of the pseudoinverse estimator: inverting Gamma, and weighing a log, against np.linalg.pinv.

python benchmarks/pseudoinverse.py [--rows 100000] [--repeats 5]
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from _timing import in_turn, show

from offrank.estimators import PI
from offrank.estimators.pseudoinverse.gamma import pseudoinverse
from offrank.log.batch import Contexts, Floats, LogBatch, RunCache, Shown
from offrank.policies import EpsilonUniform, PlackettLuce, Policy, Top, Uniform, propensities
from offrank.policies.base import all_items

SPACES = ((10, 5), (100, 10))


def log(rows: int, items: int, slots: int, seed: int) -> LogBatch:
    """Slates of a Plackett-Luce policy whose weights follow from the rank, in a random order of candidates."""
    rng = np.random.default_rng(seed)
    rank = rng.permuted(np.tile(np.arange(items), (rows, 1)), axis=1)
    old = 2.0 ** -np.floor(np.log2(rank + 1))
    contexts = Contexts(
        np.tile(np.arange(items), (rows, 1)),
        np.full(rows, items),
        np.full(rows, slots),
        {"old": old, "new": rng.random((rows, items))},
    )
    slates = PlackettLuce("old").sample(contexts, rng)
    return LogBatch(contexts, Shown(slates), None, np.ones(rows), np.ones(rows), np.arange(rows, dtype=np.uint64))


def weigh(batch: LogBatch, logging: Policy, target: Policy) -> Floats:
    return PI().weigh(batch, propensities(logging, batch), propensities(target, batch)).weight


def by_pinv(batch: LogBatch, inverse: Floats) -> Floats:
    """As plain NumPy does it: indicator vectors and a matrix product, in rank coordinates."""
    size, slots = batch.contexts.candidates.shape[1], batch.slates.shape[1]
    order = np.argsort(-batch.contexts.scores["old"], axis=1, kind="stable")
    place = np.argsort(order, axis=1)
    target = Top("new").rank_probs(batch.contexts, all_items(batch.contexts))
    wanted = np.take_along_axis(target, order[:, :, None], axis=1).reshape(len(batch), -1)
    shown = np.zeros((len(batch), size, slots))
    shown[np.arange(len(batch))[:, None], np.take_along_axis(place, batch.slates, axis=1), np.arange(slots)] = 1
    return np.einsum("ij,ij->i", wanted @ inverse, shown.reshape(len(batch), -1))


def first(batch: LogBatch) -> Contexts:
    """One context, its candidates by their scores."""
    old = -np.sort(-batch.contexts.scores["old"][:1], axis=1)
    one = batch.contexts
    return Contexts(one.candidates[:1], one.size[:1], one.length[:1], {"old": old})


def measure(items: int, slots: int, rows: int, repeats: int) -> None:
    batch = log(rows, items, slots, seed=1)
    one = first(batch)
    gamma = PlackettLuce("old").pair_probs(one)[0]
    flat = gamma.reshape(items * slots, -1)
    inverse = np.linalg.pinv(flat)
    few = min(rows, 2000)
    part = log(few, items, slots, seed=2)
    error = np.abs(weigh(part, PlackettLuce("old"), Top("new")) - by_pinv(part, inverse)).max()
    print(f"\n{items} candidates, {slots} slots: both agree to {error:.1e}")
    inverting = {
        "np.linalg.pinv": lambda: np.linalg.pinv(flat),
        "np.linalg.pinv, hermitian": lambda: np.linalg.pinv(flat, hermitian=True),
        "Cholesky, null space known": lambda: pseudoinverse(gamma),
        "Gamma of Plackett-Luce itself": lambda: PlackettLuce("old").pair_probs(one),
        "Gamma of uniform itself": lambda: Uniform().pair_probs(one),
    }
    show("One Gamma, inverted", in_turn(inverting, repeats), 1, "np.linalg.pinv")
    weighing = {
        "NumPy, Gamma^+ known": lambda: by_pinv(part, inverse),
        "uniform logging, closed form": lambda: weigh(part, Uniform(), Top("new")),
        "plackett_luce(old), Gamma^+ known": lambda: weigh(part, PlackettLuce("old"), Top("new")),
        "plackett_luce(old), stochastic target": lambda: weigh(
            part, PlackettLuce("old"), EpsilonUniform(Top("new"), 0.1)
        ),
    }
    show(f"{few:,} weights", in_turn(weighing, repeats), few, "NumPy, Gamma^+ known")
    whole = {
        "uniform logging, closed form": lambda: weigh(batch, Uniform(), Top("new")),
        "plackett_luce(old), from nothing": lambda: weigh(
            replace(batch, run=RunCache()), PlackettLuce("old"), Top("new")
        ),
    }
    show(f"{rows:,} weights", in_turn(whole, max(repeats // 2, 2)), rows, "uniform logging, closed form")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    for items, slots in SPACES:
        measure(items, slots, given.rows, given.repeats)


if __name__ == "__main__":
    main()
