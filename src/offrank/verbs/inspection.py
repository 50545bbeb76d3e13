"""The result of `inspect`: in words, for programs, and as the mapping file that other commands read."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from ..checks.drawn import Drawn
from ..checks.logged_by import LoggedBy
from ..checks.overview import Overview
from ..checks.propensities import Agreement
from ..files import write_text
from ..folds.estimate import Caution
from ..formatting import finite, plural, quote
from ..frames import Plain, plain
from ..log import rules
from ..readers.described import LogColumn
from ..readers.wide import Gaps
from ..report.document import Answer, Document, Figures, Item, Section
from ..report.printable import Printed
from ..wording import Option, Wording

_NAMED = 12
"""How many columns to group by are named."""
_APART = {
    "outcome": "follows what was shown: not tried as a score",
    "doubtful": "perhaps follows what was shown: not tried as a score; name it in a policy if it is one",
}
_RULES = {
    rule.code: f": {rule.broken}; " + rule.remedy for rule in vars(rules).values() if isinstance(rule, rules.Rule)
}


@dataclass(frozen=True)
class Next:
    """A question that the log can answer: a target policy, and estimators that can evaluate it."""

    target: str
    estimators: tuple[str, ...]


@dataclass(frozen=True)
class Inspection(Printed, Plain):
    """How a log is read, and which policies may have drawn it.

    - source, path: where the log is; format, gaps, top_k: options for reading it. renamed: role -> column, as
      given. layout: wide (a row per impression) or long (a row per item).
    - columns: with their types and uses; see `LogColumn`. written: roles of probabilities that were logged.
    - rows: impressions read; skipped: rule -> rows that break it. overview: slots, candidates, distinct values, mean
      reward, design effects by column. ties: score -> share of the impressions whose order it does not determine.
    - about: the problems of the log, the worst first. copies: lower bound on the share of duplicate rows.
    - drawn: the fitted policies, those that fit first. agreement: between the logged propensities
      and the best fitting law. logging: what drew the log, and how far that is known: see `LoggedBy`.
    - clicked: whether clicks were logged. next: the suggested question, None if the log cannot answer one yet.
    - declined: why not, where its answers were tried and none could be used.

    Examples:
        >>> found = offrank.inspect("offrank-demo/log.parquet")
        >>> found.logging.policy, found.logging.status
        ('plackett_luce(old_score)', 'written')
    """

    source: str
    layout: str
    renamed: Mapping[str, str]
    columns: tuple[LogColumn, ...]
    rows: int
    skipped: Mapping[str, int]
    overview: Overview
    ties: Mapping[str, float]
    written: tuple[str, ...]
    about: tuple[Caution, ...]
    copies: float
    drawn: list[Drawn]
    logging: LoggedBy
    clicked: bool
    agreement: Agreement | None = None
    next: Next | None = None
    declined: str | None = None
    path: str | None = None
    format: str | None = None
    gaps: Gaps = "raise"
    top_k: int | None = None

    @property
    def cluster(self) -> str | None:
        """Return the column whose rows depend on each other most, if any do."""
        known = {name: effect for name, effect in self.overview.effects.items() if effect is not None}
        return max(known, key=lambda name: known[name], default=None)

    @property
    def command(self) -> str:
        """Return the next command; a click model's if no logging policy is known. Empty without clicks or reward."""
        words = [word for role, name in self.renamed.items() for word in ("--column", f"{role}={name}")]
        words += ["--format", self.format] if self.format else []
        words += ["--gaps", "close"] if self.gaps == "close" else []
        words += ["--top-k", str(self.top_k)] if self.top_k else []
        words += ["--skip-invalid"] if self.broken else []
        words += ["--skip-broken-files"] if self.broken_files else []
        return self._asked(words, self._drawn)

    @property
    def _drawn(self) -> list[str]:
        named = self.logging.named
        return [] if named in (None, "logged") else ["--logging", str(named)]

    def command_with(self, mapping: str) -> str:
        """Return the same command, for a mapping written by `save`."""
        return self._asked(["--config", mapping], [])

    def _asked(self, said: list[str], drawn: list[str]) -> str:
        if self.overview.earned is None or (self.next is None and not self.clicked):
            return ""
        log = self.path or "LOG"
        if self.next is None:
            return shlex.join(["offrank", "clicks", "fit", log, *said, "--model", "pbm", "-o", "pbm.json"])
        estimators = [word for one in self.next.estimators for word in ("-e", one)]
        return shlex.join(["offrank", "evaluate", log, *said, "--target", self.next.target, *drawn, *estimators])

    @property
    def broken(self) -> Mapping[str, int]:
        """Return the rows that break a rule; clicks that a format leaves out do not count."""
        others = "click-", rules.BROKEN_FILE
        return {rule: count for rule, count in self.skipped.items() if not rule.startswith(others)}

    @property
    def broken_files(self) -> list[str]:
        """Return the files that were left out, since they cannot be read."""
        found = [rule.partition(" ") for rule in self.skipped]
        return [path for rule, _, path in found if rule == rules.BROKEN_FILE]

    def mapping(self) -> dict[str, Any]:
        """Return the contents for `--config`: how to read the log, logging policy, cluster, and each role's column."""
        gaps = None if self.gaps == "raise" else self.gaps
        read = {"format": self.format, "gaps": gaps, "top_k": self.top_k}
        said = {**read, "logging": self.logging.named, "cluster": self.cluster}
        known = {name: value for name, value in said.items() if value is not None}
        files = {"skip_broken_files": True} if self.broken_files else {}
        return known | ({"skip_invalid": True} if self.broken else {}) | files | {"columns": dict(self.renamed)}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the mapping as TOML."""
        mapping = self.mapping()
        columns = mapping.pop("columns")
        lines = [f"# What is read as what in {' '.join(self.source.split())}; for --config of any verb."]
        lines += [*_toml(mapping), *(["", "[columns]", *_toml(columns)] if columns else [])]
        write_text(path, "\n".join(lines) + "\n")

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain lists, dicts and numbers."""
        laws = [{**vars(one), "policy": repr(one.policy), "fits": one.fits} for one in self.drawn]
        apart = None if self.agreement is None else self.agreement.share_apart
        logging = {**asdict(replace(self.logging)), "departure": finite(self.logging.departure)}
        made = {"drawn": laws, "logging": logging, "apart": apart, "mapping": self.mapping(), "command": self.command}
        found: dict[str, Any] = plain({"schema": 2, "kind": "inspect", **asdict(replace(self, drawn=[])), **made})
        return found

    def to_document(self) -> Document:
        """Return the page: how columns are read, which policies may have drawn the log, and what to run next."""
        row = "an item" if self.layout == "long" else "an impression"
        kind = f", format {self.format}" if self.format else ""
        uses = tuple((column.name, column.type, _use(column, self)) for column in self.columns if _is_listed(column))
        columns = Figures("What is read as what", ("column", "type", "read as"), uses)
        sections = [
            Section("What it holds", items=tuple(_sizes(self))),
            Section("Columns", tables=(columns,)),
            Section("Other columns", items=tuple(_other_columns(self))),
            Section("Which policies fit?", items=tuple(_laws(self))),
        ]
        sections.append(Section("How was it drawn?", tuple(_confirming(self))))
        if self.command:
            what = "What a click model says of users:"
            what = what if self.next is None else f"What {quote(self.next.target)} would have earned:"
            sections.append(Section("Next", (what,), code=f"  {self.command}"))
        title = f"{self.source}: {self.layout} layout (a row is {row}){kind}"
        return Document(title, "", tuple(sections), (self._answer(),))

    def _answer(self) -> Answer:
        """Say whether the log can be used to evaluate other rankings."""
        if self.overview.earned is None:
            return Answer("**Nothing can be estimated from it**: log clicks, or a reward.", severity="serious")
        found = self.logging
        law = "the propensities that were logged" if found.policy == "logged" else quote(str(found.policy))
        if found.known and self.declined:
            none = (
                f"**What drew this log is known** ({law}), but **none of the rankings in it can be judged by it** yet."
            )
            return Answer(none, severity="warning")
        if found.known:
            return Answer(f"**Other rankings can be judged by it**, weighed by {law}.")
        said = {
            "not contradicted": f"**Nothing contradicts {law}, but nobody has confirmed it**: {found.why}.",
            "refuted": f"**The propensities that were logged are refuted**: {found.why}",
            "arms": f"**Rankers without randomness, told by {quote(str(found.column))}**: within one, {found.why}.",
            "not random": f"**This log is not random**: {found.why}. No other ranking can be weighed by it.",
        }
        unknown = f"**Nothing shows that this log is random, or what drew it**: {found.why}."
        severity = "serious" if found.status == "refuted" else "warning"
        return Answer(said.get(found.status, unknown), severity=severity)

    __repr__ = Printed.__str__


