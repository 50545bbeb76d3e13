"""Reproductions by name, and how they are saved: a page, and each table and plot as a file."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from offrank.errors import UsageError
from offrank.language import Say, silent
from offrank.language.files import write_text
from offrank.language.outputs import inputs_in, refuse_output, refuse_outputs
from offrank.report import terminal
from offrank.report.charts import chart_svg
from offrank.report.document import Answer, Document, Section
from offrank.running import reproducibility

from .cmip import document as cmip
from .criteo_checks import document as criteo_checks
from .criteo_learning import document as criteo_learning
from .expectations import Run
from .interpol import document as interpol
from .non_shuffled import document as non_shuffled
from .slates import document as slates
from .slates_math import document as slates_math


@dataclass(frozen=True)
class Reproduction:
    """A function that makes the page of a paper, given a seed.

    takes: a log, judged queries (an MSLR fold, an SVMlight file), or nothing; missing data are simulated.
    small: the scale of that name.
    """

    document: Callable[[Run], Document]
    takes: Literal["nothing", "log", "judged"] = "nothing"
    small: float = 0.1


REPRODUCTIONS: dict[str, Reproduction] = {
    "cmip": Reproduction(cmip, "judged", 0.008),
    "cmip-published-code": Reproduction(partial(cmip, preset="published-code"), "judged", 0.008),
    "criteo-checks": Reproduction(criteo_checks, "log"),
    "criteo-learning": Reproduction(criteo_learning, "log"),
    "interpol": Reproduction(interpol),
    "non-shuffled": Reproduction(non_shuffled),
    "slates": Reproduction(slates, "judged", 0.06),
    "slates-math": Reproduction(slates_math),
}
"""The reproductions of `offrank reproduce`, by name. Those of judged queries are slow, and resume where interrupted."""


@dataclass(frozen=True)
class Reproduced:
    """The results, and their folder."""

    document: Document
    folder: Path

    @property
    def page(self) -> Path:
        """Return the page to open."""
        return self.folder / "index.html"

    @property
    def summary(self) -> Document:
        """Return the summary for a terminal: how many claims were confirmed, and each with its verdict."""
        sections = tuple(Section(one.heading, claims=one.claims) for one in self.document.sections if one.claims)
        counts = Counter(claim.status for section in sections for claim in section.claims)
        told = f"**{counts['confirmed']} of {counts.total() - counts['new']} claims of the paper are confirmed**"
        told += f", {counts['in part']} in part." if counts["in part"] else "."
        return Document(self.document.title, "", sections, (Answer(told),) if sections else ())

    def show(self) -> None:
        """Print the summary, in colour on a terminal, and the path of the page."""
        terminal.show(self.summary)
        sys.stdout.write(f"\nThe page: {self.page}\n")

    def __str__(self) -> str:
        return f"{terminal.render_text(self.summary)}\nThe page: {self.page}"


def reproduce(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    log: Any = None,
    scale: float | str = 1.0,
    seed: int = 4,
    overwrite: bool = False,
    say: Say = silent,
) -> Reproduced:
    """Reproduce a paper; `offrank.reproduce` has the same arguments. name: one of REPRODUCTIONS.

    Raises:
        UsageError: there is no such reproduction, it takes no log, the scale is not positive, or the folder is part of
            the log or holds files of others by these names.
    """
    if name not in REPRODUCTIONS:
        raise UsageError(f"there is no reproduction {name!r}", "use one of " + ", ".join(sorted(REPRODUCTIONS)))
    known = REPRODUCTIONS[name]
    if log is not None and known.takes == "nothing":
        having = (other for other, one in REPRODUCTIONS.items() if one.takes != "nothing")
        raise UsageError(f"{name} takes no log", "omit it, or use one of " + ", ".join(having))
    into = Path(folder or f"reproduce-{name}")
    _refuse_folder(into, log, overwrite)
    made = Reproduced(
        known.document(Run(_scale(scale, {"full": 1.0, "small": known.small}), seed, log, into, say)), into
    )
    write(made)
    return made


def _refuse_folder(into: Path, log: Any, overwrite: bool) -> None:
    """Raise if the page or its parts would go into the log, or over files of others; the page is written first."""
    page = into / "index.html"
    refuse_outputs(page, log=log, read=(), overwrite=overwrite)
    parts = [into / "result.json", *into.glob("table-*.csv"), *into.glob("figure-*.svg")]
    for path in parts:
        refuse_output(path, inputs_in(log), overwrite or page.is_file())


def _scale(given: float | str, named: Mapping[float | str, float]) -> float:
    """Return the scale as a number.

    Raises:
        UsageError: it is neither a number above 0 nor a name.
    """
    try:
        found = named[given] if given in named else float(given)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise UsageError(f"scale is {given}", "give 1 for the published size, a smaller number, or small or full")
    return found


def write(made: Reproduced) -> None:
    """Write the page and all its parts."""
    made.folder.mkdir(parents=True, exist_ok=True)
    write_text(made.page, made.document.render())
    content = {"schema": 1, "kind": "reproduction", **asdict(made.document), "versions": reproducibility.versions()}
    write_text(made.folder / "result.json", json.dumps(content, indent=2))
    for number, section in enumerate(made.document.sections, 1):
        for index, table in enumerate(section.tables, 1):
            write_text(made.folder / f"table-{number}-{index}.csv", table.to_csv())
        for index, chart in enumerate(section.charts, 1):
            write_text(made.folder / f"figure-{number}-{index}.svg", chart_svg(chart))
