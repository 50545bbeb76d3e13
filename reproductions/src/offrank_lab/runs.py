"""`measure_runs`: which of two runs is better by nDCG, RR, AP and others, with the doubt of few queries and grades."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

import numpy as np

from offrank.errors import ColumnError, LogError, RowError, UsageError
from offrank.findings import cautions_for
from offrank.findings.measure import MOST_GRADERS, RunsEvidence
from offrank.inference.mean_intervals import Inference
from offrank.language.argument import interval_level, seed_number
from offrank.language.formatting import listing, plural
from offrank.language.spelling import split_all
from offrank.log.batch import Floats
from offrank.readers.judgement_tables import judgement_table
from offrank.readers.opening import Beginning
from offrank.readers.trec import kind_of_trec, read_run
from offrank.running.reproducibility import now, versions
from offrank.sums.base import Sample
from offrank.sums.clusters import Clusters
from offrank.sums.estimate import Interval, student
from offrank.sums.mean import ratio
from offrank.sums.moments import MomentsFold
from offrank.sums.named_sums import NamedColumns, Sums
from offrank.wording import Option, Wording

from .run_results import RunMetric, RunsCompared
from .run_scores import MOST_ORDERS, Grades, RunPair, Tied, bounds, cutoff_of, means, measure_named, read_places

_ROUNDING = 1e-9

Run = Mapping[str, Tied]
GradesByQuery = Mapping[str, Sequence[Grades]]
"""The grades of each query's items, by each list."""


def measure_runs(
    run_a: Any,
    run_b: Any,
    qrels: Any,
    metrics: Any = ("nDCG@10",),
    *,
    missing: Literal["refuse", "zero"] = "refuse",
    confidence: float = 0.95,
    seed: int = 0,
) -> RunsCompared:
    """Compare two runs by judgements: metrics by ir_measures, the paired difference, its interval over queries.

    Where scores tie, a metric is its mean over all orders of the tied items; if these are more than 120, over as many
    drawn ones. With several graders it is the mean over graders, of whom each has a list: his own grades, and where he
    gave none, that of another, drawn. Queries and graders are then both samples: the variance over both is their sum
    less that of their interaction, as in an analysis of variance, with Satterthwaite's degrees of freedom.

    Parameters:
        run_a: The run to compare with. A run file of TREC or a table with query, item and score, or rank.
        run_b: The run whose change is told.
        qrels: Judgements; see `offrank.readers.judgement_table`.
        metrics: nDCG@10, RR, AP, P(rel=2)@5 ... As ir_measures spells them, https://ir-measur.es.
        missing: What to do with queries that one run lacks. refuse them, or count a metric as zero there, and where
            both lack a judged query, as `trec_eval -c` does.
        confidence: Level of the intervals.
        seed: Seed of drawn orders, and of drawn grades.

    Returns:
        By metric: both means, the difference, wins, and bounds for items without a grade.

    Raises:
        LogError: runs of different queries, an item twice, grades that are no whole numbers.
        UsageError: a metric that ir_measures cannot compute. MissingExtraError: it is not installed.

    Examples:
        >>> good = [{"query": q, "item": i, "score": -n} for q in "abc" for n, i in enumerate("xyz")]
        >>> poor = [{"query": q, "item": i, "rank": n} for q in "abc" for n, i in enumerate("zyx")]
        >>> qrels = [{"query": q, "item": "x", "grade": 1} for q in "abc"]
        >>> offrank_lab.measure_runs(poor, good, qrels, "RR")["RR"].difference.value.__round__(3)
        0.667
    """
    interval_level(confidence)
    seed = seed_number(seed)
    if missing not in ("refuse", "zero"):
        raise UsageError(f"missing is {missing!r}", "use refuse or zero")
    named = map(measure_named, split_all([metrics] if isinstance(metrics, str) else metrics))
    measures = {str(one): one for one in named}
    a, b = _run(run_a, "A"), _run(run_b, "B")
    judged, graders, shared = _judgements(qrels, seed)
    pairs, about = _paired(a, b, judged, missing)
    about = replace(about, graders=graders, shared=shared)
    found = {name: _measured(name, one, pairs, about, confidence, seed) for name, one in measures.items()}
    names = _name(run_a, "A"), _name(run_b, "B")
    facts = {"schema": 1, "kind": "runs", "title": f"Is {names[1]} better than {names[0]}?", "runs": names}
    facts |= {
        "qrels": _name(qrels, "a table"),
        "missing": missing,
        "confidence": confidence,
        "versions": versions(),
        "created": now(),
    }
    return RunsCompared(found, names, len(pairs), (run_a, run_b, qrels), facts=facts)


