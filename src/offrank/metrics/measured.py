"""The results of `measure`: a value with its interval per model and metric, and ways to show and save them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import NoOverlapError, UsageError
from ..frames import Given, plain
from ..language.formatting import Span, finite
from ..sums.estimate import Caution, Known, PlacedCaution, cautions
from ..wording import Attributed

Key = tuple[str, str]

_NUMBERS = ("value", "low", "high", "standard_error", "clicks", "rejected", "ess")


@dataclass(frozen=True)
class Measured(Attributed):
    """A ranking metric of one model, with its interval and diagnostics.

    - value, low, high, standard_error: of the metric.
    - impressions: number of clicked impressions read. clicks: their clicks, each divided by the inclusion probability.
    - rejected: share of the clicks' mass that cannot be compared, 1 - (sum of comparison weights) / clicks; how
      deterministic the logging was. It is the same for every model.
    - ess: effective sample size in impressions, (sum of weights)^2 / sum of squared weights.
    - difference: to the first model on the same clicks, paired.
    """

    value: float
    low: float
    high: float
    standard_error: float
    impressions: int
    clicks: float
    rejected: float
    ess: float
    difference: Known = None
    warnings: tuple[Caution, ...] = field(default=())

    @property
    def trustworthy(self) -> bool:
        """Whether it is a number without a serious warning."""
        return math.isfinite(self.value) and all(caution.severity != "serious" for caution in self.warnings)


Found = Mapping[Key, Measured | NoOverlapError]


@dataclass(frozen=True)
class Measurements(Given[Measured]):
    """Metrics by (model, metric), by model alone if there is one metric, or by metric if there is one model.

    - found: of the whole log; groups: the same for each value of the `by` column; facts: further entries of `to_dict`.
    """

    found: Found
    groups: Mapping[str, Found] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    headings = ("model", "metric", "group", "value", "difference", "rejected", "ess", "warnings", "error")

    def known(self, key: Any) -> Key:
        matching = [known for known in self.found if key == known or (isinstance(key, str) and key in known)]
        if len(matching) != 1:
            known = ", ".join(f"{model!r}, {name!r}" for model, name in self.found)
            raise KeyError(f"{key!r} is {'several of' if matching else 'none of'} the metrics: {known}")
        return matching[0]

    def __str__(self) -> str:
        given = (f"{name} of {model}: {Span.of(one).text()}" for (model, name), one in self.given.items())
        return "\n".join([*given, *(f"error: {error}" for error in dict.fromkeys(map(str, self.refused.values())))])

    __repr__ = __str__

    @property
    def models(self) -> list[str]:
        """The models, in the order in which they were named."""
        return list(dict.fromkeys(model for model, _ in self.found))

    @property
    def trustworthy(self) -> bool:
        """Whether all metrics are available without a serious finding."""
        return not self.refused and all(measured.trustworthy for measured in self.given.values())

    def with_facts(self, **facts: Any) -> Measurements:
        """The same measurements with facts replaced.

        Parameters:
            facts: such as `title` and `command`.

        Returns:
            The measurements.

        Examples:
            >>> found = offrank.measure("offrank-demo/log.parquet", "new_score", "plackett_luce(old_score)")
            >>> found.with_facts(title="The new scores").facts["title"]
            'The new scores'
        """
        return replace(self, facts={**self.facts, **facts})

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain lists, dicts and numbers (None for what is not known)."""
        return {**self.facts, "metrics": self.records()}

    def records(self) -> list[dict[str, Any]]:
        """A row per metric of a model, for the whole log and each group."""
        return [_row(key, group, one) for group, key, one in self._every()]

    @property
    def findings(self) -> tuple[PlacedCaution, ...]:
        """The findings about the numbers, and why some are missing."""
        return tuple(
            PlacedCaution(caution, model=model, metric=metric, group=group)
            for group, (model, metric), one in self._every()
            for caution in cautions(one)
        )

    def _every(self) -> Iterator[tuple[str | None, Key, Measured | NoOverlapError]]:
        for group, found in ((None, self.found), *self.groups.items()):
            yield from ((group, key, one) for key, one in found.items())


def refuse_no_measurement(found: Measurements) -> Measurements:
    """The measurements; an error if there are none.

    Raises:
        UsageError: no models. NoOverlapError: nothing could be compared.
    """
    if not found.found:
        raise UsageError("there is no model", "name at least one score column")
    if not found.given:
        raise next(iter(found.refused.values()))
    return found


def _row(key: Key, group: str | None, found: Measured | NoOverlapError) -> dict[str, Any]:
    return {
        **dict(zip(("model", "metric", "group"), (*key, group), strict=True)),
        **{name: finite(getattr(found, name, None)) for name in _NUMBERS},
        "impressions": getattr(found, "impressions", None),
        "difference": plain(getattr(found, "difference", None)),
        "warnings": plain(getattr(found, "warnings", ())),
        "error": plain(found) if isinstance(found, NoOverlapError) else None,
    }
