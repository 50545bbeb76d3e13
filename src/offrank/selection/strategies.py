"""Strategies for choosing a click model: `top-4 cmip, top-4 ppl: ndcg` (paper cmip-debiasedness, section 6.3)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ..errors import UsageError

Metric = Literal["ppl", "ndcg", "cmip"]
METRICS: dict[str, Metric] = {"ppl": "ppl", "perplexity": "ppl", "ndcg": "ndcg", "cmip": "cmip"}
WORDS: dict[Metric, str] = {"ppl": "perplexity", "ndcg": "nDCG", "cmip": "CMIP"}
SIGNS: dict[Metric, float] = {"ppl": 1.0, "ndcg": -1.0, "cmip": 1.0}
"""The sign of a metric that makes lower values better."""

Preset = Literal["paper", "published-code"]
PRESETS: tuple[Preset, ...] = ("paper", "published-code")
"""What remains if no candidate is in every top: all candidates, or the top of the first filter."""

_TOP = re.compile(r"top-(\d+)\s+(\w+)")


@dataclass(frozen=True)
class Keep:
    """Keeps the `size` candidates that are best by `metric`, and those tied with the last of them."""

    size: int
    metric: Metric

    def __str__(self) -> str:
        return f"top-{self.size} {self.metric}"


@dataclass(frozen=True)
class Strategy:
    """The best by `metric` of the candidates that are in every one of `tops`."""

    tops: tuple[Keep, ...]
    metric: Metric

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.tops))}: {self.metric}" if self.tops else self.metric

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics that a candidate must have."""
        return tuple(dict.fromkeys([*(top.metric for top in self.tops), self.metric]))


STRATEGIES = (
    "ppl",
    "ndcg",
    "top-4 ndcg: ppl",
    "top-4 ppl: ndcg",
    "cmip",
    "top-4 cmip: ppl",
    "top-4 cmip: ndcg",
    "top-4 cmip, top-4 ndcg: ppl",
    "top-4 cmip, top-4 ppl: ndcg",
)
"""The nine strategies of Table 2, in its order."""

BEST = "top-4 cmip, top-4 ppl: ndcg"
"""The strategy of least average regret in Table 2."""


def strategy(spelling: str | Strategy) -> Strategy:
    """Parse a strategy: `metric`, or `top-K metric[, top-K metric ...]: metric`, with ppl, ndcg or cmip.

    Raises:
        UsageError: it cannot be parsed.
    """
    if isinstance(spelling, Strategy):
        return spelling
    *tops, last = spelling.lower().replace("↓", "").replace("↑", "").split(":")
    if len(tops) > 1:
        raise _unreadable(spelling)
    read = [_TOP.fullmatch(part.strip()) for part in tops[0].split(",")] if tops else []
    found = tuple(Keep(int(match[1]), _metric(match[2], spelling)) for match in read if match)
    if len(found) < len(read) or any(top.size < 1 for top in found):
        raise _unreadable(spelling)
    return Strategy(found, _metric(last.strip(), spelling))


def _metric(name: str, spelling: str) -> Metric:
    if name not in METRICS:
        raise _unreadable(spelling)
    return METRICS[name]


def _unreadable(spelling: str) -> UsageError:
    return UsageError(
        f"cannot read strategy {spelling!r}",
        "name a metric (ppl, ndcg, cmip), or say what to keep before a colon, as in 'top-4 cmip, top-4 ppl: ndcg'",
    )
