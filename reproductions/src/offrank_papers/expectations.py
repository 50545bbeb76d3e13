"""A paper's claims and published numbers as data, compared with the results: texts, rules and numbers of each page.

`expected/<name>.json` has the title, the lead and the sections of a page. A claim has a text, rules for
`confirmed` and optionally for `in part`, a sentence of evidence with the names of facts in braces, and the verdict
`found` at scale small with seed 4. One without rules is beyond the paper. A table has the published cells, each a
number or [value, half-width], and a tolerance. A page supplies the facts and the cells; all else is here.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import Any

from offrank.language import Say, silent
from offrank.language.formatting import percent
from offrank.report.charts import Chart, Series
from offrank.report.document import Cell, Claim, Document, Figures, Section, Status
from offrank.sums.estimate import Estimate, Interval

Facts = Mapping[str, Any]
"""Results by name: numbers, words, intervals, and lists or tables of them."""

Found = Mapping[str, Sequence[float | Interval | Sequence[float] | None]]
"""The rows of a table by name: numbers, or each with its half-width."""


@dataclass(frozen=True)
class Run:
    """The arguments of a reproduction: size, seed, data and folder.

    log: the user's, None to simulate one. folder: where slow results are saved. say: called with
    a description of each step.
    """

    scale: float = 1.0
    seed: int = 4
    log: Any = None
    folder: Path = Path()
    say: Say = silent

    def size(self, full: int, least: int) -> int:
        """Return the published size times the scale."""
        return max(int(full * self.scale), least)


_RULE = re.compile(r"(?P<fact>.+?) (?P<sign><=|>=|<|>|=) (?P<other>.+?)(?: ± (?P<tolerance>.+))?")
_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def holds(rule: str, facts: Facts) -> bool:
    """Whether a fact satisfies a rule, such as `bias < 0.1`, `best >= other` or `reward = 2 ± 1e-9`.

    `low` and `high` after the name of an interval are its ends. A fact that is not a number satisfies no rule.

    Raises:
        ValueError: the rule has no operator, or names something that is neither a fact nor a number.
    """
    match = _RULE.fullmatch(rule)
    if match is None:
        raise ValueError(f"{rule!r} is no rule: a fact, one of < <= > >= =, and a number or a fact")
    fact, other = _number(match["fact"], facts), _number(match["other"], facts)
    if match["sign"] == "=":
        return abs(fact - other) <= float(match["tolerance"] or 0)
    return bool(_SIGNS[match["sign"]](fact, other))


def _number(name: str, facts: Facts) -> float:
    if name in facts:
        value = facts[name]
        return float(value.value if isinstance(value, Interval) else value)
    stem, _, end = name.rpartition(" ")
    if end in {"low", "high"} and stem in facts:
        return float(getattr(facts[stem], end))
    return float(name)


class _Words(Formatter):
    """Formats facts in sentences: intervals with half-widths, lists with commas, tables with their names."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, Interval):
            half = self.format_field(half_of(value), format_spec.lstrip("+"))
            return f"{self.format_field(value.value, format_spec)}\u00a0(±\u00a0{half})"
        if isinstance(value, Mapping):
            return ", ".join(f"{name} {self.format_field(one, format_spec)}" for name, one in value.items()) or "none"
        if isinstance(value, Iterable):
            return ", ".join(self.format_field(one, format_spec) for one in value) or "none"
        return format(value, format_spec or "g").replace("%", " %")


_WORDS = _Words()


@dataclass(frozen=True)
class Checked(Claim):
    """A claim with the rules that decided; recorded: the verdict at scale small with seed 4, None if there is none."""

    confirmed: tuple[str, ...] = ()
    in_part: tuple[str, ...] = ()
    recorded: str | None = None


@dataclass(frozen=True)
class Expectations:
    """The expected content of a page."""

    content: Mapping[str, Any]

    @classmethod
    @cache
    def of(cls, name: str) -> Expectations:
        """Load from the file of that name."""
        return cls(json.loads((files(__package__) / "expected" / f"{name}.json").read_text(encoding="utf-8")))

    def page(self, sections: Callable[[Run], Iterable[Section]]) -> Callable[[Run], Document]:
        """Return a reproduction, given the function that computes its sections."""
        return lambda asked: self.to_document(sections(asked))

    def to_document(self, sections: Iterable[Section], title: str = "") -> Document:
        """Return the page; title: what follows its title."""
        return Document(self.content["title"] + title, self.content["lead"], tuple(sections))

    def section(
        self,
        name: str,
        facts: Facts = MappingProxyType({}),
        charts: Iterable[Chart] = (),
        tables: Iterable[Figures] = (),
    ) -> Section:
        """Return a section of the page: its texts and verdicts around the plots and tables."""
        known = self.content["sections"][name]
        heading, *prose = (_WORDS.vformat(text, (), facts) for text in (known["heading"], *known.get("prose", ())))
        return Section(
            heading, tuple(filter(None, prose)), tuple(self.claims(name, facts)), tuple(charts), tuple(tables)
        )

    def claims(self, section: str, facts: Facts, variant: str = "") -> list[Checked]:
        """Return the claims of a section, without those whose required fact is unknown."""
        known = self.content["sections"][section].get("claims", ())
        return [_checked(one, facts, variant) for one in known if one.get("needs") in (None, *facts)]

    def row(self, table: str, name: str) -> Sequence[Any]:
        """Return the published cells of a row, empty if there are none."""
        found: Sequence[Any] = self.content["tables"][table]["rows"].get(name, ())
        return found

    def table(
        self, name: str, found: Found, more: Mapping[str, Sequence[Cell]] = MappingProxyType({}), compared: bool = True
    ) -> Figures:
        """Return a table of results beside the published ones, with a verdict for each row with both.

        more: further columns by title. compared: False if something else was measured, such as another log.
        """
        known = self.content["tables"][name]
        rows = [(list(map(_pair, cells)), list(map(_pair, self.row(name, row)))) for row, cells in found.items()]
        columns: dict[str, Sequence[Cell]] = {known["row"]: list(found)}
        for place, title in enumerate(known["columns"]):
            ours, theirs = ([row[place] if row else (None, None) for row in side] for side in zip(*rows, strict=True))
            columns |= _titled(title, ours) | _titled(f"{title}, published", theirs)
        columns |= more
        if compared:
            columns["verdict"] = [_agreement(*row, known) for row in rows]
        kept = {title: cells for title, cells in columns.items() if any(cell is not None for cell in cells)}
        return by_columns(f"{known['caption']}. {_tolerance(known)}" if "verdict" in kept else known["caption"], kept)


