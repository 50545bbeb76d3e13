"""`inspect`: what is read as what, who may have drawn the log, and what to ask next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any

import numpy as np

from ..checks.agreement import Agreement, AgreementFold
from ..checks.drawn import Drawn, drawn
from ..checks.impressions import ImpressionsFold
from ..checks.log import OF_MEAN_WEIGHT, LogFold, about_log
from ..checks.overview import Overview, OverviewFold
from ..checks.sampled import SampledRows, SampledRowsFold
from ..checks.ties import TiesFold
from ..errors import AbilityError, ColumnError, EmptyLogError, OffrankError
from ..findings.few_rows_per_context import FEW_ROWS
from ..folds.base import Together
from ..folds.estimate import Caution
from ..log.schema import GROUPING, WRITTEN
from ..log.source import Needs, Source
from ..policies.base import Policy
from ..policies.counted import Counted
from ..policies.epsilon import EpsilonUniform
from ..policies.propensities import AnyPolicy, ShownAbility, shown_needs
from ..policies.ranking import Ranking
from ..policies.sorting import Sorting
from ..policies.top import Top
from ..policies.uniform import Uniform
from ..policies.written import Logged
from ..readers.described import LogColumn, described
from ..readers.files import is_paths
from ..readers.log import FORMATS, read_log
from ..readers.long import LongLog
from ..readers.wide import WideLog
from ..running.executors import Executor, Progress, run
from .inspected import Inspection, Next

GRADES = ("grade", "grades", "label", "labels", "relevance")
"""Names of numbers beside the candidates that are hardly a ranker's scores."""
APART = 0.01
"""Share of the rows whose written propensity may differ from the law's by more than a per cent."""
_TEXT_FORMATS = ("criteo", "yandex", "open_bandit", "criteo_paper")


