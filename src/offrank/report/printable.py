"""The base of all results: each can be printed, and written as a page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from os import PathLike

from ..files import write_text
from . import terminal
from .document import Document


class Printed(ABC):
    """A result that is shown as a document, see `sheet`."""

    @abstractmethod
    def sheet(self) -> Document:
        """Return the document for terminal and page."""

    def __str__(self) -> str:
        return terminal.render_text(self.sheet())

    def show(self) -> None:
        """Print the result, in colour on a terminal."""
        terminal.show(self.sheet())

    def save_html(self, path: str | PathLike[str]) -> None:
        """Write one self-contained HTML page."""
        write_text(path, self.sheet().render())
