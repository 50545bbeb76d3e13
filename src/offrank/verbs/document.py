"""Results as one plain document, from which reports, JSON files and terminal tables are made."""

from __future__ import annotations

import datetime as dt
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from typing import Any

import numpy as np

from ..checks.rows import Impressions
from ..errors import OffrankError
from ..findings.assumptions import in_words
from ..findings.verdict import Verdict
from ..folds.estimate import Estimate, Interval
from ..folds.histogram import Histogram
from .paired import Difference

NUMBERS = (
    "value",
    "low",
    "high",
    "standard_error",
    "ess",
    "mean_weight",
    "mean_weight_low",
    "mean_weight_high",
    "max_weight_share",
    "tail_index",
    "design_effect",
    "effective_clusters",
    "detectable",
    "design_ess",
    "largest_possible_weight",
    "unsupported",
    "hidden",
)
_OF_DESIGN = {"design_ess": "effective", "largest_possible_weight": "largest", "unsupported": "unsupported"}
_OF_DESIGN |= {"hidden": "hidden"}


def number(value: float | None) -> float | None:
    """Return the number, or None if it is unknown: a document has no NaN."""
    return None if value is None or not np.isfinite(value) else float(value)


def interval(found: Interval | None) -> dict[str, float | None] | None:
    """A value with its interval."""
    return None if found is None else found.to_dict()


def estimate_row(
    key: tuple[str, str], group: str | None, found: Estimate | OffrankError, truth: float | None
) -> dict[str, Any]:
    """Return the row of one estimate, or the reason why it is missing."""
    row: dict[str, Any] = {"target": key[0], "estimator": key[1], "group": group}
    row |= dict.fromkeys(("n", *NUMBERS, "difference", "warnings", "error", "chosen", "cluster"))
    row["truth"] = number(truth)
    if isinstance(found, OffrankError):
        error = {"code": found.code, "message": found.message, "remedy": found.remedy}
        return {**row, "warnings": [], "error": error}
    weight = found.mean_weight_interval
    row |= {name: number(getattr(found, name, None)) for name in NUMBERS}
    row |= {name: number(getattr(found.design, known, None)) for name, known in _OF_DESIGN.items()}
    return {
        **row,
        "chosen": found.chosen,
        "cluster": found.cluster,
        "n": found.n,
        "mean_weight_low": None if weight is None else number(weight.low),
        "mean_weight_high": None if weight is None else number(weight.high),
        "difference": interval(found.difference),
        "warnings": [asdict(caution) for caution in found.warnings],
        "error": None,
    }


def verdict_row(found: Verdict) -> dict[str, Any]:
    """Return the row of a verdict: its word, its source, the numbers and the reasons."""
    return {
        "word": found.word,
        "estimator": found.estimator,
        "assumes": sorted(found.assumes),
        "assumes_in_words": in_words(found.assumes),
        "value": interval(found.value),
        "logged": interval(found.logged),
        "difference": interval(found.difference),
        "relative_change": interval(found.relative),
        "detectable": number(found.detectable),
        "anchor": None if found.anchor_name is None else {"estimator": found.anchor_name, "spans": found.spans},
        "reasons": [{**asdict(one), "estimators": list(one.estimators)} for one in found.reasons],
    }


def comparison_row(found: Difference) -> dict[str, Any]:
    """Return whether one target earns more than another; no claim is made if the verdict is `do not use`."""
    row, none = verdict_row(found.verdict), dict.fromkeys(("value", "low", "high", "standard_error"))
    return {
        "target": found.target,
        "against": found.against,
        "estimator": row["estimator"],
        "difference": row["difference"] or none,
        "relative": row["relative_change"],
        "decided": found.decided,
        "rows_needed": found.rows_needed,
        **{name: row[name] for name in ("word", "assumes", "assumes_in_words", "detectable", "anchor", "reasons")},
    }


def log_facts(impressions: Impressions, where: str) -> dict[str, Any]:
    """Return a description of the log that was read."""
    return {
        "source": where,
        "impressions": impressions.n,
        "estimated_impressions": impressions.estimated,
        "skipped": dict(impressions.skipped),
    }


def rank_rows(impressions: Impressions, confidence: float) -> list[dict[str, Any]]:
    """Return clicks by rank."""
    return [
        {
            "rank": row.rank,
            "impressions": row.impressions,
            "clicks": row.clicks,
            "click_rate": row.click_rate.value,
            "low": row.click_rate.low,
            "high": row.click_rate.high,
        }
        for row in impressions.by_rank(confidence)
    ]


def histogram_row(target: str, estimator: str, found: Histogram) -> dict[str, Any]:
    """Return the histogram of an estimator's weights."""
    return {
        "target": target,
        "estimator": estimator,
        "edges": found.edges.tolist(),
        "counts": found.counts.tolist(),
        "negative_edges": found.negative_edges.tolist(),
        "negative_counts": found.negative_counts.tolist(),
        "zeros": found.zeros,
    }


def versions() -> dict[str, str]:
    """Return the versions that a reader needs to repeat the numbers."""
    names = ("offrank", "numpy", "numba", "pyarrow")
    return {"python": platform.python_version()} | {name: _version(name) for name in names}


def now() -> str:
    """Return the time of the run in UTC."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def call(function: str, first: str, arguments: Mapping[str, Any], defaults: Mapping[str, Any] | None) -> str:
    """Return the Python call that repeats a job; arguments equal to their defaults are left out."""
    words = [first] + [f"{name}={value!r}" for name, value in arguments.items() if (defaults or {}).get(name) != value]
    return f"offrank.{function}({', '.join(words)})"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def spelled(found: Sequence[Any] | Mapping[str, Any]) -> Any:
    """Replace objects by their spelling."""
    if isinstance(found, Mapping):
        return {name: repr(value) for name, value in found.items()}
    return [repr(value) for value in found]
