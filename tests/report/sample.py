"""A result document as an evaluation would give it: two targets, six estimators, groups, a refusal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from offrank.verbs.pages.document import Record

LOGGED = {"value": 0.3812, "low": 0.3784, "high": 0.3840, "standard_error": 0.00143}
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


def document() -> dict[str, Any]:
    """The whole document, new each time, so that a test may change it."""
    estimates = [estimate(target, name) for target in TARGETS for name in ESTIMATORS]
    estimates += [estimate(target, name, group) for target in TARGETS for name in ESTIMATORS for group in GROUPS]
    return {
        "schema": 1,
        "kind": "demo",
        "title": "Two new rankers, judged from the demo log",
        "log": {
            "source": "demo/log.parquet",
            "impressions": IMPRESSIONS,
            "estimated_impressions": 248_310.0,
            "skipped": {"duplicate-item": 12, "negative-score": 0},
        },
        "logging": "plackett_luce(old_score)",
        "targets": {name: spelling for name, (spelling, _) in TARGETS.items()},
        "confidence": 0.95,
        "interval": "studentised",
        "cluster": "query",
        "by": "category",
        "examination": [1.0, 0.62, 0.41, 0.30, 0.24],
        "logged": dict(LOGGED),
        "verdicts": {target: verdict(estimate(target, "ipm"), "use with care", [UNCHECKED]) for target in TARGETS},
        "estimates": estimates,
        "weights": [weights(target, name) for target in TARGETS for name in ESTIMATORS if name != "pbm"],
        "clip_path": [clip_path(target) for target in TARGETS],
        "window_path": [window_path("better")],
        "heaviest": [heaviest(target) for target in TARGETS],
        "overlap": [overlap(target, number) for target in TARGETS for number in range(1, 6)],
        "rankings": [ranking(target) for target in TARGETS],
        "ranks": [rank(number) for number in range(1, 6)],
        "checks": checks(),
        "slots": [slots(number) for number in range(1, 6)],
        "command": "offrank evaluate demo/log.parquet --target 'better=plackett_luce(new_score)' "
        "--target 'worse=top(price, ascending=True)' --logging 'plackett_luce(old_score)' -e ips -e snips "
        "-e ipm -e 'interpol(window=2)' -e pbm -e rips --examination 1,.62,.41,.3,.24 --by category"
        " --html report.html",
        "versions": {"offrank": "0.1.0", "python": "3.11.7", "numpy": "2.2.1", "pyarrow": "18.1.0"},
        "created": "2026-11-21T02:00:00Z",
    }


def estimate(target: str, name: str, group: str | None = None) -> dict[str, Any]:
    """One estimate; `worse` is deterministic, which is too much for `ips` and `snips`."""
    n = IMPRESSIONS if group is None else GROUPS[group]
    factor, error, mean_weight, mean_error, tail = ESTIMATORS[name]
    shift = 1.0 if group is None else 0.85 + 0.3 * list(GROUPS).index(group) / len(GROUPS)
    wider = math.sqrt(IMPRESSIONS / n)
    truth = TARGETS[target][1] * shift
    if target == "worse" and name == "snips":
        return refused(target, name, group)
    if target == "worse" and name == "ips":
        error, mean_weight, mean_error, tail = 0.61, 0.38, 0.31, 1.12
    value, error = truth * factor, error * wider
    mean_error *= wider
    return {
        "target": target,
        "estimator": name,
        "group": group,
        "value": value,
        "low": value - 1.96 * error,
        "high": value + 1.96 * error,
        "standard_error": error,
        "n": n,
        "ess": max(1.0, min(n, (0.6 / error) ** 2)),
        "mean_weight": mean_weight,
        "mean_weight_low": None if mean_weight is None else mean_weight - 1.96 * mean_error,
        "mean_weight_high": None if mean_weight is None else mean_weight + 1.96 * mean_error,
        "max_weight_share": min(0.9, error / 3),
        "tail_index": tail,
        "difference": difference(value, error, shift),
        "truth": truth,
        **UNKNOWN,
        "warnings": warnings(error, tail, n),
        "error": None,
    }


UNKNOWN = dict.fromkeys(
    ("chosen", "detectable", "design_ess", "largest_possible_weight", "unsupported", "hidden", "cluster")
)
UNCHECKED = {
    "code": "assumed",
    "message": "`ipm` assumes that a click depends on its own item and rank only. Nothing could check that.",
    "remedy": "Compare with an estimator that assumes less.",
    "estimators": ["ipm"],
}


def verdict(answer: Record, word: str = "use", reasons: Sequence[Record] = (), **fields: Any) -> dict[str, Any]:
    """The verdict of which an estimate is the answer; the log earned what is said above."""
    numbers = ("value", "low", "high", "standard_error")
    change = answer.get("difference")
    share = change and {name: change[name] / LOGGED["value"] for name in ("value", "low", "high")}
    return {
        "word": word,
        "estimator": answer["estimator"],
        "assumes": [],
        "assumes_in_words": "nothing of users",
        "value": {name: answer[name] for name in numbers},
        "logged": dict(LOGGED),
        "difference": change,
        "relative_change": share,
        "detectable": None,
        "anchor": None,
        "reasons": list(reasons),
        **fields,
    }


def refusal(*reasons: Record) -> dict[str, Any]:
    """The verdict where there is no answer."""
    numbers = ("value", "logged", "difference", "relative_change", "detectable", "anchor", "estimator")
    return {
        "word": "do not use",
        **dict.fromkeys(numbers),
        "assumes": [],
        "assumes_in_words": "",
        "reasons": [*reasons],
    }


def difference(value: float, error: float, shift: float) -> dict[str, float]:
    """The paired difference to what the log earned."""
    change = value - LOGGED["value"] * shift
    return {"value": change, "low": change - 1.9 * error, "high": change + 1.9 * error}


def warnings(error: float, tail: float | None, n: int) -> list[dict[str, str]]:
    """What an estimate with this error and tail would be warned of."""
    ess = max(1.0, min(n, (0.6 / error) ** 2))
    found = []
    if ess < 3000:
        found.append(
            {
                "code": "low-ess",
                "severity": "serious" if ess < 50 else "warning",
                "message": f"The weights leave an effective sample of {ess:,.0f} of {n:,} impressions.",
                "remedy": "Take an estimator with smaller weights, such as `ipm`, or more log.",
            }
        )
    if tail is not None and tail > 0.7:
        found.append(
            {
                "code": "heavy-tail",
                "severity": "serious" if tail > 1 else "warning",
                "message": f"A few weights are so large (tail index {tail:.2f}) that the interval misleads.",
                "remedy": "Clip the weights with `clip(snips, 100)`, or look at item-level estimators.",
            }
        )
    return found


def refused(target: str, name: str, group: str | None = None) -> dict[str, Any]:
    """An estimate that is an error: all its numbers are null."""
    numbers = ("value", "low", "high", "standard_error", "n", "ess", "mean_weight", "mean_weight_low")
    numbers += ("mean_weight_high", "max_weight_share", "tail_index", "difference", "truth")
    error = {
        "code": "no-overlap",
        "message": "No logged slate is one that the target would have shown.",
        "remedy": "Take an item-level estimator (`ipm`, `pbm`), or a target that explores.",
    }
    return {
        **dict.fromkeys(numbers),
        **UNKNOWN,
        "target": target,
        "estimator": name,
        "group": group,
        "warnings": [],
        "error": error,
    }


def weights(target: str, name: str) -> dict[str, Any]:
    """A histogram of weights by quarters of a power of ten, wider for the estimators with more doubt."""
    edges = [10 ** (step / 4) for step in range(-12, 17)]
    spread = 0.3 + 12 * ESTIMATORS[name][1]
    counts = [round(2e4 * math.exp(-((math.log10(edge) + 0.2) ** 2) / (2 * spread**2))) for edge in edges[:-1]]
    return {
        "target": target,
        "estimator": name,
        "edges": edges,
        "counts": counts,
        "negative_edges": [],
        "negative_counts": [],
        "zeros": 41_000.0 if spread > 0.4 else 0.0,
    }


def clip_path(target: str) -> dict[str, Any]:
    """The estimate under four clips and without one."""
    shares = {2.0: 0.31, 5.0: 0.11, 10.0: 0.024, 20.0: 0.00021, None: 0.0}
    rows = [{"clip": clip, "clipped": share, **moved(target, 1 - share)} for clip, share in shares.items()]
    return {"target": target, "estimator": "ipm", "rows": rows}


def window_path(target: str) -> dict[str, Any]:
    """Three windows, of which the data chose the second."""
    names = [f"interpol(window={window})" for window in range(3)]
    rows = [
        {"estimator": name, "window": window, "chosen": window == 1, **moved(target, 1 + window / 300)}
        for window, name in enumerate(names)
    ]
    return {"target": target, "estimator": "interpol(window=slope)", "rows": rows}


def moved(target: str, factor: float) -> dict[str, float]:
    """The answer for a target, times something."""
    answer = estimate(target, "ipm")
    return {name: factor * answer[name] for name in ("value", "low", "high", "standard_error")}


def heaviest(target: str) -> dict[str, Any]:
    """Ten impressions."""
    rows = [
        {"row": 7919 * place % IMPRESSIONS, "weight": 41.7 / place, "reward": float(place % 3), "share": 0.004 / place}
        for place in range(1, 11)
    ]
    return {"target": target, "estimator": "ipm", "rows": rows}


def overlap(target: str, number: int) -> dict[str, Any]:
    """How likely the displayed item is at one rank."""
    probabilities = {"target_probability": 0.31 / number**0.3, "logging_probability": 0.35 / number**0.2}
    return {"target": target, "rank": number, **probabilities}


def ranking(target: str) -> dict[str, Any]:
    """A target beside what was shown."""
    shares = [{"depth": depth, "share": 0.2 + 0.14 * depth} for depth in (1, 3, 5)]
    return {"target": target, "rows": 2048, "changed": 0.973, "overlap": shares}


def rank(number: int) -> dict[str, Any]:
    """Clicks at one rank."""
    rate = 0.171 / number**0.9
    error = math.sqrt(rate * (1 - rate) / IMPRESSIONS) * 3
    return {
        "rank": number,
        "impressions": float(IMPRESSIONS),
        "clicks": rate * IMPRESSIONS,
        "click_rate": rate,
        "low": rate - 1.96 * error,
        "high": rate + 1.96 * error,
    }


def checks() -> list[dict[str, Any]]:
    """One check of each status."""
    return [
        check(
            "mean-weight",
            "Mean weight of a uniform target",
            "ok",
            1.0021,
            0.9962,
            1.008,
            1.0,
            "As it should be.",
        ),
        check(
            "support",
            "Target mass without support",
            "note",
            0.0041,
            None,
            None,
            0.0,
            "0.4 % of `worse` is never shown.",
        ),
        check(
            "arithmetic",
            "Arithmetic test",
            "warning",
            0.941,
            0.92,
            0.962,
            1.0,
            "Logged propensities are 6 % too large.",
        ),
        check(
            "double-subsampling",
            "Sub-sampling corrected twice",
            "serious",
            9.97,
            9.81,
            10.13,
            1.0,
            "The mean weight is near 10, which is the factor of the sub-sampling.",
        ),
        check("harmonic", "Harmonic test", "skipped", None, None, None, None, "The set of slates is not fixed."),
    ]


def check(
    code: str,
    title: str,
    status: str,
    value: float | None,
    low: float | None,
    high: float | None,
    expected: float | None,
    message: str,
) -> dict[str, Any]:
    """One check as the document holds it."""
    remedy = "Look at how `propensity` and `inclusion` were written." if status in ("warning", "serious") else ""
    return {
        "code": code,
        "title": title,
        "status": status,
        "value": value,
        "low": low,
        "high": high,
        "expected": expected,
        "message": message,
        "remedy": remedy,
    }


def slots(number: int) -> dict[str, Any]:
    """Inverse propensities of slates of one length."""
    return {
        "slots": number,
        "impressions": 40_000,
        "estimated_impressions": 49_662.0,
        "mean_inverse_propensity": 6.1**number,
        "max_inverse_propensity": 84.7**number,
    }


def only(*estimates: Record, **verdicts: Record) -> dict[str, Any]:
    """A document that holds nothing but these estimates, and verdicts by target."""
    targets = {one["target"]: one["target"] for one in estimates}
    behind = ("clip_path", "window_path", "heaviest", "overlap", "rankings")
    nothing: dict[str, Any] = {name: [] for name in ("weights", "ranks", "checks", "slots", *behind)}
    about = {"kind": "evaluate", "title": "Only this", "targets": targets, "verdicts": verdicts, "logged": None}
    return {**document(), **nothing, **about, "estimates": list(estimates)}
