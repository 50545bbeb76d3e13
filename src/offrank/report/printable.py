"""The bases of all results: each can be printed, and written as a page; some have cautions about each of their rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Self

from ..frames import Tabular
from ..language.files import write_text
from ..language.outputs import refuse_result
from ..sums.estimate import Caution, PlacedCaution
from ..wording import Attributed, Style, worded
from . import terminal
from .document import Answer, Document, Finding, Section, of_models, worst
from .facts import asked, eyebrow
from .plots import Forest


class Printed(Attributed, ABC):
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
