"""The pictures of a result as SVG, each complete in itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...errors import UsageError
from ...report.plots import Forest
from ...report.svg import standalone
from . import evaluation, facts
from .worth import priced


@dataclass(frozen=True)
class Plots:
    """Pictures of a result, as the text of an SVG of this width; write it to a file, or show it in a notebook.

    Each raises UsageError where there is no such target, or nothing to draw. target: by default the first.
    """

    document: facts.Document = field(repr=False)
    width: int = 800

    def forest(self, target: str | None = None) -> str:
        """The answer for every target beside what the log earned; of one target, all its estimates."""
        document = priced(self.document)
        one = None if target is None else evaluation.estimates_forest(document, self._known(target))
        return self._drawn(one or evaluation.forest(document))

    def groups(self, target: str | None = None) -> str:
        """The difference to what the log earned in each of the largest groups."""
        return self._drawn(evaluation.groups_forest(priced(self.document), self._known(target)))

    def weights(self, target: str | None = None) -> str:
        """The mean weight of each estimator, which should be 1."""
        return self._drawn(evaluation.weights_forest(self.document, self._known(target)))

    def ranks(self) -> str:
        """Clicks per impression at each rank."""
        return self._drawn(evaluation.ranks_forest(self.document))

    def _known(self, target: str | None) -> str:
        names = facts.targets(self.document)
        found = names[0] if target is None and names else target
        if found not in names:
            raise UsageError(f"there is no target {target!r}", "name one of " + ", ".join(names))
        return str(found)

    def _drawn(self, plot: Forest) -> str:
        if not plot.rows:
            raise UsageError("there is nothing to draw", "ask for what was estimated")
        return standalone(plot, self.width)
