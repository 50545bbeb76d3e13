"""`inspect`: how columns are read, which policies may have drawn the log, and which command to run next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

import numpy as np

from ..checks.drawn import drawn
from ..checks.log import OF_MEAN_WEIGHT, LogFold, about_log
from ..checks.overview import OverviewFold
from ..checks.propensities import AgreementFold
from ..checks.rows import ImpressionsFold, TiesFold
from ..errors import AbilityError, ColumnError, EmptyLogError, OffrankError
from ..findings.few_rows_per_context import FEW_ROWS
from ..folds.base import Tee
from ..folds.sampled import SampledRows, SampledRowsFold
from ..log.schema import GROUPING, WRITTEN
from ..log.source import Needs, Source, refuse_once
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
from ..readers.log import is_open, read_log
from ..readers.long import LongLog
from ..readers.wide import Gaps, WideLog
from ..running.executors import Executor, Progress, run
from .inspected import Inspection, Next

GRADES = ("grade", "grades", "label", "labels", "relevance")
"""Names of numeric candidate columns that are unlikely to be a ranker's scores."""
APART = 0.01
"""Share of the rows whose logged propensity may differ from the law's by more than 1 %."""
_TEXT_FORMATS = ("criteo", "yandex", "open_bandit", "criteo_paper", "clax", "tiangong", "sogou")