def _name(source: Any, otherwise: str) -> str:
    return Path(source).name if isinstance(source, str | PathLike) else otherwise


def _run(source: Any, name: str) -> Run:
    """Read a run: the items of each query, best first, those of equal score together.

    Raises:
        LogError: an item twice for a query, or without a score. ColumnError: no score and no rank.
    """
    beginning, sign = Beginning(source), -1.0
    if len(beginning.paths) == 1 and kind_of_trec(beginning.text) == "run":
        rows: Iterable[tuple[str, str, float]] = read_run(beginning.paths[0])
    else:
        names = beginning.stored.names
        by = next((one for word in ("score", "rank") for one in names if one.lower() == word), None)
        if by is None:
            said = f"run {name} has no column `score` or `rank`: it has {', '.join(names)}"
            raise ColumnError(said, "name the column of the scores `score`, or write a run file of TREC")
        sign = 1.0 if by.lower() == "rank" else -1.0
        try:
            table = judgement_table(source, grade=by)
        except RowError as error:
            said = f"run {name}: {error.message.replace('grade', by)}"
            raise LogError(said, f"give each item of a query once, with a number as its {by}") from error
        if lacking := int(table.schema.metadata[b"unjudged"]):
            raise LogError(f"run {name} has {plural(lacking, 'row', 'rows')} without a {by}", "give each row one")
        rows = zip(*(table[one].to_pylist() for one in ("query", "item", "grade")), strict=True)
    found: dict[str, dict[str, float]] = {}
    for query, item, score in rows:
        if item in found.setdefault(query, {}):
            raise LogError(f"run {name}: query {query!r} has item {item!r} twice", "give each item once")
        found[query][item] = sign * score
    ordered = {query: sorted(each, key=lambda item: (each[item], item)) for query, each in found.items()}
    return {q: [[*group] for _, group in groupby(items, found[q].__getitem__)] for q, items in ordered.items()}


def _judgements(source: Any, seed: int) -> tuple[GradesByQuery, int, float]:
    """Read the grades by each list, the number of graders, and the share of the items that one has judged.

    A grader's list has for a pair that he did not judge the grade of another one, drawn. Of many graders, each list
    has the grade of a drawn one for each pair.
    """
    table = judgement_table(source)
    grades, each = table["grade"].to_pylist(), ("query", "item", "grader")
    if odd := [grade for grade in grades if grade != round(grade)]:
        raise LogError(f"a grade is {odd[0]:g}, and ir_measures reads whole numbers", "round the grades")
    given = [table[one].to_pylist() if one in table.column_names else [""] * len(table) for one in each]
    found: dict[str, dict[str, dict[str, int]]] = {}
    for query, item, grader, grade in zip(*given, grades, strict=True):
        found.setdefault(query, {}).setdefault(item, {})[str(grader)] = round(grade)
    several = any(len(by) > 1 for items in found.values() for by in items.values())
    graders = sorted(set(map(str, given[2]))) if several else [""]
    lists = graders if len(graders) <= MOST_GRADERS else [""] * MOST_GRADERS
    judged = dict[str, list[dict[str, int]]]()
    for query, items in found.items():
        rng = np.random.default_rng([seed, crc32(query.encode())])
        others = {item: [by[one] for one in sorted(by)] for item, by in sorted(items.items())}
        judged[query] = [
            {item: items[item].get(one, some[int(rng.integers(len(some)))]) for item, some in others.items()}
            for one in lists
        ]
    every = len(graders) * sum(map(len, found.values()))
    return judged, len(graders), len(table) / every if several else 1.0


def _paired(a: Run, b: Run, judged: GradesByQuery, missing: str) -> tuple[list[RunPair], RunsEvidence]:
    """Return what both runs find for each query, and what is known of queries that are not compared.

    Raises:
        LogError: runs of different queries; no query is judged.
    """
    only = [sorted((one.keys() - other.keys()) & judged.keys()) for one, other in ((a, b), (b, a))]
    if missing == "refuse" and any(only):
        said = [
            f"{len(each):,} only in {run} ({listing(each, 3)})" for each, run in zip(only, "AB", strict=True) if each
        ]
        remedy = Wording(
            "give runs of the same queries, or count what a run lacks as 0 with {}", Option("missing", "zero")
        )
        raise LogError(f"runs of different queries: {listing(said)}", remedy)
    queries = sorted(judged.keys() & (judged.keys() if missing == "zero" else a.keys() & b.keys()))
    if not queries:
        first = [repr(next(iter(one), "")) for one in (a, b, judged)]
        none = f"no query of both runs ({first[0]}, {first[1]} ...) is judged ({first[2]} ...)"
        raise LogError(none, "give the judgements of these runs, with the same names of queries")
    about = RunsEvidence(
        queries=len(queries),
        ungraded=len((a.keys() | b.keys()) - judged.keys()),
        absent=len(judged.keys() - a.keys() - b.keys()),
        zeros=len(only[0]) + len(only[1]) if missing == "zero" else 0,
    )
    return [RunPair(one, a.get(one, []), b.get(one, []), judged[one]) for one in queries], about


