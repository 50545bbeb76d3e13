"""Reproductions by name, and how they are written down: a page, and each table and picture as a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from ..errors import UsageError
from ..files import write_text
from ..jobs import document
from ..report.charts import chart_svg
from ..report.sheet import Sheet
from .cmip import sheet as cmip
from .criteo_checks import sheet as criteo_checks
from .criteo_learning import sheet as criteo_learning
from .interpol import sheet as interpol
from .non_shuffled import sheet as non_shuffled
from .slates_math import sheet as slates_math


class Reproduction(Protocol):
    """Makes the page of a paper. scale: 1 for the published size, less for a quick look. Seeded."""

    def __call__(self, *, scale: float, seed: int, say: Callable[[str], object]) -> Sheet: ...


REPRODUCTIONS: dict[str, Reproduction] = {
    "interpol": interpol,
    "non-shuffled": non_shuffled,
    "slates-math": slates_math,
}
"""What `offrank reproduce` knows, by name."""


class LogReproduction(Protocol):
    """As `Reproduction`, on a log of the user's own, or None for a simulated one."""

    def __call__(self, *, log: Any, scale: float, seed: int, say: Callable[[str], object]) -> Sheet: ...


OF_LOGS: dict[str, LogReproduction] = {
    "criteo-checks": criteo_checks,
    "criteo-learning": criteo_learning,
}
"""Those that take a log too, by name."""


class KeptReproduction(Protocol):
    """As `LogReproduction`, on judged queries (an MSLR fold, an SVMlight file), or None for generated ones.

    It takes long, and keeps what is done in the folder: interrupted, the same call goes on.
    """

    def __call__(self, *, log: Any, folder: Path, scale: float, seed: int, say: Callable[[str], object]) -> Sheet: ...


OF_JUDGED: dict[str, KeptReproduction] = {
    "cmip": cmip,
    "cmip-published-code": partial(cmip, preset="published-code"),
}
"""Those that take judged queries, by name."""

SCALES = {"full": 1.0, "small": 0.1}
"""Scales by name. `small` is a hundredth for those of OF_JUDGED."""

_SMALL_JUDGED = 0.01


@dataclass(frozen=True)
class Reproduced:
    """What was found, and the folder where it stands."""

    sheet: Sheet
    folder: Path

    @property
    def page(self) -> Path:
        """The page to open."""
        return self.folder / "index.html"

    def __str__(self) -> str:
        claims = [claim for section in self.sheet.sections for claim in section.claims]
        lines = [self.sheet.title, *(f"  [{claim.status}] {claim.text} {claim.evidence}" for claim in claims)]
        return "\n".join([*lines, f"The page: {self.page}"])


def reproduce(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    log: Any = None,
    scale: float | str = 1.0,
    seed: int = 4,
    say: Callable[[str], object] = len,
) -> Reproduced:
    """Reproduce a paper: `index.html`, `result.json`, and each table (CSV) and picture (SVG) in a folder.

    name: one of REPRODUCTIONS, OF_LOGS or OF_JUDGED. folder: by default `reproduce-<name>`. say: called with what is
    being done. log: for those of OF_LOGS, from `read_log` or anything that it takes; for those of OF_JUDGED a folder or
    file of judged queries; by default a simulated one. scale: 1 or "full" for the published size, "small" or a smaller
    number for a quick look.

    Raises:
        UsageError: no such reproduction, one that takes no log, or a scale that is not positive.
    """
    known = sorted({**REPRODUCTIONS, **OF_LOGS, **OF_JUDGED})
    if name not in known:
        raise UsageError(f"there is no reproduction {name!r}", "say one of " + ", ".join(known))
    if log is not None and name in REPRODUCTIONS:
        raise UsageError(f"{name} takes no log", "leave it out, or say one of " + ", ".join([*OF_LOGS, *OF_JUDGED]))
    into, size = Path(folder or f"reproduce-{name}"), _scale(scale, name)
    if name in OF_JUDGED:
        sheet = OF_JUDGED[name](log=log, folder=into, scale=size, seed=seed, say=say)
    elif name in OF_LOGS:
        sheet = OF_LOGS[name](log=log, scale=size, seed=seed, say=say)
    else:
        sheet = REPRODUCTIONS[name](scale=size, seed=seed, say=say)
    made = Reproduced(sheet, into)
    write(made)
    return made


def _scale(given: float | str, name: str) -> float:
    """As a number.

    Raises:
        UsageError: neither a number above 0 nor a name.
    """
    try:
        found = SCALES[given] if given in SCALES else float(given)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise UsageError(f"scale is {given}", "give 1 for the published size, a smaller number, or small or full")
    return _SMALL_JUDGED if given == "small" and name in OF_JUDGED else found


def write(made: Reproduced) -> None:
    """Write the page and all its parts."""
    made.folder.mkdir(parents=True, exist_ok=True)
    write_text(made.page, made.sheet.render())
    content = {**asdict(made.sheet), "versions": document.versions()}
    write_text(made.folder / "result.json", json.dumps(content, indent=2))
    for number, section in enumerate(made.sheet.sections, 1):
        for index, table in enumerate(section.tables, 1):
            write_text(made.folder / f"table-{number}-{index}.csv", table.to_csv())
        for index, chart in enumerate(section.charts, 1):
            write_text(made.folder / f"figure-{number}-{index}.svg", chart_svg(chart))
