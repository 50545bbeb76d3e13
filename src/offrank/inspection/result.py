"""The result of `inspect`: how a table is read, what drew it and which command follows; in words and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from typing import Any

from ..checks.fitted_logging_policy import Drawn
from ..checks.logged_by import LoggedBy
from ..checks.overview import Overview
from ..checks.propensities import Agreement
from ..frames import Plain, plain
from ..language.files import write_text
from ..language.formatting import finite, printable
from ..language.outputs import refuse_result
from ..language.registry import Later
from ..language.spelling import spell
from ..log import rules
from ..policies.by import By
from ..policies.registry import policy
from ..policies.top import Top
from ..readers.description import Unsettled
from ..readers.log_columns import LogColumn
from ..readers.long import FROM_0
from ..readers.sampling import LogSample
from ..readers.wide import Gaps
from ..report.document import Document
from ..report.printable import Printed
from ..sums.estimate import Caution
from ..wording import command_line

page = Later(".page", __package__)  # which is of inspections


@dataclass(frozen=True)
class Next:
    """A question that the log can answer: a target policy, and estimators that can evaluate it.

    turned: the target with the lowest score first, where nothing shows whether high scores are good; empty otherwise.
    first: whether only its first items can be evaluated. against: a ranking that it is compared with; empty otherwise.
    """

    target: str
    estimators: tuple[str, ...]
    turned: str = ""
    first: bool = False
    against: str = ""


@dataclass(frozen=True)
class Inspection(Printed, Plain):
    """How a log is read, and which policies may have generated it.

    Parameters:
        source: where the log is, in words.
        layout: wide (a row per impression), long (a row per item), or that of a named standard.
        renamed: role -> column.
        columns: with their types and uses.
        rows: impressions read.
        skipped: rule -> rows that break it.
        overview: slots, candidates, distinct values, mean reward, design effects by column.
        ties: score -> share of the impressions whose order it does not determine.
        written: roles of the probabilities that were logged.
        about: problems of the log, the worst first.
        copies: lower bound on the share of duplicate rows.
        drawn: the fitted policies, those that fit first.
        logging: what drew the log, and how far that is known.
        clicked: whether clicks were logged.
        agreement: between the logged propensities and the law that fits best.
        next: the suggested question; None if the log cannot answer one yet.
        declined: why no question is suggested.
        path: the file or files.
        format: an option of reading it, as `gaps` and `top_k` are.
        gaps: see `read_log`.
        top_k: see `read_log`.
        where: which of its rows are read, see `read_log`.
        given: role -> column, as it was said.
        read_as: how the table was understood, in words, where that was not said.
        checksums: whether its files carry them; None of no file, or if it is not told.
        sample: how the rows were chosen that all of this is of; None if it is of every row.
        only_clicks: whether every item that was shown was clicked: such a log can judge no ranking.
        unreadable: rows whose clicks or reward cannot be read.
        first_broken: the first row that breaks a rule, with its column and value; empty where none does.
        against_clicks: score -> share of the pairs of a clicked and an unclicked item with the higher one at the
            clicked one, where the order is random and that is less than chance.
        period: the column of time, and the first and last day of the log; None where there is none.

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
    path: str | list[str] | None = None
    format: str | None = None
    gaps: Gaps = "raise"
    top_k: int | None = None
    where: str | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    read_as: str = ""
    checksums: bool | None = None
    sample: LogSample | None = None
    only_clicks: bool = False
    unreadable: int = 0
    first_broken: str = ""
    against_clicks: Mapping[str, float] = field(default_factory=dict)
    period: Mapping[str, str] | None = None

    @property
    def unsettled(self) -> tuple[Unsettled, ...]:
        """Return what must be said before the table can be read: nothing."""
        return ()

    @property
    def shown_only(self) -> bool:
        """Whether slates are of more items than they hold, of which each row lists those shown alone."""
        slots = self.overview.slots
        return self.overview.candidates == slots and self.overview.distinct["item"] > max(slots)

    @property
    def title(self) -> str:
        """Where the log is, and how it is read."""
        row = "one row per item" if self.layout == "long" else "one row per impression"
        source = self.source.removesuffix(FROM_0) if "from 0" in self.read_as else self.source
        return f"{source}: {self.read_as or row}"

    @property
    def cluster(self) -> str | None:
        """Return the column whose rows depend on each other most, if any do."""
        known = {name: effect for name, effect in self.overview.effects.items() if effect is not None}
        return max(known, key=lambda name: known[name], default=None)

    @property
    def command(self) -> str:
        """Return the next command: a comparison of the arms, else a click model's if no logging policy is known.

        Empty without clicks or reward, where some of them cannot be read, and where there are only clicks.
        """
        words = [word for role, name in self.given.items() for word in ("--column", f"{role}={name}")]
        words += ["--format", self.format] if self.format else []
        words += ["--gaps", "close"] if self.gaps == "close" else []
        words += ["--top-k", str(self.top_k)] if self.top_k else []
        words += ["--where", self.where] if self.where else []
        words += ["--skip-invalid"] if self.broken else []
        words += ["--skip-broken-files"] if self.broken_files else []
        if self.logging.bucket and not self.where:
            log = self.path if isinstance(self.path, list) else [self.path or "LOG"]
            return command_line(["offrank", "inspect", *log, *words, "--where", self.logging.bucket])
        return self._asked(words, self._drawn)

    @property
    def arms(self) -> By | None:
        """Return the rankers of an A/B test: each explains all rows of one value of a column."""
        by = self.logging
        if by.status != "arms" or by.column is None:
            return None
        return By(by.column, {value: policy(ranker) for value, ranker in by.arms.items()})

    @property
    def arms_draw(self) -> bool:
        """Whether the rankers of an A/B test draw what they show."""
        return self.arms is not None and not all(one.always_sorts for one in self.arms.policies.values())

    @property
    def means(self) -> list[str] | None:
        """Return what compares the means of arms whose rankers are not known; None where no column tells arms."""
        by, names = self.logging, self.renamed
        if self.next or self.format or by.arms or not by.column or len(by.shares) < 2 or not self.overview.earned:
            return None
        earned = next(one.name for one in self.columns if one.use in ("reward", "click", "clicks"))
        one = f", impression={spell(names.get('impression', 'impression'))}" if self.layout == "long" else ""
        rankers = By(by.column, {value: Top(f"is_{value}") for value in by.shares})
        user = ["--cluster", names.get("user", "user")] if "user" in self.overview.distinct else []
        reader = f"ab_test(arm={spell(by.column)}, reward={spell(earned)}{one})"
        return ["--format", reader, "--logging", repr(rankers), "-e", "snips", *user]

    @property
    def _drawn(self) -> list[str]:
        named = self.logging.named
        return [] if named in (None, "logged") else ["--logging", str(named)]

    def command_with(self, mapping: str) -> str:
        """Return the same command, for a mapping written by `save`.

        Parameters:
            mapping: the path of the mapping.

        Returns:
            The line to type.

        Examples:
            >>> offrank.inspect("offrank-demo/log.parquet").command_with("log.toml").split()[:2]
            ['offrank', 'evaluate']
        """
        return self._asked(["--config", mapping], [])

    def _asked(self, said: list[str], drawn: list[str]) -> str:
        if self.unreadable:
            return ""
        log, arms = self.path if isinstance(self.path, list) else [self.path or "LOG"], self.arms
        if self.overview.earned is not None and arms is not None:
            unit = ["--cluster", self.logging.unit] if self.logging.unit else []
            alone = [] if self.clicked else ["-e", "snips"]
            return command_line(["offrank", "compare", *log, *said, "--logging", repr(arms), *unit, *alone])
        if self.means is not None:
            return command_line(["offrank", "compare", *log, *self.means])
        if self.overview.earned is None or (self.next is None and (self.only_clicks or not self.clicked)):
            return ""
        if self.next is None:
            return command_line(["offrank", "clicks", "fit", *log, *said, "--model", "pbm", "-o", "pbm.json"])
        asked = [word for one in self.next.estimators for word in ("-e", one)]
        asked += ["--top-k", "1"] if self.next.first else []
        verb, other = ("compare", ["--target", self.next.against]) if self.next.against else ("evaluate", [])
        return command_line(["offrank", verb, *log, *said, "--target", self.next.target, *other, *drawn, *asked])

    @property
    def broken(self) -> Mapping[str, int]:
        """Return the rows to leave out: those that break a rule, if none of them does in its outcome."""
        return {} if self.unreadable else rules.skipped_rows(self.skipped)

    @property
    def broken_files(self) -> list[str]:
        """Return the files that were left out, since they cannot be read."""
        found = [rule.partition(" ") for rule in self.skipped]
        return [path for rule, _, path in found if rule == rules.BROKEN_FILE]

    def mapping(self) -> dict[str, Any]:
        """Return the contents for `--config`: how to read the log, logging policy, cluster, and each role's column.

        Returns:
            Tables of the TOML file by name.

        Examples:
            >>> offrank.inspect("offrank-demo/log.parquet").mapping()["logging"]
            'plackett_luce(old_score)'
        """
        gaps = None if self.gaps == "raise" else self.gaps
        read = {"format": self.format, "gaps": gaps, "top_k": self.top_k, "where": self.where}
        said = {**read, "logging": self.logging.named, "cluster": self.cluster}
        known = {name: value for name, value in said.items() if value is not None}
        files = {"skip_broken_files": True} if self.broken_files else {}
        return known | ({"skip_invalid": True} if self.broken else {}) | files | {"columns": dict(self.renamed)}

    def save(self, path: str | PathLike[str], overwrite: bool = False) -> None:
        """Write the mapping as TOML.

        Parameters:
            path: the file to write.
            overwrite: replace a file of others that is there.

        Examples:
            >>> offrank.inspect("offrank-demo/log.parquet").save("log.toml")
        """
        refuse_result(path, self, overwrite)
        write_mapping(self.mapping(), self.source + (f", by {self.sample.said}" if self.sample else ""), path)

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
        found: Document = page.inspection_document(self)
        return found

    __repr__ = Printed.__str__


def write_mapping(mapping: Mapping[str, Any], source: str, path: str | PathLike[str]) -> None:
    """Write a mapping as TOML. mapping: options, and `columns` by role; source: where the table is, for a comment."""
    options, columns = {**mapping}, mapping["columns"]
    del options["columns"]
    lines = [f"# How the columns of {printable(source)} are read; for --config of any verb."]
    lines += [*_toml(options), *(["", "[columns]", *_toml(columns)] if columns else [])]
    write_text(path, "\n".join(lines) + "\n")


def _toml(values: Mapping[str, Any]) -> Iterator[str]:
    # A JSON string is also a TOML string, but for the character of the key "delete".
    texts = ((json.dumps(name), json.dumps(value, ensure_ascii=False)) for name, value in values.items())
    return (f"{name} = {value}".replace("\x7f", "\\u007f") for name, value in texts)
