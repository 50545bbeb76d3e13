"""Table 2 of paper slate-pseudoinverse (appendix H): how far the four base rankers agree on the top of the page.

`overlap(sets, compared)` is its section, for the page of `offrank reproduce slates`; its expectations are in
`expected/slates-tables.json`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offrank.errors import UsageError
from offrank.log.batch import Floats
from offrank.report.document import Section

from ..expectations import Expectations
from .rankers import LASSO_BODY, LASSO_TITLE, TREE_BODY, TREE_TITLE, RankedSets

TABLES = Expectations.of("slates-tables")
TOP = 10
FEWEST = 4
"""Queries with fewer candidates are left out, as in the published code."""

PAIRS = (
    (LASSO_TITLE, TREE_TITLE),
    (LASSO_BODY, TREE_BODY),
    (TREE_TITLE, TREE_BODY),
    (TREE_TITLE, LASSO_BODY),
    (LASSO_TITLE, TREE_BODY),
    (LASSO_TITLE, LASSO_BODY),
)
"""In the order of the table."""


class TopAgreement(NamedTuple):
    """How two rankers agree on queries; shared: [q] fraction of the top documents in common. tau: [q]."""

    shared: Floats
    tau: Floats


def overlap(sets: RankedSets, compared: bool) -> Section:
    """Return Table 2. compared: whether the queries are those of the paper, MSLR-WEB30K's, at most 100 documents each.

    Raises:
        UsageError: every query has fewer than 4 candidates.
    """
    found = {pair: agreement(sets, *pair) for pair in PAIRS}
    rows = {", ".join(pair): [*_moments(both.shared), *_moments(both.tau)] for pair, both in found.items()}
    crossed = {pair: float(both.shared.mean()) for pair, both in found.items() if _set(pair[0]) != _set(pair[1])}
    alike = [float(both.shared.mean()) for pair, both in found.items() if pair not in crossed]
    facts = {
        "queries": len(found[PAIRS[0]].tau),
        "left out": int((sets.judged.sizes < FEWEST).sum()),
        "documents in common": TOP * max(crossed.values()),
        "least documents in common of one set": TOP * min(alike),
        "not MSLR-WEB30K": "" if compared else TABLES.content["texts"]["other queries"],
    }
    return TABLES.section("overlap", facts, tables=[TABLES.table("overlap", rows, compared=compared)])


def agreement(sets: RankedSets, one: str, other: str) -> TopAgreement:
    """Compare the top 10 of two rankers, for queries with at least 4 candidates.

    Kendall's tau (tau-b) is over the documents in the top 10 of either; one that is not in the other's is at
    rank 11 there.

    Raises:
        UsageError: every query has fewer candidates.
    """
    judged, shared, taus = sets.judged, [], []
    mine, theirs = (np.minimum(sets.ranks[name], TOP + 1) for name in (one, other))
    for begin, end in zip(judged.first[:-1], judged.first[1:], strict=True):
        if end - begin < FEWEST:
            continue
        a, b = mine[begin:end], theirs[begin:end]
        union = (a <= TOP) | (b <= TOP)
        shared.append(((a <= TOP) & (b <= TOP)).sum() / min(TOP, end - begin))
        taus.append(_tau(a[union], b[union]))
    if not taus:
        raise UsageError(f"no query has {FEWEST} candidates to compare rankers on", "give longer lists")
    return TopAgreement(np.array(shared), np.array(taus))


def _tau(a: Floats, b: Floats) -> float:
    """Return Kendall's tau-b of two rankings of the same documents."""
    above = np.triu_indices(len(a), 1)
    x, y = (np.sign(ranks[:, None] - ranks)[above] for ranks in (a, b))
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def _moments(values: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation."""
    return float(values.mean()), float(values.std())


def _set(name: str) -> str:
    """Return "title" or "body"."""
    return name.rpartition("_")[2]
