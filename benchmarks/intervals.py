"""How often 95 % intervals hold the truth, in logs of known truth: of values, differences, at several looks.

python benchmarks/intervals.py usual [--logs 1000] [--rows 2000]
python benchmarks/intervals.py skewed [--logs 200]
python benchmarks/intervals.py differences [--logs 250]
python benchmarks/intervals.py design [--logs 60]
python benchmarks/intervals.py looks [--write]
python benchmarks/intervals.py looks-of-logs [--logs 200] [--write]
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean, median

import numpy as np
import pyarrow as pa
from _page import run
from _worlds import World, draw, lists, table, world
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

import offrank
from offrank.inference import IntervalSpec
from offrank.inference.anytime import level_of_each
from offrank.language.formatting import percent
from offrank.log import Contexts
from offrank.policies import PlackettLuce, policy
from offrank.simulation import SearchWorld
from offrank.sums import NamedColumns, Sample, ratio
from offrank.sums.estimate import student
from offrank.sums.sampled import EQUAL, SAID

WORLD = SearchWorld(queries=100, seed=11)
LOGGING, TARGET = PlackettLuce("old_score"), PlackettLuce("blend")
ESTIMATORS = ["ips", "snips", "ipm", "snipm", "rips", "snrips", "interpol(window=1)", "sninterpol(window=1)", "logged"]
SKIPPED = 0.9  # share of the rows without a click that a sub-sampled log leaves out
EAGERNESS = np.array([0.2, 1.0])  # what a user's click probabilities are multiplied by
PER_USER = 5
KINDS = ("independent rows", "inclusion", "cluster")


def contexts(query: np.ndarray) -> Contexts:
    """The contexts of these queries, with a score halfway between the old and the new one."""
    found = WORLD.contexts(query)
    scores = dict(found.scores)
    scores["blend"] = np.sqrt(scores["old_score"] * scores["new_score"])
    return type(found)(found.candidates, found.size, found.length, scores)


def simulate(kind: str, rows: int, rng: np.random.Generator) -> pa.Table:
    """A log of about so many rows."""
    if kind != "independent rows":
        rows *= 2  # of which half are left, or which say as much as half as many
    per_user = PER_USER if kind == "cluster" else 1
    query = np.repeat(rng.integers(WORLD.queries, size=rows // per_user), per_user)
    eagerness = np.repeat(rng.choice(EAGERNESS, size=rows // per_user), per_user)
    found = contexts(query)
    slates = LOGGING.sample(found, rng)
    chance = WORLD.examination * WORLD.relevance[query[:, None], slates] * eagerness[:, None]
    clicks = (rng.random(slates.shape) < chance).astype(np.float64)
    inclusion = np.where(clicks.any(axis=1) | (kind != "inclusion"), 1.0, 1 - SKIPPED)
    columns = {
        "candidates": lists(found.candidates),
        "slate": lists(np.take_along_axis(found.candidates, slates, axis=1)),
        "clicks": lists(clicks),
        "old_score": lists(found.scores["old_score"]),
        "blend": lists(found.scores["blend"]),
        "inclusion": pa.array(inclusion),
        "user": pa.array(np.arange(rows) // per_user),
    }
    return table(columns).filter(rng.random(rows) < inclusion)


def truth(policy: PlackettLuce) -> float:
    """What a policy earns per impression, all queries being alike."""
    found = contexts(np.arange(WORLD.queries))
    items = np.broadcast_to(np.arange(WORLD.candidates), (WORLD.queries, WORLD.candidates)).copy()
    law = policy.rank_probs(found, items)
    earned = np.einsum("qmk,k,qm->q", law, WORLD.examination, WORLD.relevance)
    return float(earned.mean() * EAGERNESS.mean())


def hits(kind: str, interval: str, log: pa.Table, wanted: dict[str, float]) -> Iterator[tuple[str, str, bool]]:
    """(estimator, what, whether the interval holds the truth)."""
    result = offrank.evaluate(
        log,
        target=TARGET,
        logging=LOGGING,
        estimators=ESTIMATORS,
        examination=list(WORLD.examination),
        interval=interval,
        cluster="user" if kind == "cluster" else None,
    )
    for name in ESTIMATORS:
        estimate = result[name]
        value = wanted["logging" if name == "logged" else "target"]
        yield name, "value", estimate.low <= value <= estimate.high
        if name != "logged":
            difference = wanted["target"] - wanted["logging"]
            yield name, "difference", estimate.difference.low <= difference <= estimate.difference.high


def shown_shares(shares: dict[tuple[str, ...], float], logs: int, rows: int) -> None:
    """Print the table and its extremes."""
    shown = Table(title=f"Coverage of 95 % intervals, {logs:,} logs of about {rows:,} rows: value / difference")
    shown.add_column("estimator")
    variants = [(kind, interval) for kind in KINDS for interval in ("normal", "bootstrap")]
    for kind, interval in variants:
        shown.add_column(f"{kind},\n{interval}", justify="right")
    for name in ESTIMATORS:
        cells = []
        for variant in variants:
            found = [shares.get((*variant, name, what)) for what in ("value", "difference")]
            cells.append(" / ".join(f"{share:.3f}" for share in found if share is not None))
        shown.add_row(name, *cells)
    console = Console(width=150)
    console.print(shown)
    console.print(f"least {min(shares.values()):.3f}, most {max(shares.values()):.3f}; wanted: .93 to .97")


SKEWED = ((2, 0.6, "sharp"), (3, 0.6, "top"), (3, 1.3, "uniform"))
"""Slots, spread of the logging scores, target."""
MEANS = {"ips": ratio(2, 0), "snips": ratio(2, 3), "rips": ratio(4, 0), "ipm": ratio(6, 0)}
COLUMNS = NamedColumns(tuple(range(8)))
METHODS: tuple[str, ...] = ("normal", "studentised", "bootstrap", "bernstein")


def columns(here: World, rows: int, rng: np.random.Generator) -> np.ndarray:
    """[rows, 8] one, clicks, and value and weight of ips, rips and ipm."""
    drawn, clicks = here.draw(rows, rng)
    found = [np.ones(rows), clicks.sum(axis=1)]
    for weight in (np.repeat(here.slate[drawn, None], clicks.shape[1], axis=1), here.prefix[drawn], here.item[drawn]):
        found += [(weight * clicks).sum(axis=1), weight.mean(axis=1)]
    return np.stack(found, axis=1)


def misses(here: World, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """[means, methods, 2] whether an interval lies above or below the truth, and [means] the estimates."""
    key = np.arange(rows, dtype=np.uint64)
    sample = Sample.of(columns(here, rows, np.random.default_rng([seed, rows])), key, {SAID: key, EQUAL: key})
    folded: dict[str, object] = {}
    for name, fold in IntervalSpec("bootstrap").folds(COLUMNS, blocks=(COLUMNS.once,)).items():
        folded[name] = fold.result(fold.of(sample))
    missed, values = np.zeros((len(MEANS), len(METHODS), 2)), np.zeros(len(MEANS))
    for place, method in enumerate(METHODS):
        spread = IntervalSpec(method).inference(COLUMNS, folded)
        for number, mean in enumerate(MEANS.values()):
            found = spread.interval(mean)
            missed[number, place] = found.low > here.truth, found.high < here.truth
            values[number] = found.value
    return missed, values


def skewed(*, logs: int = 200) -> None:
    """Skewed weights: coverage, in brackets the intervals that lie above and below the truth, in percent."""
    shown = Table(title=f"Skewed weights: coverage of 95 % intervals (above, below the truth), {logs:,} logs")
    for name in ("slots, logging, target", "rows", "effective", "estimator", "bias", *METHODS):
        shown.add_column(name, justify="right")
    for slots, scale, target in SKEWED:
        here = world(slots, scale, target)
        for rows in (1_000, 5_000, 20_000):
            found = [misses(here, rows, seed) for seed in range(logs)]
            missed = 100 * np.mean([one for one, _ in found], axis=0)
            bias = np.mean([values for _, values in found], axis=0) / here.truth - 1
            for number, name in enumerate(MEANS):
                cells = [f"{100 - each.sum():.1f} ({each[0]:.1f}, {each[1]:.1f})" for each in missed[number]]
                first = (f"{slots}, {scale}, {target}", f"{rows:,}", f"{here.effective(rows):,.0f}")
                shown.add_row(*(first if number == 0 else ("", "", "")), name, f"{100 * bias[number]:+.1f} %", *cells)
    Console(width=150).print(shown)


OLD = "plackett_luce(old_score)"
RANKERS = {
    "a": "plackett_luce(new_score)",
    "b": "plackett_luce(new_score, temperature=0.8)",
    "c": "plackett_luce(naive_score)",
}
PAIRS = [("b", "a"), ("c", "a")]
PAIRED = ["ips", "snips", "snipm"]


SLOTS, CLICK_RATE = 5, 0.6
CURVE = 1 / np.arange(1, SLOTS + 1)
DESIGNS = [
    (spread, target) for spread in (0.5, 1.0, 1.3) for target in ("top(new)", "plackett_luce(new, temperature=0.3)")
]
SIZES = (1000, 5000)
WEIGHTED = ["ips", "rips", "ipm"]


def designed(n: int, spread: float, rng: np.random.Generator) -> tuple[NDArray[np.float64], ...]:
    """[n, k] chance of a click at the top, old and new weights."""
    merit = rng.normal(size=(n, SLOTS))
    new = np.exp(spread * (0.5 * merit + rng.normal(scale=0.5, size=(n, SLOTS))))
    return CLICK_RATE / (1 + np.exp(-merit)), np.exp(spread * merit), new


def designed_log(n: int, spread: float, rng: np.random.Generator) -> object:
    """A log of n impressions."""
    every = designed(n, spread, rng)
    order = draw(every[1], rng)
    chance, old, new = (np.take_along_axis(one, order, axis=1) for one in every)
    clicks = (rng.random((n, SLOTS)) < CURVE * chance).astype(np.uint8)
    items = np.tile(np.arange(SLOTS), (n, 1))
    return table({"slate": lists(items), "old": lists(old), "new": lists(new), "clicks": lists(clicks)})


def designed_truth(spread: float, target: str, rng: np.random.Generator) -> float:
    """What the target earns, of many contexts with their expected clicks."""
    chance, _, new = designed(400_000, spread, rng)
    order = np.argsort(-new, axis=1) if target.startswith("top") else draw(new ** (1 / 0.3), rng)
    return float((CURVE * np.take_along_axis(chance, order, axis=1)).sum(axis=1).mean())


def unwarned(warnings: Sequence[offrank.Caution]) -> bool:
    return all(one.severity == "note" for one in warnings)


def covered(pairs: Sequence[tuple[bool, bool]]) -> tuple[str, str, str]:
    """Share of intervals that hold the truth, share that nothing is said of, and those of these that do."""
    good = [held for held, silent in pairs if silent]
    return (
        f"{np.mean([held for held, _ in pairs]):.3f}",
        f"{len(good) / len(pairs):.2f}",
        f"{np.mean(good):.3f}" if good else "-",
    )


LOOKS = (1, 2, 7, 14, 30, 100)
DAYS, A_DAY = 14, 1_000
LEVELS = ("studentised", "anytime")
GROWING = {
    "near": ("independent rows", PlackettLuce("blend")),
    "far": ("independent rows", PlackettLuce("blend", temperature=0.13)),
    "users": ("cluster", PlackettLuce("blend")),
}
FOLLOWED = ("ips", "snips", "snipm")


def looks(*, logs: int = 20_000) -> Iterator[str]:
    """How often an interval at 95 % that is looked at again and again misses the truth at some look, in general.

    Equal amounts of new rows between looks, of which the mean is normal: what holds for any estimate of a long log.
    """
    rng = np.random.default_rng(0)
    sums = rng.normal(size=(logs, max(LOOKS))).cumsum(axis=1)
    away = np.abs(sums) / np.sqrt(np.arange(1, max(LOOKS) + 1))
    yield "| looks | " + " | ".join(map(str, LOOKS)) + " |"
    yield "|---|" + "--:|" * len(LOOKS)
    for kind, level in zip(LEVELS, (0.95, level_of_each(0.95)), strict=True):
        missed = [(away[:, :looks] > student(0.5 + level / 2, np.inf)).any(axis=1).mean() for looks in LOOKS]
        yield f"| {kind}: missed at some look | " + " | ".join(percent(one, 0) for one in missed) + " |"


def looked_at(found: offrank.Result) -> np.ndarray:
    """[days, estimators, number or its difference to the log, (low, high)] of all rows up to each day."""
    ends = []
    for numbers in found.cumulative.values():
        each = [numbers[name] for name in FOLLOWED]
        ends.append([[(one.low, one.high), (one.difference.low, one.difference.high)] for one in each])
    return np.array(ends, float)


def looks_of_logs(*, logs: int = 200) -> Iterator[str]:
    """The same of simulated logs that grow by 1,000 rows on each of 14 days.

    A near ranking, a far one with an effective share of .04, and rows of users, five each, who differ in how readily
    they click.
    """
    yield "| world | estimator | studentised: value / difference missed | anytime: value / difference missed | width |"
    yield "|---|---|--:|--:|--:|"
    for grows, (kind, target) in GROWING.items():
        right = truth(target), truth(target) - truth(LOGGING)
        missed, widths = np.zeros((len(LEVELS), len(FOLLOWED), 2)), np.zeros((len(LEVELS), len(FOLLOWED)))
        for seed in track(range(logs), grows, transient=True):
            log = simulate(kind, DAYS * A_DAY // (2 if kind == "cluster" else 1), np.random.default_rng(seed))
            log = log.append_column("day", pa.array([f"2026-05-{1 + at // A_DAY:02}" for at in range(len(log))]))
            asked = {"by": "day", "cluster": "user" if kind == "cluster" else "none"}
            once = offrank.evaluate(log, target, LOGGING, list(FOLLOWED), **asked)
            for at, found in enumerate((once, once.at(level_of_each(0.95)))):
                ends = looked_at(found)
                missed[at] += ((ends[..., 0] > right) | (ends[..., 1] < right)).any(axis=0) / logs
                widths[at] += (ends[-1, :, 0, 1] - ends[-1, :, 0, 0]) / logs
        for at, name in enumerate(FOLLOWED):
            both = (" / ".join(percent(one, 1) for one in kind[at]) for kind in missed)
            yield f"| {grows} | `{name}` | " + " | ".join(both) + f" | {widths[1, at] / widths[0, at]:.2f} |"


def usual(*, logs: int = 1000, rows: int = 2000) -> None:
    """Coverage of three kinds of logs: value / difference to the logging policy.

    A Plackett-Luce ranker shows 4 of 6 candidates to users of the position-based model, and another Plackett-Luce
    ranker is judged. Independent rows; the same with 9 of 10 rows without a click left out (`inclusion`); and rows of
    users who differ in how readily they click (`cluster`).
    """
    wanted = {"target": truth(TARGET), "logging": truth(LOGGING)}
    counted: Counter[tuple[str, ...]] = Counter()
    for seed in range(logs):
        rng = np.random.default_rng(seed)
        for kind in KINDS:
            log = simulate(kind, rows, rng)
            for interval in ("normal", "bootstrap"):
                for name, what, held in hits(kind, interval, log, wanted):
                    counted[kind, interval, name, what] += held
    shown_shares({key: count / logs for key, count in counted.items()}, logs, rows)


def differences(*, logs: int = 250, rows: int = 1500) -> Iterator[str]:
    """How often the interval of a paired difference of two rankers holds the truth, and how much surer it is.

    Logs of the demo's world; for each pair and estimator the coverage of the 95 % intervals, absolute and relative, and
    the error that two separate intervals would allow over that of the difference.
    """
    world = SearchWorld()
    truths = {name: world.truth(policy(target)) for name, target in RANKERS.items()}
    held: dict[tuple[str, str, str], list[tuple[bool, bool, float]]] = {}
    for part in range(logs):
        found = offrank.evaluate(world.table(rows, part), RANKERS, OLD, PAIRED, cluster=None)
        for one, other in PAIRS:
            for estimator in PAIRED:
                away = found.difference(one, other, estimator=estimator)
                share = found.difference(one, other, estimator=estimator, relative=True)
                apart = math.hypot(*(found[name, estimator].standard_error for name in (one, other)))
                holds = away.low <= truths[one] - truths[other] <= away.high
                holds_share = share.low <= truths[one] / truths[other] - 1 <= share.high
                told = holds, holds_share, apart / away.standard_error
                held.setdefault((one, other, estimator), []).append(told)
    yield "| Difference | Estimator | covers | relative covers | surer by |"
    yield "|---|---|--:|--:|--:|"
    for (one, other, estimator), each in held.items():
        holds, shares, surer = zip(*each, strict=True)
        both = f"{percent(fmean(holds), 1)} | {percent(fmean(shares), 1)}"
        yield f"| {one} - {other} | `{estimator}` | {both} | {median(surer):.1f} x |"


def design(*, logs: int = 60) -> None:
    """Healthy logs: how often 95 % intervals hold the truth, with and without a warning of weights.

    Slates hold all candidates, drawn by Plackett-Luce with weights exp(spread * merit); clicks follow a position-based
    model. Warned: any warning or serious finding. The design (hidden share, effective size) is that of the first log.
    """
    shown = Table(title=f"{logs} logs of each kind", title_justify="left")
    for heading in ("spread", "target", "rows", "estimator", "hidden", "design ess", "covered", "unwarned", "covered"):
        shown.add_column(heading, justify="right")
    total: list[tuple[bool, bool]] = []
    for spread, target in DESIGNS:
        rng = np.random.default_rng(1)
        right = designed_truth(spread, target, rng)
        for rows in SIZES:
            tables = (designed_log(rows, spread, rng) for _ in range(logs))
            results = [offrank.evaluate(one, target, "plackett_luce(old)", WEIGHTED) for one in tables]
            for name in WEIGHTED:
                found = [one.estimates.given[target, name] for one in results if (target, name) in one.estimates.given]
                pairs = [(one.low <= right <= one.high, unwarned(one.warnings)) for one in found]
                total += pairs
                plan = found[0].design
                cells = (f"{plan.hidden:.3f}", f"{plan.effective:.0f}", *covered(pairs))
                shown.add_row(f"{spread:g}", target.partition("(")[0], f"{rows:,}", name, *cells)
    Console(width=120).print(shown, "all: covered {}, unwarned {}, of these covered {}".format(*covered(total)))


COMMANDS = dict.fromkeys((usual, skewed, differences, design), "") | {looks: "looks", looks_of_logs: "looks-of-logs"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