def _measured(
    name: str, measure: Any, pairs: Sequence[RunPair], about: RunsEvidence, confidence: float, seed: int
) -> RunMetric:
    """Return one metric of both runs."""
    by_run, drawn = means(measure, pairs, len(pairs[0].grades), MOST_ORDERS, seed)
    if about.graders > MOST_GRADERS:  # draws of them, whose noise differs from query to query
        by_run = by_run.mean(axis=1, keepdims=True)
    change, cutoff = by_run[1] - by_run[0], cutoff_of(measure)
    highest = max(grade for one in pairs for by in one.grades for grade in by.values())
    least, most = (interval_of(one[None], confidence) for one in bounds(measure, pairs, highest, seed))
    a, b, difference = (interval_of(one, confidence) for one in (*by_run, change))
    signs = np.where(np.abs(each := change.mean(axis=0)) > _ROUNDING, np.sign(each), 0)
    wins, ties, losses = (int((signs == one).sum()) for one in (1, 0, -1))
    shares = (_unjudged([(getattr(one, run), one.grades[0]) for one in pairs], cutoff) for run in "ab")
    tied = sum(any(len(group) > 1 for run in (one.a, one.b) for group, _ in read_places(run, cutoff)) for one in pairs)
    counts: tuple[Any, ...] = wins, ties, losses, *shares, tied, int(drawn.sum())
    found = RunMetric(name, a, b, difference, least, most, *counts)
    known = replace(
        about,
        changed=found.wins + found.losses,
        unjudged=(found.unjudged_a, found.unjudged_b),
        bounds=(found.favours_a.value, found.favours_b.value),
        decided=found.decision in ("better", "worse"),
        tied=found.tied,
        drawn=found.drawn,
    )
    return replace(found, warnings=cautions_for(known))


def _unjudged(ranked: Iterable[tuple[Tied, Grades]], cutoff: int | None) -> float:
    """Return the share of the items above the cutoff that have no grade, as a mean over orders of tied ones."""
    shown = lacking = 0.0
    for tied, grades in ranked:
        for group, places in read_places(tied, cutoff):
            shown += places
            lacking += places * sum(item not in grades for item in group) / len(group)
    return lacking / shown if shown else 0.0


def interval_of(values: Floats, confidence: float) -> Interval:
    """Return the interval of the mean of values [lists, n], by lists of graders and by queries.

    The variance over queries is that of independent clusters. To it is added what lists differ by more than their
    interaction with queries explains, (MS of lists - MS of the interaction) / (lists n), if that is above 0.
    """
    (lists, n), each = values.shape, values.mean(axis=0)
    columns = np.array([np.ones(n), each])
    moments = MomentsFold().of(Sample(columns, np.arange(n, dtype=np.uint64)))
    clusters = Clusters("query", columns.T, np.ones(n), math.inf)
    sums = Sums(NamedColumns(("rows", "value")), moments)
    found = Inference(sums, "studentised", confidence, (clusters,)).interval(ratio("value", "rows"))
    if min(lists, n) < 2:
        return found
    by_list = values.mean(axis=1, keepdims=True)
    rest, both = values - each - by_list + by_list.mean(), (lists - 1) * (n - 1)
    queries, graders, crossed = lists * each.var(ddof=1), n * by_list.var(ddof=1), float((rest**2).sum()) / both
    total = queries + graders - crossed
    if not total > queries:
        return found
    freedom = total**2 / (queries**2 / (n - 1) + graders**2 / (lists - 1) + crossed**2 / both)
    error = math.sqrt(total / (lists * n))
    half = student(0.5 + confidence / 2, freedom) * error
    low, high = min(found.low, found.value - half), max(found.high, found.value + half)
    return replace(found, low=low, high=high, standard_error=error, freedom=freedom)
