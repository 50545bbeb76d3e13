"""The evidence for findings about click models and examination curves; defaults lead to no finding."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..sums.estimate import Interval


@dataclass(frozen=True, kw_only=True)
class HarvestEvidence:
    """A harvested examination curve [k].

    linked: whether a rank can be compared with the first. clicks: on documents also shown at other ranks.
    high: the upper ends of the interval.
    """

    linked: tuple[bool, ...] = ()
    clicks: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FitEvidence:
    """The evidence about the training data of a click model.

    - clicked, skipped: whether there are any clicks, and any documents that were not clicked.
    - beyond: share of the clicks that the model rules out and leaves out.
    - hidden: share of the impressions in cells whose examination the log does not identify.
    - error, rank_variability: of models that read from the top: the standard error of the continuation, on the logit
      scale (quadratic mean, each entry by its trials), and the variance of a document's rank.
    - bend: of models that read from the top: how much larger a continuation is than under one prior for all documents.
    - moving: of `dbn`: share of the variance of ranks that is within documents.
    - unlinked: values of a context whose examination cannot be compared with that of most impressions.
    - split: standard error of the logarithm of a chance that tells clicks of trust from the worth of documents.
    - divided: of a mixture: the largest difference between weights at which learning ended.
    - settled: whether learning ended by its tolerance; rounds: how many it took.
    """

    clicked: bool = True
    skipped: bool = True
    beyond: float = 0.0
    hidden: float = 0.0
    error: float = 0.0
    rank_variability: float = math.inf
    moving: float = 1.0
    split: float = 0.0
    unlinked: tuple[str, ...] = ()
    divided: float = 0.0
    bend: float = 0.0
    settled: bool = True
    rounds: int = 0


@dataclass(frozen=True, kw_only=True)
class PredictionEvidence:
    """The evaluation of a click model on a log.

    sessions: of the log. unseen: share of the shown documents not in the training log. learnt, slots: ranks of the
    training log, and of this one. impossible: sessions to which it gives probability 0. features: whether the model
    reads what unseen documents are like. ahead: its log-likelihood a session less that of the click rates by rank of
    its training log; None if unknown.
    """

    sessions: int = 0
    unseen: float = 0.0
    learnt: int = 0
    slots: int = 0
    impossible: int = 0
    features: bool = False
    ahead: Interval | None = None


@dataclass(frozen=True, kw_only=True)
class NetworkEvidence:
    """A neural click model beside `ubm`, which has learnt from the same sessions.

    ahead: its log-likelihood less that of `ubm`, in nats a held-out session, with its standard error; NaN if unknown.
    """

    model: str = ""
    ahead: float = math.nan
    error: float = math.nan
    sessions: float = 0.0


@dataclass(frozen=True, kw_only=True)
class SelectionEvidence:
    """The criterion for choosing click models. counted: whether the mean rank in the log replaces the expected one."""

    counted: bool = False


@dataclass(frozen=True, kw_only=True)
class JudgementsEvidence:
    """The judgements of documents by a click model.

    documents: their number. wide: those whose interval spans more than two grades. intervals: whether there are any.
    alike: whether all have the same relevance.
    """

    documents: int = 0
    wide: int = 0
    intervals: bool = True
    alike: bool = False
