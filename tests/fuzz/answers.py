"""What must hold of an answer: no number that is none, intervals around their value, and sums over the rows."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .cases import LogCase
from .oracle import Row

CLOSE = 1e-9
"""How exact a number is, as a share of it."""
_ROUNDED = 1e-12


class Wrong(Exception):
    """An answer that is not the oracle's, or that holds what no answer may."""


def same(found: float | None, wanted: float, what: str) -> None:
    """Compare a number with the oracle's.

    Raises:
        Wrong: it is another.
    """
    if found is None or not math.isclose(found, wanted, rel_tol=CLOSE, abs_tol=_ROUNDED):
        raise Wrong(f"{what}: {found!r}, not {wanted!r}")


def in_json(text: str) -> Any:
    """Return what a JSON text holds.

    Raises:
        Wrong: it holds what no JSON may, or an interval without its value.
    """
    told = json.loads(text, parse_constant=_constant)
    for one in _objects(told):
        _within(one)
    return told


def _constant(name: str) -> None:
    raise Wrong(f"{name} in JSON")


def _objects(told: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(told, dict):
        yield told
    for one in told.values() if isinstance(told, dict) else told if isinstance(told, list) else ():
        yield from _objects(one)


def _within(one: Mapping[str, Any]) -> None:
    """Refuse an interval that does not hold its value, and an error or a size below 0."""
    numbers = [number for name in ("value", "low", "high") if isinstance(number := one.get(name), int | float)]
    if len(numbers) == len(("value", "low", "high")):
        value, low, high = numbers
        slack = _ROUNDED + CLOSE * max(abs(value), abs(low), abs(high))
        if not low - slack <= value <= high + slack:
            raise Wrong(f"an interval without its value: {low!r} to {high!r}, {value!r}")
    for name in ("standard_error", "ess", "n", "rows", "impressions", "sessions"):
        number = one.get(name)
        if isinstance(number, int | float) and number < 0:
            raise Wrong(f"{name} is {number!r}")


def about_log(told: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Compare what a result says of its log: how many rows, what they earned, and the clicks at each rank.

    Raises:
        Wrong: it says something else.
    """
    kept = [_kept(row) for row in rows]
    if told["log"]["impressions"] != len(rows):
        raise Wrong(f"{told['log']['impressions']} impressions of {len(rows)}")
    same(told["log"]["estimated_impressions"], math.fsum(kept), "estimated impressions")
    earned = math.fsum(k * (row.reward or 0.0) for k, row in zip(kept, rows, strict=True))
    logged = (told.get("logged") or {}).get("value")
    if all(row.reward is None for row in rows):
        if logged is not None:
            raise Wrong(f"{logged!r} was logged, without clicks and rewards")
    elif logged is not None or not any("reward" in row.numbers for row in rows):  # else it may be clicks for some
        same(logged, earned / math.fsum(kept), "what was logged")
    for one in told.get("ranks", ()):
        place = one["rank"] - 1
        clicks = [row.clicks or [] for row in rows]
        shown = [(k, each[place]) for k, each in zip(kept, clicks, strict=True) if place < len(each)]
        same(one["impressions"], math.fsum(k for k, _ in shown), f"impressions at rank {place + 1}")
        same(one["clicks"], math.fsum(k * click for k, click in shown), f"clicks at rank {place + 1}")


def about_clicks(told: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Judge how well a click model predicts: the sessions are counted, and no probability exceeds 1.

    Raises:
        Wrong: something is not so.
    """
    for model in told["models"].values():
        if model["sessions"] != len(rows):
            raise Wrong(f"{model['sessions']} sessions of {len(rows)}")
        for place, seen in enumerate(model["sessions_at_rank"]):
            same(seen, math.fsum(_kept(row) for row in rows if place < len(row.slate)), f"sessions at rank {place + 1}")
        if model["log_likelihood"]["value"] > _ROUNDED or model["perplexity"]["value"] < 1 - _ROUNDED:
            raise Wrong(f"a likelihood above 1: {model['log_likelihood']}, {model['perplexity']}")


def about_metrics(told: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Judge metrics of traffic that was not shuffled: the clicks are counted.

    Raises:
        Wrong: they are others, or a share is none.
    """
    clicked = [row for row in rows if any(row.clicks or ())]
    for one in told["metrics"]:
        if one["error"] is not None:
            continue
        if one["impressions"] != len(clicked):
            raise Wrong(f"{one['impressions']} clicked impressions of {len(clicked)}")
        same(one["clicks"], math.fsum(_kept(row) * math.fsum(row.clicks or ()) for row in clicked), "clicks")
        if not -_ROUNDED <= one["rejected"] <= 1 + _ROUNDED:
            raise Wrong(f"a share of {one['rejected']!r} is rejected")


def about_curve(told: Mapping[str, Any]) -> None:
    """Judge an examination curve: 1 at the top, and each value in its interval.

    Raises:
        Wrong: it is not.
    """
    for value, low, high in zip(told["curve"], told["low"], told["high"], strict=True):
        _within({"value": value, "low": low, "high": high})
        if value is not None and value < 0:
            raise Wrong(f"an examination of {value!r}")
    if told["curve"] and told["curve"][0] not in (1.0, None):
        raise Wrong(f"the curve begins with {told['curve'][0]!r}")


def predicted(path: Path, rows: Sequence[Row] | None) -> None:
    """Judge the file of a prediction: a row for each item that was shown, with probabilities.

    Impressions of other lengths may stand in another order.

    Raises:
        Wrong: it is something else.
    """
    lines = _lines(path)
    for line in lines:
        _share(line, "click_probability")
        _share(line, "relevance")
    if rows is None:
        return
    wanted = [(item, rank) for row in rows for rank, item in enumerate(row.slate, 1)]
    found = [(line["item"], int(line["rank"])) for line in sorted(lines, key=lambda line: int(line["row"]))]
    if found != [(str(item), rank) for item, rank in wanted]:
        raise Wrong(f"predictions of {found[:5]}, not of {wanted[:5]}")


def judged(path: Path) -> None:
    """Judge the file of judgements: each relevance in its interval, and each item once for a query.

    Raises:
        Wrong: it is not so.
    """
    lines = _lines(path)
    for line in lines:
        _share(line, "relevance")
        _within({name: float(line[to]) for name, to in _RELEVANCE if line.get(to)})
    items = [(line.get("query"), line["item"]) for line in lines]
    if len({*items}) < len(items):
        raise Wrong("an item is judged twice")


_RELEVANCE = (("value", "relevance"), ("low", "low"), ("high", "high"))


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _share(line: Mapping[str, str], name: str) -> None:
    if line.get(name) and not -_ROUNDED <= float(line[name]) <= 1 + _ROUNDED:
        raise Wrong(f"{name} is {line[name]}")


def about_groups(told: Mapping[str, Any], case: LogCase, n: int) -> None:
    """Compare the sizes of groups, where each is named by a text of its own.

    Raises:
        Wrong: one has another size.
    """
    queries = case.columns.get("query")  # which sessions have without being said
    if queries is None or case.layout == "long" or not all(isinstance(query, str) for query in queries):
        return
    found = {one["group"]: one["n"] for one in told["estimates"] if one["group"] is not None}
    if sum(found.values()) != n or any(found.get(query, 0) != queries.count(query) for query in queries):
        raise Wrong(f"groups of {found}, not of {queries}")


def same_answer(found: Any, wanted: Any, share: float) -> None:
    """Compare a result that was merged with that of the whole, up to rounding.

    Raises:
        Wrong: a number is another.
    """
    for name in ("ips", "snips"):
        for field in ("value", "standard_error", "low", "high", "n"):
            one, other = getattr(found[name], field), getattr(wanted[name], field)
            if not (one == other or math.isclose(one, other, rel_tol=share, abs_tol=share)):
                raise Wrong(f"merged, {field} of {name} is {one!r}, not {other!r}")


def as_dict(row: Row) -> dict[str, Any]:
    """Return a row as our own layout has it."""
    found = {"slate": row.slate, "candidates": row.candidates, "clicks": row.clicks, **row.scores, **row.numbers}
    return {name: value for name, value in found.items() if value is not None}


def _kept(row: Row) -> float:
    """For how many impressions a row stands, where some were left out of the log."""
    return 1 / row.numbers.get("inclusion", 1.0)


_NO_NUMBER = re.compile(r"(?<![\w.])[+-]?(nan|inf)(?![\w.])")


def no_nan(page: str) -> None:
    """Refuse a page with a number that is none."""
    found = _NO_NUMBER.search(re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL))
    if found:
        raise Wrong(f"{found[0]} on a page: {page[max(found.start() - 80, 0) : found.end() + 40]!r}")


_CONTROL: Sequence[str] = ("\0", "\x1b", "\x07", "\u202e")


def clean(text: str) -> None:
    """Refuse control characters where people read."""
    found = [repr(one) for one in _CONTROL if one in text]
    if found:
        raise Wrong(f"{', '.join(found)} in the words for a terminal")
