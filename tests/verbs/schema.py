"""What a result document must look like: the contract between the verbs and the reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

Check = Callable[[Any, str], None]


def kind(*types: type) -> Check:
    """A value of one of these types; whole numbers are floats too, truth values are not numbers."""
    wide = (*types, int) if float in types else types

    def check(value: Any, place: str) -> None:
        assert isinstance(value, wide), f"{place}: {value!r}"
        assert bool in types or not isinstance(value, bool), f"{place}: {value!r}"

    return check


def one_of(*values: Any) -> Check:
    def check(value: Any, place: str) -> None:
        assert value in values, f"{place}: {value!r}"

    return check


def optional(inside: Check) -> Check:
    return lambda value, place: None if value is None else inside(value, place)


def many(inside: Check) -> Check:
    def check(values: Any, place: str) -> None:
        assert isinstance(values, list), place
        for index, value in enumerate(values):
            inside(value, f"{place}[{index}]")

    return check


def by_name(inside: Check) -> Check:
    def check(values: Any, place: str) -> None:
        assert isinstance(values, dict), place
        for name, value in values.items():
            assert isinstance(name, str), place
            inside(value, f"{place}.{name}")

    return check


def shape(fields: Mapping[str, Check]) -> Check:
    def check(value: Any, place: str) -> None:
        assert isinstance(value, dict), place
        assert fields.keys() <= value.keys(), f"{place} lacks {fields.keys() - value.keys()}"
        for name, inside in fields.items():
            inside(value[name], f"{place}.{name}")

    return check


TEXT, WHOLE, NUMBER, MAYBE = kind(str), kind(int), kind(float), optional(kind(float))
INTERVAL = shape(dict.fromkeys(("value", "low", "high"), MAYBE))


def path(fields: Mapping[str, Check]) -> Check:
    """An estimate under several choices."""
    row = shape({**dict.fromkeys(("value", "low", "high", "standard_error"), MAYBE), **fields})
    return shape({"target": TEXT, "estimator": TEXT, "rows": many(row)})


SEVERITY = one_of("note", "warning", "serious")
ESTIMATE = shape(
    {
        **dict.fromkeys(("target", "estimator"), TEXT),
        **dict.fromkeys(("value", "low", "high", "standard_error", "ess", "mean_weight"), MAYBE),
        **dict.fromkeys(("mean_weight_low", "mean_weight_high", "max_weight_share", "tail_index", "truth"), MAYBE),
        **dict.fromkeys(("detectable", "design_ess", "largest_possible_weight", "unsupported", "hidden"), MAYBE),
        **dict.fromkeys(("group", "chosen"), optional(TEXT)),
        "n": optional(WHOLE),
        "difference": optional(INTERVAL),
        "warnings": many(shape({"code": TEXT, "severity": SEVERITY, "message": TEXT, "remedy": TEXT})),
        "error": optional(shape({"code": TEXT, "message": TEXT, "remedy": TEXT})),
    }
)
REASON = shape({**dict.fromkeys(("code", "message", "remedy"), TEXT), "estimators": many(TEXT)})
VERDICT = shape(
    {
        "decision": one_of("better", "worse", "no clear difference", "unknown"),
        "trust": one_of("sound", "with care", "none"),
        "estimator": optional(TEXT),
        "assumes": many(TEXT),
        "assumes_in_words": TEXT,
        **dict.fromkeys(("value", "logged", "difference", "relative_change"), optional(INTERVAL)),
        "detectable": MAYBE,
        "anchor": optional(shape({"estimator": TEXT, "spans": kind(bool)})),
        "reasons": many(REASON),
        "assumptions": many(shape({"code": TEXT, "text": TEXT, "concerns": TEXT})),
        "outcome": one_of("reward", "clicks"),
    }
)
DOCUMENT = shape(
    {
        "schema": one_of(2),
        "kind": one_of("evaluate", "check", "compare", "demo"),
        "title": TEXT,
        "log": shape(
            {"source": TEXT, "impressions": WHOLE, "estimated_impressions": NUMBER, "skipped": by_name(WHOLE)}
        ),
        "logging": TEXT,
        "targets": by_name(TEXT),
        "confidence": NUMBER,
        "interval": one_of("anytime", "studentised", "normal", "bootstrap", "bernstein"),
        "cluster": optional(TEXT),
        "by": optional(TEXT),
        "examination": optional(many(NUMBER)),
        "logged": optional(INTERVAL),
        "verdicts": by_name(VERDICT),
        "estimates": many(ESTIMATE),
        "weights": many(
            shape(
                {"target": TEXT, "estimator": TEXT, "zeros": NUMBER}
                | dict.fromkeys(("edges", "counts", "negative_edges", "negative_counts"), many(NUMBER))
            )
        ),
        "ranks": many(shape({"rank": WHOLE, **dict.fromkeys(("impressions", "clicks", "click_rate"), NUMBER)})),
        "checks": many(
            shape(
                {
                    **dict.fromkeys(("code", "title", "message", "remedy"), TEXT),
                    "status": one_of("ok", "note", "warning", "serious", "skipped"),
                    **dict.fromkeys(("value", "low", "high", "expected"), MAYBE),
                }
            )
        ),
        "slots": many(
            shape(
                {
                    **dict.fromkeys(("slots", "impressions"), WHOLE),
                    **dict.fromkeys(("mean_inverse_propensity", "max_inverse_propensity"), NUMBER),
                    "estimated_impressions": NUMBER,
                }
            )
        ),
        "command": TEXT,
        "versions": by_name(TEXT),
        "created": TEXT,
    }
)

#: what stands behind estimates; a check has none
BEHIND = shape(
    {
        "clip_path": many(
            # the estimate that the verdict takes, no weight beyond `clip`; last (None) as it is. clipped: share of rows
            path({"clip": MAYBE, "clipped": NUMBER})
        ),
        # all from which the data chose, where an estimator leaves the window to them
        "window_path": many(path({"estimator": TEXT, "window": optional(WHOLE), "chosen": kind(bool)})),
        # the reward models of `direct` and `dr`; rows: those that one was learnt from, of the `read` of the log, in so
        # many folds, each predicted by the others; explained: R squared of that
        "models": many(
            shape(
                {
                    **dict.fromkeys(("estimator", "name"), TEXT),
                    **dict.fromkeys(("rows", "read", "folds"), WHOLE),
                    "settings": many(TEXT),
                    "explained": MAYBE,
                }
            )
        ),
        # the ten impressions of largest weight; row: number in the log; share: of all weighted rewards
        "heaviest": many(
            shape(
                {
                    **dict.fromkeys(("target", "estimator"), TEXT),
                    "rows": many(shape({"row": WHOLE, "weight": NUMBER, "reward": NUMBER, "share": MAYBE})),
                }
            )
        ),
        # how likely the displayed item is at its rank
        "overlap": many(
            shape({"target": TEXT, "rank": WHOLE, "target_probability": NUMBER, "logging_probability": MAYBE})
        ),
        # beside what was shown, over a random sample of so many rows: the share of lists that the target changes, and
        # of the items on the first `depth` ranks those that it too shows there
        "rankings": many(
            shape(
                {
                    "target": TEXT,
                    "rows": WHOLE,
                    "changed": MAYBE,
                    "overlap": many(shape({"depth": WHOLE, "share": NUMBER})),
                }
            )
        ),
    }
)

COMPARISON = shape(
    {
        **dict.fromkeys(("target", "against", "assumes_in_words"), TEXT),
        "decision": one_of("better", "worse", "no clear difference", "unknown"),
        "trust": one_of("sound", "with care", "none"),
        "estimator": optional(TEXT),
        "difference": INTERVAL,
        "relative": optional(INTERVAL),
        "decided": kind(bool),
        "rows_needed": optional(WHOLE),
        "detectable": MAYBE,
        "assumes": many(TEXT),
        "reasons": many(REASON),
        "assumptions": many(shape({"code": TEXT, "text": TEXT, "concerns": TEXT})),
        "outcome": one_of("reward", "clicks"),
    }
)


def assert_document(document: Any) -> None:
    """Fail where a document breaks the contract."""
    DOCUMENT(document, "document")
    if document["kind"] != "check":
        BEHIND(document, "document")
    assert ("comparisons" in document) == ("winner" in document) == (document["kind"] == "compare")
    many(COMPARISON)(document.get("comparisons", []), "comparisons")
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    for one in document["estimates"]:
        numbers = [one[name] for name in ("value", "low", "high", "ess", "n")]
        assert (one["error"] is None) or numbers == [None] * 5, "a refused estimate has no numbers"
        assert one["target"] in document["targets"]
    for one in document["weights"]:
        for sign in ("", "negative_"):
            edges, counts = one[f"{sign}edges"], one[f"{sign}counts"]
            assert len(edges) in (len(counts) + 1, 0)
            assert all(0 < low < high for low, high in pairwise(edges))
            assert all(count >= 0 for count in counts)
        assert one["zeros"] >= 0
