"""The base of all results: each can be printed, and written as a page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from os import PathLike

from ..language.files import write_text
from ..language.outputs import refuse_result
from ..wording import Style, worded
from . import terminal
from .document import Document


class Printed(ABC):
    """A result that is shown as a document, see `to_document`."""

    @abstractmethod
    def to_document(self) -> Document:
        """Return the document for terminal and page.

        Returns:
            Its title, its sections and its findings.

        Examples:
            >>> offrank.check("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)").to_document().title
            'Can this log be used to evaluate other rankings?'
        """

    def _printed(self) -> Document:
        """Return the document for a terminal, which may lack what only a page shows."""
        return self.to_document()

    def __str__(self) -> str:
        return terminal.render_text(self._printed())

    def _repr_html_(self) -> str:
        return self.to_document().first_screen()

    def show(self, style: Style = "python") -> None:
        """Print the result, in colour on a terminal.

        Parameters:
            style: whether advice names arguments or command-line options.

        Examples:
            >>> offrank.check("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)").show()
            Can this log be used to evaluate other rankings?
            ...
        """
        terminal.show(worded(self._printed(), style))

    def save_html(self, path: str | PathLike[str], style: Style = "python", overwrite: bool = False) -> None:
        """Write one self-contained HTML page.

        Parameters:
            path: the file to write.
            style: whether advice names arguments or command-line options.
            overwrite: replace a file of others that is there.

        Raises:
            UsageError: `path` is what the result was made of, or a file of others.

        Examples:
            >>> offrank.check("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)").save_html("check.html")
        """
        refuse_result(path, self, overwrite)
        write_text(path, worded(self.to_document(), style).render())
