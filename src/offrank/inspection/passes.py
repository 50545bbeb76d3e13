"""What the passes over a log find: sizes, columns, laws that fit, and how its slates were drawn."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

import numpy as np

from ..checks.arms import Arms, ArmsFold, UnitsFold, rankers
from ..checks.fitted_logging_policy import Drawn, drawn
from ..checks.item_names import item_names
from ..checks.laws_by_value import are_rankers, drawn_value, laws_by_value, likelier
from ..checks.log_problems import about_log, log_evidence, log_quantities
from ..checks.logged_by import CONTRADICTED, LoggedBy, logged_by
from ..checks.outcomes import ColumnClicks, OutcomesFold
from ..checks.overview import OverviewFold
from ..checks.propensities import AgreementFold
from ..checks.randomness import MOST_ARMS, WholeContextsFold, randomness
from ..checks.repeats import By, shown_in
from ..checks.rows import Impressions, ImpressionsFold, TiesFold
from ..checks.sort_keys import SortKey, sort_keys
from ..checks.written_propensities import CertainFold, WrittenPropensities
from ..errors import EmptyLogError
from ..findings.log import LogEvidence
from ..language.formatting import listing, percent
from ..log import rules
from ..log.schema import GROUPING, WRITTEN
from ..log.source import Needs, Source, refuse_once
from ..log.texts import Texts
from ..policies.base import Policy
from ..policies.logged_probabilities import Logged
from ..policies.ranking import Ranking
from ..policies.top import Top
from ..policies.uniform import Uniform
from ..readers.description import Layout
from ..readers.log import period_of
from ..readers.log_columns import LogColumn, describe_columns
from ..readers.long import LongLog
from ..readers.names import DICTIONARY, parts, words_of
from ..readers.sampling import HeldTable
from ..readers.unfolding import RankedTable, Tokens, UnfoldedTable
from ..readers.wide import WideLog
from ..running.executors import Executor, Progress, run
from ..running.quantities import Quantities, Quantity
from ..sums.sampled import SampledRows, SampledRowsFold
from .result import Inspection

_MOST_ARMS = 12
"""Columns that are looked at, for which may say which ranker was used."""
_ARM = re.compile("|".join(DICTIONARY["RANKED_BY"]), re.IGNORECASE)
_SERVED = re.compile(f"(ab_?|test_?)*({'|'.join(DICTIONARY['VARIATION'])}|group)(_id|_name)?", re.IGNORECASE)
"""Names of columns that tell arms by themselves."""
_REAL = re.compile("float|double|decimal|half")


class HowRead(TypedDict):
    """How a source is read."""

    executor: Executor | None
    progress: Progress | None


def look_through(source: Source, how: HowRead) -> tuple[Inspection, Policy | None, SampledRows]:
    """Return what a log holds and what drew it, the law that fits it, and a sample of its rows.

    Raises:
        EmptyLogError: no row is valid.
    """
    seen, log_checks, sample, samples, few = _read(source, how)
    law = next((one.policy for one in seen.drawn if one.fits and not one.policy.always_sorts), None)
    named = not shown_in(sample.contexts, sample.slates)[1].all()  # else calibration by item means nothing
    written = _written([law, Uniform() if named else None], source, how) if seen.written else None
    seen = replace(seen, agreement=None if written is None else written.by_law)
    order = _order(seen, sample, source)
    found = _logging(seen, log_checks, written, [name for name in few if _ARM.search(name)], order, source, how)
    if seen.drawn and not seen.written and found.status not in CONTRADICTED:
        found = _by_value(found, seen, samples, few, source, how)
    return replace(seen, logging=_doubted(found, seen.columns)), law, sample


def _doubted(found: LoggedBy, columns: Sequence[LogColumn]) -> LoggedBy:
    """Return the same, uncertified if a column may be candidates, a score or a sampling rate and is not read."""
    unread = [f"`{one.name}` may be {_DOUBTED[one.like]}" for one in columns if one.like in _DOUBTED]
    if found.status not in ("agrees", "not contradicted") or not unread:
        return found
    why = f"{listing(unread)}, which {'is' if len(unread) == 1 else 'are'} not read"
    return replace(found, status="not contradicted", why=why)


_DOUBTED = {
    "candidates": "the candidates",
    "score": "a score",
    "inclusion": "the rate with which rows were kept",
    "log_propensity": "the logarithm of the propensity",
}
"""What a column may be that could make another law of the one that fits without it."""


def _order(seen: Inspection, sample: SampledRows, source: Source) -> tuple[SortKey, ...]:
    """Return the columns that all slates are sorted by, where no two rows of one context tell whether they were drawn.

    Ids that are texts are known of the first rows only, which then have to do.
    """
    if seen.logging.randomness.state != "unknown":
        return ()
    apart = [*used(seen.columns, "outcome"), *used(seen.columns, "doubtful")]
    scores = frozenset(name for name in sample.contexts.scores if name not in apart)
    found = sort_keys(sample.contexts, sample.slates, apart)
    if found:
        return found
    shown = source.select(Needs(frozenset(["candidates"]), scores=scores, texts=True))
    first = next((batch for part in range(shown.parts()) for batch in shown.batches(part) if len(batch)), None)
    return () if first is None else sort_keys(first.contexts, first.slates, texts=first.texts or Texts.none())


def _written(laws: Sequence[Policy | None], source: Source, how: HowRead) -> WrittenPropensities:
    """Return what the propensities that were written say, beside the law that fits and beside uniform."""
    asked = Quantities(source)
    asked.add(Quantity("certain", CertainFold(), optional=True))
    for name, law in zip(("by_law", "by_uniform"), laws, strict=True):
        if law is not None:
            asked.add(Quantity(name, AgreementFold(law), optional=True))
    return WrittenPropensities(**asked.reduce(**how))


def _read(
    source: Source, how: HowRead
) -> tuple[Inspection, LogEvidence, SampledRows, dict[By, SampledRows], list[str]]:
    """Return the statistics from one pass over a log, the checks of what was written, samples of its rows, and arms.

    The samples are of any rows, and of whole contexts; arms are columns of few values, the likeliest first.

    Raises:
        EmptyLogError: no row is valid.
    """
    refuse_once(source, "its columns are looked at first")
    columns = describe_columns(source, how["progress"])
    uses = {one.use for one in columns}
    scores, rankings = used(columns, "score"), used(columns, "ranking")
    written, groups = (tuple(role for role in roles if role in uses) for roles in (WRITTEN, GROUPING))
    clicked = bool(uses & {"clicks", "click"})
    rewards = clicked or "reward" in uses
    shown = Needs(frozenset(["candidates"]), scores=frozenset(scores), rankings=frozenset(rankings))
    logging, arms = Logged() if written else None, _arms(columns)
    every: tuple[By, ...] = ("candidates", "query", "user")
    contexts: dict[By, WholeContextsFold] = {
        by: WholeContextsFold(shown, by, arms) for by in every if by == "candidates" or by in groups
    }
    needed = replace(shown, clusters=frozenset(groups)) | Needs(frozenset(["reward"] if rewards else []))
    asked = Quantities(source, needed)
    asked.add(*log_quantities(source, logging), Quantity("impressions", ImpressionsFold()))
    asked.add(Quantity("overview", OverviewFold(groups, rewards)), Quantity("ties", TiesFold(tuple(map(Top, scores)))))
    asked.add(Quantity("outcomes", OutcomesFold(tuple(scores))), Quantity("sample", SampledRowsFold(shown)))
    asked.add(*(Quantity(f"contexts {by}", fold) for by, fold in contexts.items()))
    found = asked.reduce(**how)
    _refuse_empty(source, found["impressions"])
    clicked_of: dict[str, ColumnClicks] = found["outcomes"]
    apart = [name for name, one in clicked_of.items() if one.kind]
    samples: dict[By, SampledRows] = {by: found[f"contexts {by}"] for by in contexts}
    log = log_evidence(found, asked, logging)
    copies = log.copies
    ties = zip(scores, found["ties"].values(), strict=True)
    inspection = Inspection(
        source.describe(),
        _layout(source),
        dict(getattr(source, "renamed", {})),
        tuple(replace(one, use=clicked_of[one.name].kind or one.use) if one.use == "score" else one for one in columns),
        found["impressions"].n,
        found["impressions"].skipped,
        found["overview"],
        {name: share for name, share in ties if name not in apart},
        written,
        about_log(log),
        copies,
        _named(drawn(found["sample"], copies, samples, apart), source, how),
        LoggedBy(None, "unknown", randomness(samples, apart, arms)),
        clicked,
        only_clicks=found["impressions"].only_clicks,
        unreadable=log.kept.by_outcome,
        period=period_of(source) or found.get("days"),
    )
    if any(one.fits and one.policy == Uniform() for one in inspection.drawn):  # else better places tell as well
        against = {name: one.higher for name, one in clicked_of.items() if one.against}
        inspection = replace(inspection, against_clicks=against)
    keys = samples["candidates"].contexts.keys
    few = [name for name in arms if 2 <= len(np.unique(keys[name])) <= MOST_ARMS]
    return inspection, log, found["sample"], samples, few


def _layout(source: Source) -> Layout:
    """Return the shape of the table that a log is read from."""
    if isinstance(source, WideLog | LongLog) and source.description.format is not None:
        return source.description.layout
    if not isinstance(source, WideLog):
        return "long" if isinstance(source, LongLog) else "wide"
    table = source.table.table if isinstance(source.table, RankedTable) else source.table
    table = table.table if isinstance(table, HeldTable) else table
    if not isinstance(table, UnfoldedTable):
        return "wide"
    column, path = table.taken[source.renamed.get("slate", "slate")]
    packed = table.texts.get(column)
    if isinstance(packed, Tokens):
        return "sessions" if packed.paired else "nested"
    return "nested" if path or packed is not None else "wide"


def _refuse_empty(source: Source, impressions: Impressions) -> None:
    if not impressions.n:
        broken = ", ".join(f"{count:,} {rule}" for rule, count in impressions.skipped.items())
        said = f"; all of them break a rule: {broken}" if broken else ""
        most = max(impressions.skipped, key=lambda rule: impressions.skipped[rule], default="")
        known = (one for one in vars(rules).values() if isinstance(one, rules.Rule))
        remedy = next((one.remedy for one in known if one.code == most), "correct the log")
        raise EmptyLogError(f"{source.describe()} has no impressions that can be read{said}", remedy)


def _arms(columns: Sequence[LogColumn]) -> tuple[str, ...]:
    """Return columns of few values that may say which ranker was used, the likeliest names first."""
    plain = [one.name for one in columns if one.use == "group" and not one.like and not _REAL.search(one.type)]
    return tuple(sorted(plain, key=lambda name: not _ARM.search(name))[:_MOST_ARMS])


def _named(found: list[Drawn], source: Source, how: HowRead) -> list[Drawn]:
    """Name the items that are told by their codes as the log does."""
    names = item_names((one.item for one in found if one.item is not None), source, **how)
    return [
        replace(one, against=one.against.replace(f"item {one.item} ", f"item {names[one.item]} "))
        if one.item in names
        else one
        for one in found
    ]


def _logging(
    seen: Inspection,
    log: LogEvidence,
    written: WrittenPropensities | None,
    called: Sequence[str],
    order: Sequence[SortKey],
    source: Source,
    how: HowRead,
) -> LoggedBy:
    """Return what drew the log, and how far that is known. called: columns of few values that are called as arms.

    order: the columns that all slates are sorted by.
    """
    random, groups = seen.logging.randomness, seen.overview.distinct
    found = logged_by(random, seen.drawn, log, written, tuple(groups), order)
    column, scores = random.beside, [name for name in seen.ties if seen.ties[name] < 1]
    policies = rankers(scores, used(seen.columns, "ranking"))
    if found.status == "not random" and column is not None:
        found, arms = replace(found, column=column), _arms_of(column, policies, source, how)
    elif not seen.written and (found.status == "unknown" or (found.status == "not random" and not found.policy)):
        tried = (_arms_of(name, policies, source, how) for name in called[:_TRIED_ARMS])
        arms = next((one for one in tried if one is not None and one.clear), None)
        why = "" if arms is None else f"`{arms.column}` assigns each row a ranker that explains it"
        found = found if arms is None else replace(found, column=arms.column, policy=None, departure=None, why=why)
    else:
        return found
    if arms is None:
        served = next((name for name in called if _SERVED.fullmatch(name)), None)
        if served is None:
            return found
        fold = ArmsFold(served, ())
        shares = run(source.select(fold.needs()), fold, **how).shares
        tested = any(words_of("EXPERIMENT") & {*parts(one.name)} for one in seen.columns)
        numbered = any(map(str.isdigit, shares)) and not tested  # which may be anything
        return found if numbered else replace(found, column=served, shares=shares)
    unit = _unit(arms.column, seen, source, how)
    return replace(found, arms=arms.policies, shares=arms.shares, unit=unit, status="arms")


def _unit(column: str, seen: Inspection, source: Source, how: HowRead) -> str:
    """Return the column all of whose rows have one arm; nothing if the arm differs from row to row."""
    units = UnitsFold(column, tuple(name for name in ("user", "session", "query") if name in seen.overview.distinct))
    return run(source.select(units.needs()), units, **how) if units.units else ""


def _by_value(
    found: LoggedBy,
    seen: Inspection,
    samples: Mapping[By, SampledRows],
    few: Sequence[str],
    source: Source,
    how: HowRead,
) -> LoggedBy:
    """Return the same, or what drew the rows of each value of a column. few: columns of few values.

    Arms of an experiment are looked for though a policy fits all rows, a bucket of drawn lists only where none does.
    """
    fits, best = any(one.fits for one in seen.drawn), max(seen.drawn, key=lambda one: one.criterion).policy
    apart = [*used(seen.columns, "outcome"), *used(seen.columns, "doubtful")]
    for name in few[:_TRIED_VALUES]:
        called = _ARM.search(name)
        if not called and (fits or found.randomness.state != "random"):
            continue
        fold = ArmsFold(name, ())
        kind = next(one.type for one in seen.columns if one.name == name)
        shares = run(source.select(fold.needs()), fold, **how).shares
        shares = {value.lower(): share for value, share in shares.items()} if kind == "bool" else shares
        laws = laws_by_value(name, tuple(shares), samples, apart)
        bucket = None if _CONTROL & {one.lower() for one in shares} else drawn_value(laws)
        if called and _NULL not in laws and are_rankers(laws) and likelier(laws, name, samples["candidates"], best):
            told = replace(found, column=name, shares=shares, arms={one: repr(laws[one].policy) for one in laws})
            why, unit = f"`{name}` assigns each row a policy that fits it", _unit(name, seen, source, how)
            return replace(told, status="arms", policy=None, departure=None, why=why, unit=unit)
        if _SERVED.fullmatch(name) and found.policy == "uniform" and seen.shown_only and len(shares) > 1:
            why = f"`{name}` tells which ranker served each row, and nothing what that could have shown"
            return replace(found, status="unknown", policy=None, departure=None, column=name, shares=shares, why=why)
        if bucket not in (None, _NULL) and not fits and shares[bucket] < _MINORITY:
            value = bucket if "int" in kind or "bool" in kind else repr(bucket)
            only = f"{name if name.isidentifier() else json.dumps(name)} = {value}"
            why = f"{found.why}; rows with {name} = {bucket} ({percent(shares[bucket])}) fit `uniform`"
            return replace(found, bucket=only, why=why)
    return found


_NULL = "null"  # the label of rows without a value, which no arm and no filter names
_MINORITY, _CONTROL = 0.5, words_of("CONTROL")  # one of the values of an A/B test is no bucket
_TRIED_VALUES = 4
"""Columns of few values by which the rows are told apart."""


_TRIED_ARMS = 3
"""Columns called as arms that are tried where no rows of one context tell."""


def _arms_of(column: str, policies: tuple[Top | Ranking, ...], source: Source, how: HowRead) -> Arms | None:
    """Return which ranker explains the rows of each value of a column; None if there is none, or it holds many."""
    fold = ArmsFold(column, policies)
    found = run(source.select(fold.needs()), fold, **how) if policies else None
    return None if found is None or _NULL in found.policies else found


def used(columns: Sequence[LogColumn], use: str) -> list[str]:
    """Return the names of the columns of one use."""
    return [column.name for column in columns if column.use == use]
