"""A log in memory: four estimators with intervals, against plain NumPy for a single one.

Plain NumPy does the same job for one estimator at a time, from the score columns: the value and its
interval, without any check of the log. "Propensities given" is less work still: the weights' parts are
columns of the log. Then what the bootstrap adds.

    python benchmarks/memory.py [--rows 1000000] [--repeats 7]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
from _timing import in_turn, show
from _worlds import reranked

import offrank
from offrank.log import LogBatch, Needs

SLOTS = 5
ESTIMATORS = ["ips", "snips", "ipm", "rips"]
TARGET, LOGGING = "plackett_luce(new_score)", "plackett_luce(old_score)"
FIXED_TARGET, FIXED_LOGGING = "top(new_score)", "swaps(top(old_score), 0.5)"


class Decoded:
    """A source of batches that are in memory already."""

    def __init__(self, parts: list[list[LogBatch]]) -> None:
        self._parts = parts

    def parts(self) -> int:
        return len(self._parts)

    def batches(self, part: int) -> list[LogBatch]:
        return self._parts[part]

    def select(self, needed: object) -> Decoded:
        return self

    def describe(self) -> str:
        return "batches in memory"


def decoded(log: pa.Table) -> Decoded:
    """The batches of a log."""
    source = offrank.read_log(log)
    needed = Needs(frozenset(["clicks"]), scores=frozenset(["old_score", "new_score"]))
    source = source.select(needed)
    return Decoded([list(source.batches(part)) for part in range(source.parts())])


def column(log: pa.Table, name: str) -> np.ndarray:
    """[n, k] a list column, without copying."""
    return log.column(name).chunk(0).values.to_numpy().reshape(-1, SLOTS)


def slot_probs(scores: np.ndarray) -> np.ndarray:
    """[n, k] Plackett-Luce probability of each slot given the slots above, where all candidates are shown."""
    return scores / np.cumsum(scores[:, ::-1], axis=1)[:, ::-1]


def mean(value: np.ndarray) -> tuple[float, float]:
    return value.mean(), 1.96 * value.std(ddof=1) / len(value) ** 0.5


def ratio(value: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    found = value.sum() / weight.sum()
    return found, 1.96 * (value - found * weight).std(ddof=1) / weight.mean() / len(value) ** 0.5


def plain(log: pa.Table, estimator: str) -> tuple[float, float]:
    """One estimator from the score columns: value and half width."""
    old, new, clicks = (column(log, name) for name in ("old_score", "new_score", "clicks"))
    if estimator == "rips":
        return mean((np.cumprod(slot_probs(new) / slot_probs(old), axis=1) * clicks).sum(axis=1))
    if estimator == "ipm":
        return mean((own_rank(new) / own_rank(old) * clicks).sum(axis=1))
    weight = slot_probs(new).prod(axis=1) / slot_probs(old).prod(axis=1)
    value = weight * clicks.sum(axis=1)
    return mean(value) if estimator == "ips" else ratio(value, weight)


def own_rank(scores: np.ndarray) -> np.ndarray:
    """[n, k] P(item i at rank i) by summing over the sets that can stand above, vectorised over rows."""
    n, k = scores.shape
    chance, law = np.zeros((1 << k, n)), np.zeros((k, n))
    chance[0] = 1
    for above in range((1 << k) - 1):
        left = [item for item in range(k) if not above & (1 << item)]
        share = chance[above] / scores[:, left].sum(axis=1)
        for item in left:
            chance[above | (1 << item)] += share * scores[:, item]
            if k - len(left) == item:
                law[item] += share * scores[:, item]
    return law.T


def given(propensity: np.ndarray, wanted: np.ndarray, clicks: np.ndarray, slate: bool) -> tuple[float, float]:
    """The reference of a log that holds both policies' probabilities: per slate [n], or per slot [n, k]."""
    weight = wanted / propensity
    return mean(weight * clicks.sum(axis=1) if slate else (weight * clicks).sum(axis=1))


def evaluation(log: object, interval: str = "normal", fixed: bool = False) -> Callable[[], object]:
    """A job: all estimators together."""
    return partial(
        offrank.evaluate,
        log,
        target=FIXED_TARGET if fixed else TARGET,
        logging=FIXED_LOGGING if fixed else LOGGING,
        estimators=ESTIMATORS,
        interval=interval,
        cluster=None,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    log = reranked(arguments.rows, SLOTS)
    compare(log, arguments)
    compare_given(log, arguments)
    compare_bootstrap(log, arguments)


def compare(log: pa.Table, arguments: argparse.Namespace) -> None:
    source, batches = offrank.read_log(log), decoded(log)
    agree(log, source)
    jobs: dict[str, Callable[[], object]] = {
        f"NumPy, {name} alone": partial(plain, log, name) for name in ESTIMATORS if name != "ipm"
    }
    jobs |= {
        "offrank, all four, from the table": evaluation(source),
        "offrank, all four, from batches": evaluation(batches),
        "offrank, deterministic target, from the table": evaluation(source, fixed=True),
        "offrank, deterministic target, from batches": evaluation(batches, fixed=True),
    }
    times = in_turn(jobs, arguments.repeats)
    slow = in_turn({"NumPy, ipm alone": partial(plain, log, "ipm")}, 1)
    show(
        f"{arguments.rows:,} slates of {SLOTS}: ips, snips, ipm and rips with intervals",
        times | slow,
        arguments.rows,
        "NumPy, ips alone",
    )


def compare_given(log: pa.Table, arguments: argparse.Namespace) -> None:
    old, new, clicks = (column(log, name) for name in ("old_score", "new_score", "clicks"))
    slots, wanted_slots = slot_probs(old), slot_probs(new)
    slates, wanted = slots.prod(axis=1), wanted_slots.prod(axis=1)
    jobs = {
        "NumPy, ips, propensities given": partial(given, slates, wanted, clicks, True),
        "NumPy, per slot, propensities given": partial(given, slots, wanted_slots, clicks, False),
        "offrank, all four, from the table": evaluation(offrank.read_log(log)),
    }
    show(
        "The same, where NumPy is given both policies' probabilities as arrays (less work)",
        in_turn(jobs, arguments.repeats),
        arguments.rows,
        "NumPy, ips, propensities given",
    )


def compare_bootstrap(log: pa.Table, arguments: argparse.Namespace) -> None:
    source = offrank.read_log(log)
    for fixed, target in ((False, TARGET), (True, FIXED_TARGET)):
        jobs = {
            "normal intervals": evaluation(source, fixed=fixed),
            "200 bootstrap replicates": evaluation(source, "bootstrap", fixed),
        }
        title = f"What the bootstrap adds, target {target}"
        show(title, in_turn(jobs, arguments.repeats), arguments.rows, "normal intervals")


def agree(log: pa.Table, source: object) -> None:
    """Refuse to time answers that differ."""
    result = evaluation(source)()
    for name in ESTIMATORS:
        value, half = plain(log, name)
        found = result[name]
        assert np.isclose(found.value, value, rtol=1e-9), name
        assert np.isclose(found.high - found.value, half, rtol=1e-3), name


if __name__ == "__main__":
    main()