def inspect(
    log: Any,
    columns: Mapping[str, str] | None = None,
    *,
    format: str | None = None,  # noqa: A002  as in `read_log`
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Inspection:
    """Look at a log before anything is asked of it, in one pass.

    What its columns are read as; rows, slots, candidates, ties, duplicates, rows that break a rule; which
    probabilities were written down; which logging policies fit; how much rows depend on each other; and the command
    to run next. Logging policies are fitted to a random sample of the slates, by maximum likelihood: uniform, and for
    each score Plackett-Luce with its temperature, sorted, and sorted with a share of uniform slates. One fits where no
    other makes the slates a thousand times likelier and where its calibration finds nothing.

    - log, columns, format: as `read_log` takes them; public data sets are known by what they hold.

    Raises:
        UsageError: not something that can be read.
        LogError: it cannot be read as a log.
    """
    source, kind = _opened(log, columns, format)
    seen = _Seen.of(source, executor, progress)
    law = next((one.policy for one in seen.drawn if one.fits and not isinstance(one.policy, Sorting)), None)
    agreement = seen.agreement(law, executor, progress)
    logging = seen.logging(law, agreement)
    return Inspection(
        source=source.describe(),
        path=fspath(log) if isinstance(log, str | PathLike) else None,
        format=kind,
        layout="long" if isinstance(source, LongLog) else "wide",
        renamed=dict(getattr(source, "renamed", {})),
        columns=seen.columns,
        rows=seen.rows,
        skipped=seen.skipped,
        overview=seen.overview,
        ties=seen.ties,
        written=seen.written,
        about=seen.about,
        copies=seen.copies,
        drawn=seen.drawn,
        agreement=agreement,
        logging=None if logging is None else repr(logging),
        next=None if logging is None else _next(seen, logging, repr(law)),
    )


def _opened(log: Any, columns: Mapping[str, str] | None, kind: str | None) -> tuple[Source, str | None]:
    """The log, rows that break a rule left out and counted, and its format where that must be said."""
    if hasattr(log, "batches"):
        return (replace(log, invalid="skip") if isinstance(log, WideLog | LongLog) else log), kind
    try:
        return read_log(log, columns, format=kind, invalid="skip"), kind
    except OffrankError:
        tried = () if kind or columns or not is_paths(log) else _TEXT_FORMATS
        known = next((name for name in tried if _reads(name, log)), None)
        if known is None:
            raise
        return read_log(log, format=known, invalid="skip"), known


def _reads(name: str, log: Any) -> bool:
    """Whether the reader of a public data set takes the beginning of a log."""
    try:
        next(FORMATS[name](log, invalid="skip").select(Needs()).batches(0))
    except (OffrankError, StopIteration):
        return False
    return True


@dataclass(frozen=True)
class _Seen:
    """What one pass over a log finds."""

    source: Source
    columns: tuple[LogColumn, ...]
    rows: int
    skipped: Mapping[str, int]
    overview: Overview
    ties: Mapping[str, float]
    written: tuple[str, ...]
    about: tuple[Caution, ...]
    copies: float
    sample: SampledRows
    drawn: list[Drawn]

    @classmethod
    def of(cls, source: Source, executor: Executor | None, progress: Progress | None) -> _Seen:
        """Read the log once.

        Raises:
            EmptyLogError: no row keeps the rules.
        """
        columns = described(source, progress)
        scores, rankings = _used(columns, "score"), _used(columns, "ranking")
        written = tuple(role for role in WRITTEN if _used(columns, role))
        groups = tuple(role for role in GROUPING if _used(columns, role))
        rewards = any(_used(columns, role) for role in ("reward", "clicks", "click"))
        needed = Needs(
            frozenset(["candidates", "reward"] if rewards else ["candidates"]),
            scores=frozenset(scores),
            rankings=frozenset(rankings),
            clusters=frozenset(groups),
        )
        log, tops = LogFold.of(source, Logged() if written else None), tuple(map(Top, scores))
        folds: dict[str, Any] = {
            "log": log,
            "impressions": ImpressionsFold(),
            "overview": OverviewFold(groups, rewards),
            "ties": TiesFold(tops),
            "sample": SampledRowsFold(needed),
        }
        found = run(source.select(needed | log.needs()), Together(folds), executor, progress)
        impressions, about = found["impressions"], found["log"]
        if not impressions.n:
            broken = ", ".join(f"{count:,} {rule}" for rule, count in impressions.skipped.items())
            said = f"; all of them break a rule: {broken}" if broken else ""
            raise EmptyLogError(f"{source.describe()} has no impressions that can be read{said}", "mend the log")
        ties = dict(zip(scores, found["ties"].tolist(), strict=True))
        return cls(
            source, columns, impressions.n, impressions.skipped, found["overview"], ties, written, about_log(about),
            about.copies, found["sample"], drawn(found["sample"], about.copies),
        )  # fmt: skip

    def agreement(self, law: Policy | None, executor: Executor | None, progress: Progress | None) -> Agreement | None:
        """How the propensities that were written down agree with a law that fits, read in a second pass."""
        if law is None or not {"propensity", "slot_propensity"} & set(self.written):
            return None
        fold = AgreementFold(law)
        found: Agreement = run(self.source.select(fold.needs()), fold, executor, progress)
        return found

    def logging(self, law: Policy | None, agreement: Agreement | None) -> AnyPolicy | None:
        """The policy to take for the one that has drawn the log.

        What was written down, unless the log speaks against it: by the law that it agrees with, which knows more. Else
        a law that fits and is random; else what can be counted by query; else none.
        """
        doubted = any(caution.code in OF_MEAN_WEIGHT for caution in self.about)
        if law is not None and (not self.written or doubted or (agreement and agreement.share_apart <= APART)):
            return law
        if self.written:
            return Logged()
        queries = self.overview.distinct.get("query", math.inf)
        return Counted(by="query") if self.rows / queries >= FEW_ROWS else None

    def gives(self, policy: AnyPolicy, ability: ShownAbility) -> bool:
        """Whether the columns and a policy tell this of the shown slates."""
        if isinstance(policy, Logged) and ability == "rank_law" and "rank_propensity" not in self.written:
            return max(self.overview.slots, default=0) == 1
        try:
            self.source.select(shown_needs(policy, ability))
        except (AbilityError, ColumnError):
            return False
        return True


def _used(columns: Sequence[LogColumn], use: str) -> list[str]:
    return [column.name for column in columns if column.use == use]


def _next(seen: _Seen, logging: AnyPolicy, law: str) -> Next | None:
    """A question that the log can answer: the first ranker that it overlaps with. law: that may have drawn it."""
    if seen.overview.earned is None:
        return None
    slots = max(seen.overview.slots, default=0)
    for target in _targets(seen, repr(logging) + law):
        found = []
        if seen.gives(logging, "log_prob") and _overlaps(target, seen.sample):
            found.append("snips")
        if (slots > 1 or not found) and seen.gives(logging, "rank_law"):
            found.append("snipm")
        if found:
            return Next(repr(target), tuple(found))
    return None


def _targets(seen: _Seen, logging: str) -> Iterator[Policy]:
    scores = sorted(_used(seen.columns, "score"), key=lambda name: (name in logging, name.lower() in GRADES))
    rankers: list[Top | Ranking] = [Top(name) for name in scores if name not in logging and name.lower() not in GRADES]
    rankers += [Ranking(name) for name in _used(seen.columns, "ranking")]
    rankers += [Top(name) for name in scores if Top(name) not in rankers]
    yield from rankers
    yield from (EpsilonUniform(one, 0.1) for one in rankers[:1])
    yield Uniform()


def _overlaps(target: Policy, rows: SampledRows) -> bool:
    """Whether the target might have shown what was shown, in one of the rows at least."""
    return bool(np.isfinite(target.log_prob(rows.contexts, rows.slates)).any())
