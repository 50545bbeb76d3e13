"""`inspect`: how columns are read, which policies may have drawn the log, and which command to run next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import Any, TypedDict

import numpy as np

from ..checks.drawn import Drawn, drawn
from ..checks.log import LogFold, about_log
from ..checks.logged_by import ArmsFold, LoggedBy, logged_by
from ..checks.outcomes import OutcomesFold
from ..checks.overview import OverviewFold
from ..checks.propensities import AgreementFold
from ..checks.randomness import WholeContextsFold, randomness
from ..checks.repeats import By
from ..checks.rows import Impressions, ImpressionsFold, TiesFold
from ..errors import AbilityError, ColumnError, EmptyLogError
from ..evaluation.item_names import item_names
from ..findings.evidence import LogEvidence
from ..folds.sampled import SampledRows, SampledRowsFold
from ..log.schema import GROUPING, WRITTEN
from ..log.source import Needs, Source, refuse_once
from ..policies.base import Policy
from ..policies.epsilon import EpsilonUniform
from ..policies.named import policy
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
from ..running.quantities import Quantities
from .evaluate import evaluate
from .inspection import Inspection, Next

GRADES = ("grade", "grades", "label", "labels", "relevance")
"""Names of numeric candidate columns that are unlikely to be a ranker's scores."""
APART = 0.01
"""Share of the rows whose logged propensity may differ from the law's by more than 1 %."""
_MOST_ARMS = 12
"""Columns that are looked at, for which may say which ranker was used."""
_ARM = re.compile(
    "arm|variant|bucket|group|experiment|treatment|ranker|policy|model|algo|version|system", re.IGNORECASE
)
_REAL = re.compile("float|double|decimal|half")
_TRIED = 4
"""Targets that are tried before one is suggested."""
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
    """Describe a log before any evaluation, in a few passes.

    The result has the role of each column; rows, slots, candidates, ties, duplicates, rows that break a rule; which
    probabilities were logged; which logging policies fit; how strongly rows depend on each other; and the command
    to run next. First, rows of one context are compared: where they never differ, nothing was drawn. Then logging
    policies are fitted to a random sample of the slates, by maximum likelihood: uniform, and for
    each score Plackett-Luce with its temperature, sorted, and sorted with a share of uniform slates. One fits if no
    other makes the slates a thousand times likelier, if its calibration finds nothing, and if rows of one context
    repeat what they show as often as it says. What that proves is `result.logging`: its policy and its status. Columns
    that follow what was shown, such as bookings, are not tried. The command is tried before it is suggested.

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
    how: _Run = {"executor": executor, "progress": progress}
    seen, log_checks, sample = _read(source, how)
    path = fspath(log) if isinstance(log, str | PathLike) else None
    seen = replace(seen, path=path, format=kind, gaps=gaps, top_k=top_k)
    law = next((one.policy for one in seen.drawn if one.fits and not isinstance(one.policy, Sorting)), None)
    if law is not None and {"propensity", "slot_propensity"} & set(seen.written):
        fold = AgreementFold(law)
        seen = replace(seen, agreement=run(source.select(fold.needs()), fold, **how))
    seen = replace(seen, logging=_logging(seen, log_checks, source, how))
    return replace(seen, **_next(seen, law, source, sample, how)) if seen.logging.seen else seen


class _Run(TypedDict):
    """How a source is read."""

    executor: Executor | None
    progress: Progress | None


def _opened(
    log: Any, columns: Mapping[str, str] | None, kind: str | None, how: dict[str, Any]
) -> tuple[Source, str | None]:
    """Open the log without invalid rows, which are counted, and name its format where that is required."""
    if is_open(log):
        return (replace(log, invalid="skip") if isinstance(log, WideLog | LongLog) else log), kind
    return read_log(log, columns, format=kind, invalid="skip", **how), kind


def _read(source: Source, how: _Run) -> tuple[Inspection, LogEvidence, SampledRows]:
    """Return the statistics from one pass over a log, the checks of what was written, and a sample of its rows.

    Raises:
        EmptyLogError: no row is valid.
    """
    refuse_once(source, "its columns are looked at first")
    columns = described(source, how["progress"])
    used = {one.use for one in columns}
    scores, rankings = _used(columns, "score"), _used(columns, "ranking")
    written, groups = (tuple(role for role in roles if role in used) for roles in (WRITTEN, GROUPING))
    clicked = bool(used & {"clicks", "click"})
    rewards = clicked or "reward" in used
    shown = Needs(frozenset(["candidates"]), scores=frozenset(scores), rankings=frozenset(rankings))
    needed = replace(shown, clusters=frozenset(groups)) | Needs(frozenset(["reward"] if rewards else []))
    log, arms = LogFold.of(source, Logged() if written else None), _arms(columns)
    every: tuple[By, ...] = ("candidates", "query", "user")
    contexts: dict[By, WholeContextsFold] = {
        by: WholeContextsFold(shown, by, arms) for by in every if by == "candidates" or by in groups
    }
    asked = Quantities(source, needed)
    asked.add(log.needs(), log=log, impressions=ImpressionsFold())
    asked.add(overview=OverviewFold(groups, rewards), ties=TiesFold(tuple(map(Top, scores))))
    asked.add(outcomes=OutcomesFold(tuple(scores)), sample=SampledRowsFold(shown))
    for by, fold in contexts.items():
        asked.add(fold.needs(), **{f"contexts {by}": fold})
    found = asked.reduce(**how)
    _refuse_empty(source, found["impressions"])
    outcomes: dict[str, str] = found["outcomes"]
    apart = [name for name, kind in outcomes.items() if kind]
    samples: dict[By, SampledRows] = {by: found[f"contexts {by}"] for by in contexts}
    copies = found["log"].copies
    ties = zip(scores, found["ties"].tolist(), strict=True)
    inspection = Inspection(
        source.describe(),
        "long" if isinstance(source, LongLog) else "wide",
        dict(getattr(source, "renamed", {})),
        tuple(replace(one, use=outcomes.get(one.name) or one.use) if one.use == "score" else one for one in columns),
        found["impressions"].n,
        found["impressions"].skipped,
        found["overview"],
        {name: share for name, share in ties if name not in apart},
        written,
        about_log(found["log"]),
        copies,
        _named(drawn(found["sample"], copies, samples, apart), source, how),
        LoggedBy(None, "unknown", randomness(samples, apart, arms)),
        clicked,
    )
    return inspection, found["log"], found["sample"]


def _refuse_empty(source: Source, impressions: Impressions) -> None:
    if not impressions.n:
        broken = ", ".join(f"{count:,} {rule}" for rule, count in impressions.skipped.items())
        said = f"; all of them break a rule: {broken}" if broken else ""
        raise EmptyLogError(f"{source.describe()} has no impressions that can be read{said}", "mend the log")


def _arms(columns: Sequence[LogColumn]) -> tuple[str, ...]:
    """Return columns of few values that may say which ranker was used, the likeliest names first."""
    plain = [one.name for one in columns if one.use == "group" and not one.like and not _REAL.search(one.type)]
    return tuple(sorted(plain, key=lambda name: not _ARM.search(name))[:_MOST_ARMS])


def _named(found: list[Drawn], source: Source, how: _Run) -> list[Drawn]:
    """Name the items that are told by their codes as the log does."""
    names = item_names((one.item for one in found if one.item is not None), source, **how)
    return [
        replace(one, against=one.against.replace(f"item {one.item} ", f"item {names[one.item]} "))
        if one.item in names
        else one
        for one in found
    ]


def _logging(seen: Inspection, log: LogEvidence, source: Source, how: _Run) -> LoggedBy:
    """Return what drew the log, and how far that is known."""
    random, agreed = seen.logging.randomness, None if seen.agreement is None else seen.agreement.share_apart <= APART
    found = logged_by(random, seen.drawn, log, seen.written, agreed)
    if found.status != "not random" or random.beside is None:
        return found
    scores = [name for name in seen.ties if seen.ties[name] < 1]
    rankers: list[Top | Ranking] = [*map(Top, scores), *map(Ranking, _used(seen.columns, "ranking"))]
    fold = ArmsFold(random.beside, tuple(rankers))
    arms = run(source.select(fold.needs()), fold, **how) if rankers else {}
    return replace(found, column=random.beside, arms=arms, status="arms" if arms else found.status)


def _next(seen: Inspection, law: Policy | None, source: Source, sample: SampledRows, how: _Run) -> dict[str, Any]:
    """Return a question that the log can answer, or why it cannot: about the first ranker with overlap.

    The question is asked here first, so that no command is suggested which is refused.
    """
    logging = policy(str(seen.logging.named))
    if seen.overview.earned is None:
        return {}
    slots = max(seen.overview.slots)
    ranks = _gives(source, logging, "rank_law")
    if isinstance(logging, Logged) and "rank_propensity" not in seen.written:
        ranks = slots == 1  # the probability of a longer slate does not determine those of its ranks
    slates, questions = _gives(source, logging, "log_prob"), dict[str, Next]()
    for target in _targets(seen, frozenset() if law is None else law.needs("log_prob").scores):
        found = ["snips"] if slates and _overlaps(target, sample) else []
        found += ["snipm"] if ranks and (slots > 1 or not found) else []
        if found and len(questions) < _TRIED:
            questions[repr(target)] = Next(repr(target), tuple(found))
    if not questions:
        return {}
    asked = list(dict.fromkeys(one for each in questions.values() for one in each.estimators))
    answers = evaluate(source, list(questions), logging, asked, **how).verdicts
    first = next((name for name in questions if answers[name].usable), None)
    if first is None:
        return {"declined": answers[next(iter(questions))].reasons[0].text}
    return {"next": questions[first]}


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
