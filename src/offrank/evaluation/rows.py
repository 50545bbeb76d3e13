"""Results as plain rows, for JSON and data frames."""

from __future__ import annotations

from typing import Any

from ..assumptions import in_words
from ..errors import OffrankError
from ..findings.verdict import Verdict
from ..folds.estimate import Estimate
from ..formatting import finite
from ..frames import plain
from .differences import Difference

_OF_ESTIMATE = ("value", "low", "high", "standard_error", "ess", "mean_weight")
_OF_WEIGHTS = ("max_weight_share", "tail_index", "design_effect", "effective_clusters", "detectable")
_OF_DESIGN = {"design_ess": "effective", "largest_possible_weight": "largest"}
_OF_DESIGN |= {"unsupported": "unsupported", "hidden": "hidden"}
_OF_VERDICT = (
    *("decision", "trust", "assumes", "assumes_in_words", "detectable", "anchor", "reasons"),
    "assumptions",
)


def estimate_row(
    key: tuple[str, str], group: str | None, found: Estimate | OffrankError, truth: float | None
) -> dict[str, Any]:
    """Return the row of one estimate, or the reason why it is missing: then it has no numbers."""

    def known(name: str) -> Any:
        return getattr(found, name, None)

    return {
        **dict(zip(("target", "estimator", "group"), (*key, group), strict=True)),
        "n": known("n"),
        **{name: finite(known(name)) for name in _OF_ESTIMATE},
        **{f"mean_weight_{end}": finite(getattr(known("mean_weight_interval"), end, None)) for end in ("low", "high")},
        **{name: finite(known(name)) for name in _OF_WEIGHTS},
        **{name: finite(getattr(known("design"), moment, None)) for name, moment in _OF_DESIGN.items()},
        "difference": plain(known("difference")),
        "warnings": plain(known("warnings") or ()),
        "error": plain(found) if isinstance(found, OffrankError) else None,
        "chosen": known("chosen"),
        "cluster": known("cluster"),
        "truth": finite(truth),
    }


def verdict_row(found: Verdict) -> dict[str, Any]:
    """Return the row of a verdict: decision, trust, its source, the numbers, the reasons and what it rests on."""
    return {
        "decision": found.decision,
        "trust": found.trust,
        "estimator": found.estimator,
        "assumes": sorted(found.assumes),
        "assumes_in_words": in_words(found.assumes),
        "value": plain(found.value),
        "logged": plain(found.logged),
        "difference": plain(found.difference),
        "relative_change": plain(found.relative),
        "detectable": finite(found.detectable),
        "anchor": None if found.anchor_name is None else {"estimator": found.anchor_name, "spans": found.spans},
        "reasons": plain(found.reasons),
        "assumptions": plain(found.assumptions),
    }


def comparison_row(found: Difference) -> dict[str, Any]:
    """Return whether one target earns more than another; with trust `none` no claim is made."""
    row, none = verdict_row(found.verdict), dict.fromkeys(("value", "low", "high", "standard_error"))
    return {
        "target": found.target,
        "against": found.against,
        "estimator": row["estimator"],
        "difference": row["difference"] or none,
        "relative": row["relative_change"],
        "decided": found.decided,
        "rows_needed": found.rows_needed,
        **{name: row[name] for name in _OF_VERDICT},
    }
