"""A run of TREC, its judgments, or both, as `inspect` describes them: what they can judge, and what to run next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import numpy as np

from ..errors import OffrankError
from .beginning import Beginning
from .description import Description
from .trec import kind_of_trec, read_trec, size_of_run

_NO_CLICKS = "without clicks: nothing tells what users saw and did"
_BY_JUDGMENTS = "a run can be measured by judgments (`offrank.metrics.ndcg`, `mrr`, `average_precision`)"
_DOCUMENTS, _SHORT, _LOOKED_AT = 10, 0.1, 100
"""Documents of each query that `simulate` shows if nothing is said; the share of queries that may have fewer; the most
files that are looked at."""


def describe_judged(beginning: Beginning) -> Description | None:
    """Describe runs of TREC, their judgments, or both; None of anything else. Of several runs it is the first."""
    kinds: dict[str, list[str]] = {}
    for each in _files(beginning):
        kinds.setdefault(kind_of_trec(each.text), []).extend(each.paths)
    if not kinds or not kinds.keys() <= {"run", "qrels"}:
        return None
    qrels = [*kinds.get("qrels", ()), ""][0]
    if "run" not in kinds:
        instead = f"{_BY_JUDGMENTS}: give both, `{shlex.join(['offrank', 'inspect', 'RUN', qrels])}`"
        return Description("pairs", lacks=f"these are judgments of TREC, {_NO_CLICKS}", instead=instead)
    try:
        return (_of_both if qrels else _of_run)(kinds["run"], qrels)
    except OffrankError as error:
        return Description("pairs", lacks=f"it is a TREC run, {_NO_CLICKS}; {error.message}", instead=error.remedy)


def _files(beginning: Beginning) -> Sequence[Beginning]:
    """Return the beginning of each file; none of too many."""
    if len(beginning.paths) < 2:
        return [beginning]
    return [Beginning.of(path) for path in beginning.paths] if len(beginning.paths) <= _LOOKED_AT else []


def _of_run(runs: Sequence[str], _qrels: str) -> Description:
    instead = f"{_BY_JUDGMENTS}: give both, `{shlex.join(['offrank', 'inspect', runs[0], 'QRELS'])}`"
    return Description("pairs", lacks=f"{_what(runs, *size_of_run(runs[0]))}, {_NO_CLICKS}", instead=instead)


def _of_both(runs: Sequence[str], qrels: str) -> Description:
    """Describe a run with its judgments; most of its queries have as many documents as the command asks for."""
    found = read_trec(runs[0], qrels)
    documents = min(_DOCUMENTS, int(np.quantile(found.sizes, _SHORT, method="higher")))
    words = ["offrank", "simulate", "--data", runs[0], "--qrels", qrels, "-o", "simulated.parquet"]
    words += ["--documents", str(documents)] if documents < _DOCUMENTS else []
    what = _what(runs, len(found), int(found.sizes.max()))
    return Description(
        "pairs",
        lacks=f"{what}, with judgments, {_NO_CLICKS}",
        instead=f"{_BY_JUDGMENTS}, and clicks can be simulated on it",
        command=shlex.join(words),
    )


def _what(runs: Sequence[str], queries: int, depth: int) -> str:
    it = "it is a TREC run" if len(runs) == 1 else f"these are {len(runs)} runs of TREC, the first"
    return f"{it} of {queries:,} queries with up to {depth:,} documents each"
