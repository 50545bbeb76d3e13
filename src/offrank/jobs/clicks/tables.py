"""How well click models did, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from ...clicks.evaluated import Evaluations
from ...clicks.layout import QUANTITIES
from ...folds.estimate import Caution
from . import text
from .ndcg import Ranked
from .text import told, with_half

_HEADINGS = [quantity.replace("_", " ").replace("log likelihood", "log-likelihood") for quantity in QUANTITIES]


def judged(
    here: Evaluations,
    elsewhere: Evaluations | None,
    ranked: Ranked | None,
    cautions: Mapping[str, Sequence[Caution]],
    facts: Mapping[str, Any],
) -> str:
    """Everything that was found."""
    first = next(iter(here.values()))
    parts: list[RenderableType | str] = [
        f"{facts['title']}: {first.sessions:,} sessions, {facts['confidence']:.3g} intervals"
    ]
    parts += _whole(here, ranked, "On this log")
    parts += _ranks(here)
    if elsewhere is not None:
        parts += _whole(elsewhere, None, f"Out of distribution: {facts['other']}")
        parts += _ranks(elsewhere)
    parts += text.reading(first.tally)
    if elsewhere is not None:
        parts += text.reading(next(iter(elsewhere.values())).tally, " of the other log")
    parts += told(cautions)
    return text.rendered(parts)


def _whole(found: Evaluations, ranked: Ranked | None, title: str) -> Iterator[RenderableType]:
    headings = ["model", *_HEADINGS, *(["nDCG"] if ranked else [])]
    rows = []
    for index, (name, one) in enumerate(found.items()):
        numbers = [getattr(one, quantity) for quantity in QUANTITIES] + ([ranked.of(index)] if ranked else [])
        rows.append([name, *map(with_half, numbers)])
    yield text.table(title, headings, rows)
    first, *others = found
    if not others:
        return
    away = []
    for index, name in enumerate(others, 1):
        numbers = [found.difference(name, first, quantity) for quantity in QUANTITIES]
        numbers += [ranked.difference(index, 0)] if ranked else []
        away.append([name, *(with_half(number, signed=True) for number in numbers)])
    yield text.table(f"Less {first}, on the same sessions", headings, away)


def _ranks(found: Evaluations) -> Iterator[RenderableType]:
    first = next(iter(found.values()))
    for heading, name in (
        ("Perplexity at each rank", "perplexity_at_rank"),
        ("Given the clicks above", "conditional_perplexity_at_rank"),
    ):
        columns = [getattr(one, name) for one in found.values()]
        rows = [
            [str(rank), f"{sessions:,.0f}", *map(with_half, numbers)]
            for rank, (sessions, *numbers) in enumerate(zip(first.sessions_at_rank, *columns, strict=True), 1)
        ]
        yield text.table(heading, ["rank", "sessions", *found], rows)