def _checked(claim: Mapping[str, Any], facts: Facts, variant: str) -> Checked:
    """Return a claim with its verdict, and the rules in words."""
    confirmed, in_part = (tuple(claim.get(key, ())) for key in ("confirmed", "in part"))
    status: Status = "new" if not confirmed else verdict(confirmed, in_part, facts)
    rules = {"Confirmed": confirmed, "in part": in_part}
    said = "; ".join(f"{name} if {' and '.join(each)}" for name, each in rules.items() if each)
    recorded = claim.get(f"found, {variant}" if variant else "found")
    evidence = [_WORDS.vformat(claim["evidence"], (), facts), *([f"{said}."] if said else [])]
    if recorded not in {None, status}:
        evidence.append(f"At scale small, with seed 4, it was {recorded}.")
    text = _WORDS.vformat(claim["text"], (), facts)
    text = f"{variant.capitalize()}: {text}" if variant else text
    return Checked(text, status, " ".join(evidence), confirmed, in_part, recorded)


def verdict(confirmed: Sequence[str], in_part: Sequence[str], facts: Facts) -> Status:
    """Return confirmed if all its rules hold, in part if it has rules for that and they hold."""
    if all(holds(rule, facts) for rule in confirmed):
        return "confirmed"
    return "in part" if in_part and all(holds(rule, facts) for rule in in_part) else "not confirmed"


_Pair = tuple[float | None, float | None]
"""A value and its half-width, each if known."""


def _pair(cell: float | Interval | Sequence[float] | None) -> _Pair:
    if isinstance(cell, Interval):
        return cell.value, half_of(cell)
    if isinstance(cell, Sequence):
        return cell[0], cell[1]
    return cell, None


def _titled(title: str, pairs: Sequence[_Pair]) -> dict[str, Sequence[Cell]]:
    return {title: [value for value, _ in pairs], f"\u00b1 of {title}": [half for _, half in pairs]}


def _agreement(ours: Sequence[_Pair], theirs: Sequence[_Pair], known: Mapping[str, Any]) -> Status | None:
    """Say how many cells of a row are near enough: all, at least half of them, or fewer."""
    near = []
    for (value, half), (published, other) in zip(ours, theirs, strict=False):
        if value is not None and published is not None:
            allowed = known.get("tolerance", 0.0) + known.get("relative", 0.0) * abs(published)
            near.append(abs(value - published) <= allowed + math.hypot(half or 0.0, other or 0.0))
    if not near:
        return None
    return "confirmed" if all(near) else "in part" if 2 * sum(near) >= len(near) else "not confirmed"


def _tolerance(known: Mapping[str, Any]) -> str:
    parts = [f"{known['tolerance']:g}"] if "tolerance" in known else []
    parts += [f"{percent(known['relative'], 1)}"] if "relative" in known else []
    return (
        f"Cells agree within {' and '.join(parts)}, beyond what both intervals allow (the root of the sum of their "
        "squared halves); a row is confirmed where all cells agree, in part where half of them do"
    )


def by_columns(caption: str, columns: Mapping[str, Iterable[Cell]]) -> Figures:
    """Return a table from its columns, by title."""
    return Figures(caption, tuple(columns), tuple(zip(*columns.values(), strict=True)))


def half_of(one: Interval) -> float:
    """Return the half-width of an interval."""
    return (one.high - one.low) / 2


def times(factor: float, one: Interval | Estimate) -> Interval:
    """Return an interval in another unit."""
    return Interval(factor * one.value, factor * one.low, factor * one.high, factor * one.standard_error)


def bars(name: str, x: Sequence[float], each: Iterable[Interval]) -> Series:
    """Return values with their intervals, as a part of a chart."""
    value, low, high = zip(*((one.value, one.low, one.high) for one in each), strict=True)
    return Series(name, x, value, low, high)


def same_size(impressions: float, published: float) -> bool:
    """Whether a log is as long as the published one, within 1 %: another log, or a part of it, is not compared."""
    return abs(impressions - published) <= 0.01 * published
