"""The result of `inspect`: in words, for programs, and as the mapping file that other commands read."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Any

from ..frames import Plain, plain
from ..language.formatting import finite
from ..language.outputs import refuse_result
from ..report.document import Document
from ..report.printable import Printed
from . import page
from .inspected import Inspected
from .mapping_file import write_mapping


@dataclass(frozen=True)
class Inspection(Inspected, Printed, Plain):
    """How a log is read, and which policies may have generated it; see `Inspected` for its fields.

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

    Examples:
        >>> found = offrank.inspect("offrank-demo/log.parquet")
        >>> found.logging.policy, found.logging.status
        ('plackett_luce(old_score)', 'written')
    """

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
        return page.inspection_document(self)

    __repr__ = Printed.__str__
