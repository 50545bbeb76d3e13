"""The result of `inspect`: in words, for programs, and as the mapping file that other commands read."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Any

from ..formatting import finite
from ..frames import Plain, plain
from ..outputs import refuse_result
from ..report.document import Document
from ..report.printable import Printed
from . import page
from .found import Inspected
from .mapping_file import write_mapping


@dataclass(frozen=True)
class Inspection(Inspected, Printed, Plain):
    """How a log is read, and which policies may have generated it; see `Inspected` for its fields.

    Examples:
        >>> found = offrank.inspect("offrank-demo/log.parquet")
        >>> found.logging.policy, found.logging.status
        ('plackett_luce(old_score)', 'written')
    """

    def save(self, path: str | PathLike[str], overwrite: bool = False) -> None:
        """Write the mapping as TOML. overwrite: replace a file of others that is there."""
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
        return page.document(self)

    __repr__ = Printed.__str__
