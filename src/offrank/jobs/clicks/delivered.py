"""What every job about click models answers: something to print, to write and to believe or not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Self

from ...files import write_text
from ...folds.estimate import Caution
from ...report import terminal
from ...report.sheet import Finding, Sheet, of_models, worst
from .. import document


class Delivered(ABC):
    """A result, which is a frozen dataclass. Printed, it is tables; facts: what else `to_dict` holds."""

    facts: Mapping[str, Any]

    @property
    @abstractmethod
    def cautions(self) -> Mapping[str, Sequence[Caution]]:
        """What to know of each model."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain lists, dicts and numbers (None for what is not finite)."""

    @abstractmethod
    def sheet(self) -> Sheet:
        """The page."""

    @property
    def trustworthy(self) -> bool:
        """Nothing serious was found."""
        return all(one.severity != "serious" for some in self.cautions.values() for one in some)

    def told(self) -> tuple[Finding, ...]:
        """Cautions by code, with the models that they are about where there are several."""
        return of_models(self.cautions.items())

    @property
    def severity(self) -> str:
        """The worst of what is to be known."""
        return worst(one.severity for some in self.cautions.values() for one in some)

    def with_facts(self, **facts: Any) -> Self:
        """The same with facts replaced (title, command)."""
        return replace(self, facts={**self.facts, **facts})  # type: ignore[type-var]

    def show(self) -> None:
        """Print it, in colour on a terminal."""
        terminal.show(self.sheet())

    def __str__(self) -> str:
        return terminal.render_text(self.sheet())

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """The same as JSON text; written to `path` if given."""
        return document.to_json(self.to_dict(), path)

    def save_html(self, path: str | PathLike[str]) -> None:
        """Write one self-contained page."""
        write_text(path, self.sheet().render())
