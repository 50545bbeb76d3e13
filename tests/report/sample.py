"""A result as an evaluation would give it: two targets, six estimators, groups, a refusal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from offrank import Result
from offrank.checks.propensities import SlotsRow
from offrank.checks.rows import RankRow
from offrank.errors import NoOverlapError
from offrank.evaluation import Estimates
from offrank.evaluation.metadata import (
    Check,
    Clipped,
    Diagnoses,
    Heavy,
    LogRead,
    Path,
    RankingsCompared,
    RankOverlap,
    ResultMetadata,
    Status,
    TopOverlap,
    WeightsOf,
    Windowed,
)
from offrank.findings.reasons import Reason
from offrank.findings.verdict import Decision, Trust, Verdict
from offrank.sums.estimate import Caution, Estimate, Interval
from offrank.sums.histogram import Histogram

LOGGED = Interval(0.3812, 0.3784, 0.3840, 0.00143)
IMPRESSIONS = 200_000
#: estimator: value relative to the truth, standard error, mean weight and its error, tail index
ESTIMATORS: dict[str, tuple[float, float, float | None, float, float | None]] = {
    "ips": (0.962, 0.0412, 0.957, 0.052, 0.83),
    "snips": (1.004, 0.0184, 0.957, 0.052, 0.83),
    "ipm": (0.998, 0.0061, 1.004, 0.0031, 0.41),
    "interpol(window=2)": (1.003, 0.0038, 1.0015, 0.0016, 0.27),
    "pbm": (1.006, 0.0022, None, 0.0, None),
    "rips": (0.991, 0.0093, 0.993, 0.0072, 0.52),
}
TARGETS = {"better": ("plackett_luce(new_score)", 0.4118), "worse": ("top(price, ascending=True)", 0.2927)}
GROUPS = {"electronics": 61_200, "books": 43_900, "garden & home": 31_404, "toys": 22_010, "outlet": 1_486}
UNCHECKED = Reason(
    "assumed",
    "`ipm` assumes that a click depends on its own item and rank only. Nothing could check that.",
    "Compare with an estimator that assumes less.",
    ("ipm",),
)
BACKGROUND = ResultMetadata(
    kind="demo",
    title="Two new rankers, judged from the demo log",
    log=LogRead("demo/log.parquet", IMPRESSIONS, 248_310.0, {"duplicate-item": 12, "negative-score": 0}),
    logging="plackett_luce(old_score)",
    targets={name: spelling for name, (spelling, _) in TARGETS.items()},
    confidence=0.95,
    interval="studentised",
    cluster="query",
    by="category",
    examination=[1.0, 0.62, 0.41, 0.30, 0.24],
    logged=LOGGED,
    weights=(),
    ranks=(),
    command="offrank evaluate demo/log.parquet --target 'better=plackett_luce(new_score)' "
    "--target 'worse=top(price, ascending=True)' --logging 'plackett_luce(old_score)' -e ips -e snips "
    "-e ipm -e 'interpol(window=2)' -e pbm -e rips --examination 1,.62,.41,.3,.24 --by category"
    " --html report.html",
    versions={"offrank": "0.1.0", "python": "3.11.7", "numpy": "2.2.1", "pyarrow": "18.1.0"},
    created="2026-11-21T02:00:00Z",
    diagnoses=Diagnoses(),
)


@cache
def result(**other: str) -> Result:
    """The whole result. other: names of estimators and groups in the place of these."""

    def estimates(group: str | None = None) -> Estimates:
        pairs = [(target, name) for target in TARGETS for name in ESTIMATORS]
        return Estimates({(target, other.get(name, name)): estimate(target, name, group) for target, name in pairs})

    metadata = replace(
        BACKGROUND,
        weights=tuple(weights(target, name) for target in TARGETS for name in ESTIMATORS if name != "pbm"),
        diagnoses=Diagnoses(
            tuple(map(clip_path, TARGETS)),
            (window_path("better"),),
            tuple(map(heaviest, TARGETS)),
            tuple(RankOverlap(t, k, 0.31 / k**0.3, 0.35 / k**0.2) for t in TARGETS for k in range(1, 6)),
            tuple(map(ranking, TARGETS)),
        ),
        ranks=tuple(map(rank, range(1, 6))),
        checks=checks(),
        slots=tuple(SlotsRow(k, 40_000, 49_662.0, 6.1**k, 84.7**k) for k in range(1, 6)),
    )
    return Result(
        estimates(),
        metadata,
        {other.get(group, group): estimates(group) for group in GROUPS},
        {name: truth for name, (_, truth) in TARGETS.items()},
        verdicts={target: verdict(answer(target), "ipm", "with care", [UNCHECKED]) for target in TARGETS},
    )


def only(
    estimates: Mapping[tuple[str, str], Estimate | NoOverlapError],
    groups: Mapping[str, Mapping[tuple[str, str], Estimate | NoOverlapError]] | None = None,
    *,
    truths: Mapping[str, float] | None = None,
    verdicts: Mapping[str, Verdict] | None = None,
    **metadata: Any,
) -> Result:
    """A result of these estimates, and nothing else."""
    about: dict[str, Any] = {"kind": "evaluate", "title": "Only this", "logged": None, **metadata}
    targets = {target: target for target, _ in estimates}
    return Result(
        Estimates(estimates),
        replace(BACKGROUND, targets=targets, **about),
        {name: Estimates(one) for name, one in (groups or {}).items()},
        truths or {},
        verdicts=verdicts or {},
    )


def estimate(target: str, name: str, group: str | None = None) -> Estimate | NoOverlapError:
    """One estimate; `worse` is deterministic, which is too much for `ips` and `snips`."""
    n = IMPRESSIONS if group is None else GROUPS[group]
    factor, error, mean_weight, mean_error, tail = ESTIMATORS[name]
    shift = 1.0 if group is None else 0.85 + 0.3 * list(GROUPS).index(group) / len(GROUPS)
    wider = math.sqrt(IMPRESSIONS / n)
    if target == "worse" and name == "snips":
        return refused()
    if target == "worse" and name == "ips":
        error, mean_weight, mean_error, tail = 0.61, 0.38, 0.31, 1.12
    value, error, mean_error = TARGETS[target][1] * shift * factor, error * wider, mean_error * wider
    change = value - LOGGED.value * shift
    return Estimate(
        **ends(value, 1.96 * error, error),
        n=n,
        ess=max(1.0, min(n, (0.6 / error) ** 2)),
        mean_weight=mean_weight,
        mean_weight_interval=None if mean_weight is None else spread(mean_weight, 1.96 * mean_error, mean_error),
        max_weight_share=min(0.9, error / 3),
        tail_index=tail,
        difference=spread(change, 1.9 * error),
        warnings=tuple(warnings(error, tail, n)),
    )


def answer(target: str) -> Estimate:
    """The estimate that the verdict takes."""
    found = estimate(target, "ipm")
    assert isinstance(found, Estimate)
    return found


def plain(value: float, error: float, **fields: Any) -> Estimate:
    """An estimate without warnings."""
    numbers: dict[str, Any] = {**ends(value, 2 * error, error), "mean_weight": None, "max_weight_share": 0.1, "n": 100}
    return Estimate(**{**numbers, "ess": 50.0, **fields})


def ends(value: float, half: float, error: float) -> dict[str, float]:
    return {"value": value, "low": value - half, "high": value + half, "standard_error": error}


def spread(value: float, half: float, error: float = math.nan) -> Interval:
    return Interval(**ends(value, half, error))


def verdict(
    found: Estimate, estimator: str, trust: Trust = "sound", reasons: Sequence[Reason] = (), **fields: Any
) -> Verdict:
    """The verdict of which an estimate is the answer; the log earned what is said above."""
    value, change = Interval(found.value, found.low, found.high, found.standard_error), found.difference
    numbers = () if change is None else (change.value, change.low, change.high)
    share = Interval(*(one / LOGGED.value for one in numbers), math.nan) if numbers else None
    about: dict[str, Any] = {"value": value, "logged": LOGGED, "difference": change, "relative": share, **fields}
    return Verdict(decided(change), trust, "t", estimator, reasons=tuple(reasons), **about)


def decided(change: Interval | None) -> Decision:
    """What a difference says."""
    if change is None:
        return "unknown"
    return "better" if change.low > 0 else "worse" if change.high < 0 else "no clear difference"


def refused() -> NoOverlapError:
    """What stands in the place of an estimate that the log cannot give."""
    return NoOverlapError(
        "No logged slate is one that the target would have shown.",
        "Take an item-level estimator (`ipm`, `pbm`), or a target that explores.",
    )


def warnings(error: float, tail: float | None, n: int) -> list[Caution]:
    """What an estimate with this error and tail would be warned of."""
    ess, found = max(1.0, min(n, (0.6 / error) ** 2)), []
    if ess < 3000:
        message = f"The weights leave an effective sample of {ess:,.0f} of {n:,} impressions."
        remedy = "Take an estimator with smaller weights, such as `ipm`, or more log."
        found.append(Caution("low-ess", "serious" if ess < 50 else "warning", message, remedy))
    if tail is not None and tail > 0.7:
        message = f"A few weights are so large (tail index {tail:.2f}) that the interval misleads."
        remedy = "Clip the weights with `clip(snips, 100)`, or look at item-level estimators."
        found.append(Caution("heavy-tail", "serious" if tail > 1 else "warning", message, remedy))
    return found


def weights(target: str, name: str) -> WeightsOf:
    """A histogram of weights by quarters of a power of ten, wider for the estimators with more doubt."""
    edges, width = 10 ** (np.arange(-12, 17) / 4), 0.3 + 12 * ESTIMATORS[name][1]
    counts = np.rint(2e4 * np.exp(-((np.log10(edges[:-1]) + 0.2) ** 2) / (2 * width**2))).astype(np.int64)
    none = np.empty(0)
    return WeightsOf(target, name, Histogram(41_000 if width > 0.4 else 0, edges, counts, none, none.astype(np.int64)))


def clip_path(target: str) -> Path[Clipped]:
    """The estimate under four clips and without one."""
    shares = {2.0: 0.31, 5.0: 0.11, 10.0: 0.024, 20.0: 0.00021, None: 0.0}
    rows = (Clipped(clip, share, moved(target, 1 - share)) for clip, share in shares.items())
    return Path(target, "ipm", tuple(rows))


def window_path(target: str) -> Path[Windowed]:
    """Three windows, of which the data chose the second."""
    rows = (Windowed(f"interpol(window={k})", k, k == 1, moved(target, 1 + k / 300)) for k in range(3))
    return Path(target, "interpol(window=slope)", tuple(rows))


def moved(target: str, factor: float) -> Interval:
    """The answer for a target, times something."""
    found = answer(target)
    return Interval(*(factor * one for one in (found.value, found.low, found.high, found.standard_error)))


def heaviest(target: str) -> Path[Heavy]:
    """Ten impressions."""
    rows = (Heavy(7919 * k % IMPRESSIONS, 41.7 / k, float(k % 3), 0.004 / k) for k in range(1, 11))
    return Path(target, "ipm", tuple(rows))


def ranking(target: str) -> RankingsCompared:
    """A target beside what was shown."""
    return RankingsCompared(target, 2048, 0.973, tuple(TopOverlap(depth, 0.2 + 0.14 * depth) for depth in (1, 3, 5)))


def rank(number: int) -> RankRow:
    """Clicks at one rank."""
    rate = 0.171 / number**0.9
    error = math.sqrt(rate * (1 - rate) / IMPRESSIONS) * 3
    return RankRow(number, float(IMPRESSIONS), rate * IMPRESSIONS, spread(rate, 1.96 * error, error))


def checks() -> tuple[Check, ...]:
    """One check of each status."""
    twice = "The mean weight is near 10, which is the factor of the sub-sampling."
    high, never = "Logged propensities are 6 % too large.", "0.4 % of `worse` is never shown."
    return (
        check("mean-weight", "Mean weight of a uniform target", "ok", "As it should be.", 1.0021, 0.9962, 1.008, 1.0),
        check("support", "Target mass without support", "note", never, 0.0041, expected=0.0),
        check("arithmetic", "Arithmetic test", "warning", high, 0.941, 0.92, 0.962, 1.0),
        check("double-subsampling", "Sub-sampling corrected twice", "serious", twice, 9.97, 9.81, 10.13, 1.0),
        check("harmonic", "Harmonic test", "skipped", "The set of slates is not fixed."),
    )


def check(
    code: str,
    title: str,
    status: Status,
    message: str,
    value: float | None = None,
    low: float | None = None,
    high: float | None = None,
    expected: float | None = None,
) -> Check:
    """One check."""
    remedy = "Look at how `propensity` and `inclusion` were written." if status in ("warning", "serious") else ""
    return Check(code, title, status, message, remedy, value, low, high, expected)
