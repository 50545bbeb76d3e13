"""Metrics of one query by ir_measures: the mean over the orders of tied items, and bounds for items without a grade."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from offrank.errors import SpellingError, UsageError, optional
from offrank.log.batch import Booleans, Floats

MOST_ORDERS = 120
"""Orders of the tied items of a query that are enumerated; of more, as many are drawn."""
_ORDERS_OF_BOUNDS = 12
_ALL_SUBSETS, _EACH_ALONE, _STEPS = 6, 24, 12
"""Unjudged items of a query of which every subset is tried, or each alone; how many subsets are tried of more."""
_BATCH = 200_000
"""RankedItems items that ir_measures is given at once."""

Grades = Mapping[str, int]
Tied = Sequence[Sequence[str]]
"""The items of a query, best first; those of equal score together."""


class RankedItems(NamedTuple):
    """What one run finds for a query, and how good it is."""

    query: str
    tied: Tied
    grades: Grades


class RunPair(NamedTuple):
    """What two runs find for a query. grades: by each list of judgements, all of the same items."""

    query: str
    a: Tied
    b: Tied
    grades: Sequence[Grades]


def _library() -> Any:
    return optional("ir_measures", "metrics of runs need ir_measures", "judgements")


def measure_named(text: str) -> Any:
    """Return the metric of ir_measures with a name such as `nDCG@10` or `RBP(p=.8, rel=1)`.

    Its own parser does without syntax that Python 3.14 no longer has.

    Raises:
        SpellingError: there is none. UsageError: ir_measures cannot compute it. MissingExtraError: it is missing.
    """
    library = _library()
    try:
        tree: Any = ast.parse(text.strip(), mode="eval").body
        cutoff = None
        if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
            tree, cutoff = tree.left, ast.literal_eval(tree.right)
        options = {}
        if isinstance(tree, ast.Call) and not tree.args:
            options = {str(one.arg): ast.literal_eval(one.value) for one in tree.keywords}
            tree = tree.func
        kind = library.measures.registry[tree.id if isinstance(tree, ast.Name) else ""]
        made = kind(**options) if cutoff is None else kind(**options) @ cutoff
        made.validate_params()
    except (SyntaxError, ValueError, KeyError, AssertionError) as error:
        known = "write nDCG@10, RR, AP, P(rel=2)@5 ... as ir_measures does: https://ir-measur.es"
        raise SpellingError(f"{text!r} is no metric of ir_measures", known) from error
    try:
        library.evaluator([made], {"0": {"0": 1}})
    except ValueError as error:
        remedy = "install what computes it, or give the options that it needs: RBP(p=.8, rel=1) needs cwl-eval"
        raise UsageError(f"ir_measures cannot compute {text!r}: {error}", remedy) from error
    return made


def cutoff_of(measure: Any) -> int | None:
    """Return the rank below which a metric reads nothing; None if it reads the whole list."""
    return None if measure.params.get("judged_only") else measure.params.get("cutoff")


def read_places(tied: Tied, cutoff: int | None) -> Iterator[tuple[Sequence[str], int]]:
    """Yield the groups of tied items above the cutoff, each with how many of it are."""
    left: float = math.inf if cutoff is None else cutoff
    for group in tied:
        if left <= 0:
            return
        yield group, int(min(len(group), left))
        left -= len(group)


def orders(one: RankedItems, cutoff: int | None, most: int, seed: int) -> tuple[list[tuple[list[str], float]], bool]:
    """Return orders of the items above the cutoff, each with its probability, and whether they were drawn.

    Items of one grade are alike. Draws depend on the seed and the query, not on the run: equal runs are equal.
    """
    groups = [*read_places(one.tied, cutoff)]
    if all(len(group) == 1 for group, _ in groups):
        return [([group[0] for group, _ in groups], 1.0)], False
    choices = [_arranged(group, one.grades, places, most) for group, places in groups]
    if all(choices) and math.prod(map(len, choices)) <= most:
        every = itertools.product(*choices)
        found = [([item for items, _ in each for item in items], math.prod(p for _, p in each)) for each in every]
        return found, False
    rng = np.random.default_rng([seed, crc32(one.query.encode())])
    drawn = ([group[at] for group, _ in groups for at in rng.permutation(len(group))] for _ in range(most))
    return [(items[:cutoff], 1 / most) for items in drawn], True


def _arranged(group: Sequence[str], grades: Grades, places: int, most: int) -> list[tuple[list[str], float]]:
    """Return the first `places` of tied items in all orders that differ in grades, with probabilities; none if many."""
    kinds: dict[int | None, list[str]] = {}
    for item in group:
        kinds.setdefault(grades.get(item), []).append(item)
    found: list[tuple[tuple[int | None, ...], float]] = [((), 1.0)]
    if len(kinds) == 1:
        return [([*group[:places]], 1.0)]
    for place in range(places):
        found = [
            ((*kinds_above, kind), share * left / (len(group) - place))
            for kinds_above, share in found
            for kind, items in kinds.items()
            if (left := len(items) - kinds_above.count(kind)) > 0
        ]
        if len(found) > most:
            return []
    named = ((each, {kind: iter(items) for kind, items in kinds.items()}, share) for each, share in found)
    return [([next(items[kind]) for kind in each], share) for each, items, share in named]


def tied_means(measure: Any, asked: Iterable[RankedItems], most: int, seed: int) -> tuple[Floats, Booleans]:
    """Return [n] the metric of each, as its mean over orders of tied items, and [n] whether these were drawn."""
    found, drawn = list[float](), list[bool]()
    batch, size = list[tuple[int, Grades, list[str], float]](), 0
    for number, one in enumerate(asked):
        every, random = orders(one, cutoff_of(measure), most, seed)
        found.append(0.0)
        drawn.append(random)
        batch += [(number, one.grades, items, share) for items, share in every]
        size += sum(len(items) + len(one.grades) for items, _ in every)
        if size > _BATCH:
            _add(found, measure, batch)
            batch, size = [], 0
    _add(found, measure, batch)
    return np.array(found), np.array(drawn, bool)


def _add(found: list[float], measure: Any, batch: Sequence[tuple[int, Grades, list[str], float]]) -> None:
    """Add the metric of each order to that of its query."""
    qrels, run = dict[str, Grades](), dict[str, dict[str, float]]()
    for at, (_, grades, items, _) in enumerate(batch):
        qrels[str(at)] = grades
        run[str(at)] = {item: float(len(items) - rank) for rank, item in enumerate(items)}
    for one in _library().iter_calc([measure], qrels, run) if batch else ():
        number, _, _, share = batch[int(one.query_id)]
        found[number] += share * one.value


def means(measure: Any, pairs: Iterable[RunPair], lists: int, most: int, seed: int) -> tuple[Floats, Booleans]:
    """Return [2, lists, n] the metric of both runs by each list of judgements, and [n] whether orders were drawn."""
    asked = (RankedItems(one.query, run, by) for one in pairs for run in (one.a, one.b) for by in one.grades)
    found, drawn = tied_means(measure, asked, most, seed)
    n = len(found) // (2 * lists)
    random = np.any(drawn.reshape(n, 2 * lists), axis=1)
    return np.moveaxis(found.reshape(n, 2, lists), 0, 2), np.asarray(random)


def unjudged(one: RunPair, cutoff: int | None) -> list[str]:
    """Return the items above the cutoff of either run that have no grade."""
    seen = {item for tied in (one.a, one.b) for group, _ in read_places(tied, cutoff) for item in group}
    return sorted(seen - one.grades[0].keys())


def bounds(measure: Any, pairs: Sequence[RunPair], highest: int, seed: int) -> tuple[Floats, Floats]:
    """Return [n] the least and the greatest difference, B - A, if unjudged items have no or the highest grade.

    Every subset of up to 6 is tried. Of more, each alone, and then those that favour one run most, from one to all:
    that finds the extremes of metrics that add gains by rank and divide by what the grades alone say, such as nDCG.
    """
    items = [unjudged(one, cutoff_of(measure)) for one in pairs]
    tried = [
        (at, some)
        for at, known in enumerate(items)
        for size in (range(len(known) + 1) if len(known) <= _ALL_SUBSETS else (0, 1)[: 1 + (len(known) <= _EACH_ALONE)])
        for some in itertools.combinations(known, size)
    ]
    found = _differences(measure, pairs, tried, highest, seed)
    alone = {(at, *some): change for (at, some), change in zip(tried, found.tolist(), strict=True) if len(some) == 1}
    more = list[tuple[int, tuple[str, ...]]]()
    for at, known in enumerate(items):
        if len(known) > _ALL_SUBSETS:
            by = (
                {item: alone[at, item] for item in known} if len(known) <= _EACH_ALONE else _advantage(pairs[at], known)
            )
            order = tuple(sorted(known, key=lambda item: -by[item]))
            sizes = np.arange(2, len(order) + 1)
            if len(order) > _EACH_ALONE:
                gain = sum(worth > 0 for worth in by.values())
                sizes = np.unique(
                    [*np.geomspace(1, len(order), _STEPS).astype(int), max(gain, 1), len(order) - gain or 1]
                )
            more += [(at, some) for size in sizes for some in (order[:size], order[-size:])]
    every, place = np.append(found, _differences(measure, pairs, more, highest, seed)), [at for at, _ in tried + more]
    least, most = np.full(len(pairs), np.inf), np.full(len(pairs), -np.inf)
    np.minimum.at(least, place, every)
    np.maximum.at(most, place, every)
    return least, most


def _differences(
    measure: Any, pairs: Sequence[RunPair], tried: Sequence[tuple[int, Sequence[str]]], highest: int, seed: int
) -> Floats:
    """Return [n] the difference of a pair's runs, B - A, if some of its items have the highest grade."""
    changed = (
        pairs[at]._replace(grades=[{**by, **dict.fromkeys(some, highest)} for by in pairs[at].grades])
        for at, some in tried
    )
    found, _ = means(measure, changed, len(pairs[0].grades), _ORDERS_OF_BOUNDS, seed)
    return np.asarray((found[1] - found[0]).mean(axis=0))


def _advantage(one: RunPair, items: Sequence[str]) -> dict[str, float]:
    """Return by item how much more its mean rank is worth in run B than in run A, by the discount of nDCG."""
    found = dict.fromkeys(items, 0.0)
    for tied, sign in ((one.a, -1.0), (one.b, 1.0)):
        before = 0
        for group in tied:
            worth = sign / math.log2(1.5 + before + len(group) / 2)
            found |= {item: found[item] + worth for item in group if item in found}
            before += len(group)
    return found
