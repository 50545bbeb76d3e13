"""Random logs for Hypothesis, as lists of dicts in the wide layout, and the same in the long layout."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Row = dict[str, Any]

_PROBABILITY = st.floats(0.001, 1)
_NUMBER = st.floats(-1e6, 1e6)


@st.composite
def wide_rows(draw: st.DrawFn, ids: str = "integer") -> list[Row]:
    """Impressions with candidates, clicks, a score, a ranking, a reward, propensities and a query."""
    return [draw(_row(_ITEMS[ids])) for _ in range(draw(st.integers(1, 8)))]


_ITEMS = {
    "integer": st.integers(-(2**62), 2**62),
    "string": st.text(st.characters(codec="utf-8"), max_size=6),
}


@st.composite
def _row(draw: st.DrawFn, items: st.SearchStrategy[Any]) -> Row:
    candidates = draw(st.lists(items, min_size=1, max_size=40, unique=True))
    order = draw(st.permutations(candidates))
    slate = order[: draw(st.integers(1, len(order)))]
    ranking = draw(st.permutations(candidates))[: draw(st.integers(1, len(candidates)))]
    return {
        "slate": slate,
        "candidates": candidates,
        "clicks": [draw(st.sampled_from([0.0, 1.0, 3.0])) for _ in slate],
        "score": [draw(_NUMBER) for _ in candidates],
        "ranking": ranking,
        "reward": draw(_NUMBER),
        "propensity": draw(_PROBABILITY),
        "inclusion": draw(_PROBABILITY),
        "query": draw(st.sampled_from(["a", "b", "ü"])),
        "banner": draw(st.sampled_from(["top", "side"])),
        "rank_propensity": [[1 / len(slate)] * len(slate) for _ in slate],
    }


def to_long(rows: list[Row]) -> list[Row]:
    """The same log with a row per candidate."""
    return [line for number, row in enumerate(rows) for line in _lines(number, row)]


def _lines(number: int, row: Row) -> list[Row]:
    once = {name: row[name] for name in ("reward", "propensity", "inclusion", "query", "banner")}
    shown = {item: place for place, item in enumerate(row["slate"])}
    ranked = {item: rank for rank, item in enumerate(row["ranking"], start=1)}
    lines = []
    for item, score in zip(row["candidates"], row["score"], strict=True):
        place = shown.get(item)
        lines.append(
            {
                "impression": number,
                "item": item,
                "position": None if place is None else place + 1,
                "click": None if place is None else row["clicks"][place],
                "rank_propensity": None if place is None else row["rank_propensity"][place],
                "score": score,
                "ranking": ranked.get(item),
                **once,
            }
        )
    return lines
