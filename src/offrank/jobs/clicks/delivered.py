"""What every job about click models answers: something to print, to write and to believe or not."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Self

from ...files import write_text
from ...folds.estimate import Caution, PlacedCaution
from ...frames import Tabular
from ...report import terminal
from ...report.sheet import Finding, Sheet, of_models, worst


class Delivered(Tabular):
    """A result, which is a frozen dataclass. Printed, it is tables; facts: what else `to_dict` holds."""

    facts: Mapping[str, Any]

    @property
    @abstractmethod
    def cautions(self) -> Mapping[str, Sequence[Caution]]:
        """What to know of each model."""

    @abstractmethod
    def sheet(self) -> Sheet:
        """The page."""

    @property
    def trustworthy(self) -> bool:
        """Nothing serious was found."""
        return all(one.severity != "serious" for some in self.cautions.values() for one in some)

    @property
    def findings(self) -> tuple[PlacedCaution, ...]:
        """What to know, and of which model."""
        every = ((name, caution) for name, some in self.cautions.items() for caution in some)
        return tuple(PlacedCaution(caution, model=name or None) for name, caution in every)

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

    def save_html(self, path: str | PathLike[str]) -> None:
        """Write one self-contained page."""
        write_text(path, self.sheet().render())
