"""`reproduce`: a paper's results beside ours, by the package offrank-papers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

from ..language import Say, silent
from ..language.extensions import FUNCTIONS, load_extension
from ..report.document import Document


class ReproducedPaper(Protocol):
    """The results of a reproduction, as a document, and their folder."""

    @property
    def document(self) -> Document:
        """The page, as a document."""

    @property
    def folder(self) -> Path:
        """Where everything is."""

    @property
    def page(self) -> Path:
        """The page to open."""

    def show(self) -> None:
        """Print the summary, in colour on a terminal, and the path of the page.

        Examples:
            >>> offrank.reproduce("slates-math", scale=0.05).show()
            Off-policy evaluation for slate recommendation: the mathematics
            ...
        """


def reproduce(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    log: Any = None,
    scale: float | str = 1.0,
    seed: int = 4,
    overwrite: bool = False,
    say: Say = silent,
) -> ReproducedPaper:
    """Reproduce a paper: `index.html`, `result.json`, and each table (CSV) and plot (SVG) in a folder.

    It needs the package offrank-papers: `pip install ./reproductions` in a checkout.

    Parameters:
        name: of the reproduction; `offrank reproduce --help` lists them.
        folder: by default `reproduce-<name>`.
        log: for those that take one, from `read_log` or anything that it takes; for those of judged queries their
            folder or file; by default a simulated one.
        scale: 1 or "full" for the published size, "small" or a smaller number for a quick look.
        seed: of everything that is drawn.
        overwrite: replace files there that are not of a reproduction.
        say: called with a description of each step.

    Returns:
        The reproduction: its document, its folder and its page.

    Raises:
        MissingExtraError: offrank-papers is not installed.
        UsageError: there is no such reproduction, it takes no log, or the scale is not positive.

    Examples:
        >>> offrank.reproduce("slates-math", scale=0.05).page.name
        'index.html'
    """
    made: ReproducedPaper = load_extension(FUNCTIONS, "reproduce")(
        name, folder, log=log, scale=scale, seed=seed, overwrite=overwrite, say=say
    )
    return made
