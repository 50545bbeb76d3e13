"""What every result says of its making: facts, versions, the time, the call that repeats it, and a page of these."""

from __future__ import annotations

import datetime as dt
import platform
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import metadata
from inspect import signature
from os import PathLike, fspath
from typing import Any, Self

from ..frames import Tabular
from ..language.argument import plain_argument
from ..log.source import Source
from ..readers.log import period_of
from ..report.document import Answer, Document, Finding, Section, of_models, worst
from ..report.facts import asked, eyebrow
from ..report.plots import Forest
from ..report.printable import Printed
from ..sums.estimate import Caution, PlacedCaution


def versions() -> dict[str, str]:
    """Return the versions that a reader needs to repeat the numbers."""
    names = ("offrank", "numpy", "numba", "pyarrow")
    return {"python": platform.python_version()} | {name: _version(name) for name in names}


def now() -> str:
    """Return the time of the run in UTC."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def call(verb: Callable[..., Any], first: str, arguments: Mapping[str, Any]) -> str:
    """Return the Python call that repeats a job; keywords that are equal to their defaults are left out."""
    keywords = (one for one in signature(verb).parameters.values() if one.kind is one.KEYWORD_ONLY)
    defaults = {one.name: one.default for one in keywords}
    values = plain_argument(arguments).items()
    words = [f"{name}={value!r}" for name, value in values if name not in defaults or value != defaults[name]]
    return f"offrank.{verb.__name__}({', '.join([first, *words])})"


def written(log: Any) -> str:
    """Return what stands in a call for a log: its path; `log` for an object."""
    return repr(fspath(log)) if isinstance(log, str | PathLike) else "log"


@cache
def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def facts(kind: str, title: str, log: Source | str, **more: Any) -> dict[str, Any]:
    """Return what `to_dict` holds besides the numbers."""
    made = {"versions": versions(), "created": now()}
    where = log if isinstance(log, str) else log.describe()
    days = None if isinstance(log, str) else period_of(log)
    return {
        "schema": 1,
        "kind": kind,
        "title": title,
        "log": where,
        **({"period": days} if days else {}),
        **more,
        **made,
    }


@dataclass(frozen=True, kw_only=True)
class Delivered(Printed, Tabular):
    """A result that prints as tables; facts: what else `to_dict` holds."""

    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    @abstractmethod
    def cautions(self) -> Mapping[str, Sequence[Caution]]:
        """Return the warnings about each model."""

    @property
    def trustworthy(self) -> bool:
        """Whether there is no serious finding."""
        return self.severity != "serious"

    @property
    def findings(self) -> tuple[PlacedCaution, ...]:
        """Return the findings, each with the model that it is about."""
        every = ((name, caution) for name, some in self.cautions.items() for caution in some)
        return tuple(PlacedCaution(caution, model=name or None) for name, caution in every)

    def findings_by_code(self) -> tuple[Finding, ...]:
        """Return the warnings by code, with the models that they are about if there are several.

        Returns:
            One finding per code.

        Examples:
            >>> rows = [{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}, {"query": "q", "slate": ["b", "a"],
            ...          "clicks": [0, 1]}]
            >>> found = offrank.evaluate_clicks(rows, {"all": offrank.clicks.GCTR().fit(rows)})
            >>> [one.code for one in found.findings_by_code()]
            []
        """
        return of_models(self.cautions.items())

    @property
    def severity(self) -> str:
        """Return the worst severity of the findings."""
        return worst(one.severity for some in self.cautions.values() for one in some)

    def with_facts(self, **facts: Any) -> Self:
        """Return the same result with facts replaced.

        Parameters:
            facts: such as `title` and `command`.

        Returns:
            The result.

        Examples:
            >>> rows = [{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}, {"query": "q", "slate": ["b", "a"],
            ...          "clicks": [0, 1]}]
            >>> found = offrank.evaluate_clicks(rows, {"all": offrank.clicks.GCTR().fit(rows)})
            >>> found.with_facts(title="All clicks").facts["title"]
            'All clicks'
        """
        return replace(self, facts={**self.facts, **facts})

    def _page(self, read: str, sections: Iterable[Section], answer: Answer, *forests: Forest) -> Document:
        return Document(
            str(self.facts["title"]), read, tuple(sections), (answer,), forests, eyebrow(self.facts), asked(self.facts)
        )