def _confirming(found: Inspection) -> Iterator[str]:
    """Return what a person has to confirm, and what such a log can give."""
    by = found.logging
    if by.status in ("not contradicted", "unknown") and by.policy is not None:
        yield Wording("If you know that the log was drawn so, say {}; the log cannot.", Option("logging", by.policy))
    if by.status == "refuted" and (fits := [one.policy for one in found.drawn if one.fits]):
        said = Option("logging", repr(fits[0]))
        yield Wording("What was shown fits {}. If you know that it was drawn so, say {}.", repr(fits[0]), said)
    for value, ranker in by.arms.items():
        yield f"{by.column} = {value}: every slate is that of {ranker}."
    if by.arms:
        yield f"The means of the values of {by.column} compare the rankers, as in any A/B test."
    if by.status in ("not random", "arms", "refuted", "unknown") and found.overview.earned is not None:
        yield (
            "Without randomness a click model can predict what another ranking would earn. To judge rankings by the "
            "log itself, show a random slate in a share of the requests, and log the propensity of every slate."
        )
    if found.declined:
        yield "Tried: no ranking of the log can be judged by it. " + found.declined


def _toml(values: Mapping[str, Any]) -> Iterator[str]:
    # A JSON string is also a TOML string.
    return (f"{json.dumps(name)} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())


def _sizes(found: Inspection) -> Iterator[Item]:
    overview, distinct = found.overview, found.overview.distinct
    groups = "".join(f", {_counted(count, name)}" for name, count in distinct.items() if name != "item")
    yield Item(f"{found.rows:,} impressions{groups}", status="rows")
    for rule, count in found.skipped.items():
        yield Item(f"{count:,} {rule}{_RULES.get(rule, '')}", status="left out")
    yield Item(_spread(overview.slots), status="slots")
    items = _counted(distinct["item"], "different item")
    yield Item(f"{_spread(overview.candidates)}, {items}", status="candidates")
    if (earned := overview.earned) is not None:
        yield Item(f"{earned.value:.3g} an impression ({earned.low:.3g} to {earned.high:.3g})", status="earned")
    else:
        yield Item("unknown: there are neither clicks nor a reward", status="earned")
    for name, effect in overview.effects.items():
        if effect is not None:
            yield Item(f"by {name}: design effect {_number(effect)} of the mean reward", status="dependence")
    copies = f"{found.copies:.0%} of the rows at least" if found.copies else "none found"
    yield Item(copies, status="duplicates")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _counted(count: int, name: str) -> str:
    return plural(count, name, f"{name[:-1]}ies" if name.endswith("y") else f"{name}s")


def _spread(rows: Mapping[int, int]) -> str:
    """Describe counts per row: `4 in every row`, `1 to 10, half of the rows at most 4`."""
    sizes, below = list(rows), np.cumsum(list(rows.values()))
    if len(sizes) == 1:
        return f"{sizes[0]:,} in every row"
    middle = sizes[int(np.argmax(2 * below >= below[-1]))]
    return f"{sizes[0]:,} to {sizes[-1]:,} in a row, half of the rows have at most {middle:,}"


def _is_listed(column: LogColumn) -> bool:
    """Whether the table has a line for a column."""
    return bool(column.like) or column.use not in ("group", "")


def _use(column: LogColumn, found: Inspection) -> str:
    ties = found.ties.get(column.name) if column.use == "score" else None
    if column.use in _APART:
        return _APART[column.use]
    return "not read" if column.like else f"score, tied in {ties:.1%} of the rows" if ties else column.use


def _other_columns(found: Inspection) -> Iterator[str]:
    for column in found.columns:
        if column.like:
            yield f"say --column {column.like}={column.name} if it is the {column.like}"
    for use, words in (("group", "to group by (--by)"), ("", "not read")):
        if names := [column.name for column in found.columns if column.use == use and not column.like]:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield f"{words}: {', '.join(names[:_NAMED])}{more}"


def _laws(found: Inspection) -> Iterator[Item]:
    """Return the policies that may have drawn the log, each with the evidence against it."""
    if found.written:
        yield Item(_said(", ".join(found.written), _agreement(found)), status="written")
    for one in found.drawn:
        yield Item(_said(repr(one.policy), one.against), status="fits" if one.fits else "no")
    if not any(one.fits for one in found.drawn):
        yield Item("None of the policies that were tried has drawn this log.")
    if queries := found.overview.distinct.get("query"):
        rows = f"{_number(found.rows / queries)} rows per query; it agrees with the log by construction"
        yield Item(_said("counted(by=query)", rows), status="counted")
    for caution in found.about:
        yield Item(caution.text, status=caution.severity)


def _said(name: str, why: str) -> str:
    return f"{name}: {why}" if why else name


def _agreement(found: Inspection) -> str:
    if found.agreement is None:
        return ""
    law = next(one.policy for one in found.drawn if one.fits)
    apart = found.agreement.share_apart
    if apart > 1 / 2:
        return f"in {apart:.0%} of the rows they are not those of {law!r}"
    return f"they are those of {law!r}" + (f", but for {apart:.0%} of the rows" if apart else "")