def inspect(
    log: Any,
    columns: Mapping[str, str] | None = None,
    *,
    format: str | None = None,  # noqa: A002  as in `read_log`
    gaps: Gaps = "raise",
    top_k: int | None = None,
    skip_broken_files: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Inspection:
    """Describe a log before any evaluation, in one pass.

    The result has the role of each column; rows, slots, candidates, ties, duplicates, rows that break a rule; which
    probabilities were logged; which logging policies fit; how strongly rows depend on each other; and the command
    to run next. Logging policies are fitted to a random sample of the slates, by maximum likelihood: uniform, and for
    each score Plackett-Luce with its temperature, sorted, and sorted with a share of uniform slates. One fits if no
    other makes the slates a thousand times likelier and if its calibration finds nothing.

    - log, columns, format, gaps, top_k, skip_broken_files: as `read_log` takes them; public data sets are
      recognised by their content.

    Raises:
        UsageError: the argument cannot be read.
        LogError: it cannot be read as a log.

    Examples:
        >>> inspection = offrank.inspect("offrank-demo/log.parquet")
        >>> [column.name for column in inspection.columns if column.use == "score"]
        ['old_score', 'new_score', 'naive_score']
    """
    source, kind = _opened(log, columns, format, {"gaps": gaps, "top_k": top_k, "skip_broken_files": skip_broken_files})
    seen, sample = _read(source, executor, progress)
    path = fspath(log) if isinstance(log, str | PathLike) else None
    seen = replace(seen, path=path, format=kind, gaps=gaps, top_k=top_k)
    law = next((one.policy for one in seen.drawn if one.fits and not isinstance(one.policy, Sorting)), None)
    if law is not None and {"propensity", "slot_propensity"} & set(seen.written):
        fold = AgreementFold(law)
        seen = replace(seen, agreement=run(source.select(fold.needs()), fold, executor, progress))
    logging = _logging(seen, law)
    if logging is None:
        return seen
    return replace(seen, logging=repr(logging), next=_next(seen, logging, law, source, sample))


def _opened(
    log: Any, columns: Mapping[str, str] | None, kind: str | None, how: dict[str, Any]
) -> tuple[Source, str | None]:
    """Open the log without invalid rows, which are counted, and name its format where that is required."""
    if is_open(log):
        return (replace(log, invalid="skip") if isinstance(log, WideLog | LongLog) else log), kind
    try:
        return read_log(log, columns, format=kind, invalid="skip", **how), kind
    except OffrankError:
        tried = _TEXT_FORMATS if isinstance(log, str | PathLike) and not (kind or columns) else ()
        known = next((name for name in tried if _reads(name, log)), None)
        if known is None:
            raise
        return read_log(log, format=known, invalid="skip", **how | {"gaps": "raise"}), known


def _reads(name: str, log: Any) -> bool:
    """Whether the reader of a public data set accepts the beginning of a log."""
    try:
        next(read_log(log, format=name, invalid="skip").select(Needs()).batches(0))
    except (OffrankError, StopIteration):
        return False
    return True


def _read(source: Source, executor: Executor | None, progress: Progress | None) -> tuple[Inspection, SampledRows]:
    """Return the statistics from one pass over a log, and a sample of its rows.

    Raises:
        EmptyLogError: no row is valid.
    """
    refuse_once(source, "its columns are looked at first")
    columns = described(source, progress)
    used = {one.use for one in columns}
    scores, rankings = _used(columns, "score"), _used(columns, "ranking")
    written, groups = (tuple(role for role in roles if role in used) for roles in (WRITTEN, GROUPING))
    rewards = bool(used & {"reward", "clicks", "click"})
    needed = Needs(
        frozenset(["candidates", "reward"] if rewards else ["candidates"]),
        scores=frozenset(scores),
        rankings=frozenset(rankings),
        clusters=frozenset(groups),
    )
    log = LogFold.of(source, Logged() if written else None)
    folds: dict[str, Any] = {
        "log": log,
        "impressions": ImpressionsFold(),
        "overview": OverviewFold(groups, rewards),
        "ties": TiesFold(tuple(map(Top, scores))),
        "sample": SampledRowsFold(needed),
    }
    found = run(source.select(needed | log.needs()), Tee(folds), executor, progress)
    impressions, copies = found["impressions"], found["log"].copies
    if not impressions.n:
        broken = ", ".join(f"{count:,} {rule}" for rule, count in impressions.skipped.items())
        said = f"; all of them break a rule: {broken}" if broken else ""
        raise EmptyLogError(f"{source.describe()} has no impressions that can be read{said}", "mend the log")
    inspection = Inspection(
        source.describe(),
        "long" if isinstance(source, LongLog) else "wide",
        dict(getattr(source, "renamed", {})),
        columns,
        impressions.n,
        impressions.skipped,
        found["overview"],
        dict(zip(scores, found["ties"].tolist(), strict=True)),
        written,
        about_log(found["log"]),
        copies,
        drawn(found["sample"], copies),
    )
    return inspection, found["sample"]


def _logging(seen: Inspection, law: Policy | None) -> AnyPolicy | None:
    """Return the policy to name as the logging policy. law: the best fitting one, if it is random.

    This is the logged propensities unless the log contradicts them: as the law that agrees with them, which gives
    more. Otherwise a law that fits; otherwise one counted by query; otherwise none.
    """
    doubted = any(caution.code in OF_MEAN_WEIGHT for caution in seen.about)
    agreed = seen.agreement is not None and seen.agreement.share_apart <= APART
    if law is not None and (not seen.written or doubted or agreed):
        return law
    if seen.written:
        return Logged()
    queries = seen.overview.distinct.get("query", math.inf)
    return Counted(by="query") if seen.rows / queries >= FEW_ROWS else None


def _next(seen: Inspection, logging: AnyPolicy, law: Policy | None, source: Source, sample: SampledRows) -> Next | None:
    """Return a question that the log can answer: about the first ranker with overlap."""
    if seen.overview.earned is None:
        return None
    slots = max(seen.overview.slots)
    ranks = _gives(source, logging, "rank_law")
    if isinstance(logging, Logged) and "rank_propensity" not in seen.written:
        ranks = slots == 1  # the probability of a longer slate does not determine those of its ranks
    for target in _targets(seen, frozenset() if law is None else law.needs("log_prob").scores):
        found = ["snips"] if _gives(source, logging, "log_prob") and _overlaps(target, sample) else []
        found += ["snipm"] if ranks and (slots > 1 or not found) else []
        if found:
            return Next(repr(target), tuple(found))
    return None


def _gives(source: Source, policy: AnyPolicy, ability: ShownAbility) -> bool:
    """Whether the columns and a policy give this ability for the shown slates."""
    try:
        source.select(shown_needs(policy, ability))
    except (AbilityError, ColumnError):
        return False
    return True


def _used(columns: Sequence[LogColumn], use: str) -> list[str]:
    return [column.name for column in columns if column.use == use]


def _targets(seen: Inspection, drawn_by: frozenset[str]) -> Iterator[Policy]:
    """Return the rankers of the log, the likeliest first, then a policy that overlaps with any log.

    Rankers that drew the log, grades, and scores that always tie come after the others.
    """
    scores = [Top(name) for one in seen.drawn for name in one.policy.needs("log_prob").scores]
    last = {*drawn_by, *(name for name, share in seen.ties.items() if name.lower() in GRADES or share == 1)}
    new = [one for one in scores if one.scores not in last]
    rankings = [Ranking(name) for name in sorted(_used(seen.columns, "ranking"))]
    rankers: list[Top | Ranking] = [*new, *rankings, *(one for one in scores if one not in new)]
    yield from rankers
    yield from (EpsilonUniform(one, 0.1) for one in rankers[:1])
    yield Uniform()


def _overlaps(target: Policy, rows: SampledRows) -> bool:
    """Whether the target could have shown the logged slate in at least one of the rows."""
    return bool(np.isfinite(target.log_prob(rows.contexts, rows.slates)).any())
