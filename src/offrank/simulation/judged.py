"""From a learning-to-rank set to the queries of a simulated world: equally many documents each."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from ..errors import EmptyLogError, UsageError
from ..log.batch import Integers
from ..log.judged import Judged

Preset = Literal["paper", "published-code"]
"""Which of the two, where the text of paper cmip-debiasedness and the code published with it differ."""


def stratified(judged: Judged, documents: int = 10, seed: int = 0, *, preset: Preset = "paper") -> tuple[Judged, int]:
    """(queries with `documents` documents each, how many queries were dropped): a sample stratified by grade.

    Paper cmip-debiasedness, section 5.1.2. A query keeps the proportions of its grades as well as whole numbers can;
    which documents of a grade stay, and the order in which they stand, is random, and the same for the same seed.

    - preset "paper": places go to grades by largest remainders, of equal ones to the higher grade first. Only
      queries with fewer documents are dropped.
    - preset "published-code": a grade gets its share rounded to a whole number; where that makes too many, documents
      of the lowest grades are left out, and where it makes too few, the query is dropped.

    Raises:
        UsageError: fewer than 1 document, no such preset.
        EmptyLogError: no query is left.
    """
    if documents < 1:
        raise UsageError(f"documents is {documents!r}", "give at least 1")
    if preset not in get_args(Preset):
        raise UsageError(f"preset is {preset!r}", 'say "paper" or "published-code"')
    rng = np.random.default_rng(seed)
    _, grade = np.unique(judged.grade, return_inverse=True)
    owner, grades = judged.owner, int(grade.max(initial=0)) + 1
    counts = np.bincount(owner * grades + grade, minlength=len(judged) * grades).reshape(len(judged), grades)
    places = (_largest_remainders if preset == "paper" else _rounded)(counts, judged.sizes[:, None], documents)
    kept = np.flatnonzero((judged.sizes >= documents) & (places.sum(axis=1) == documents))
    if not len(kept):
        raise EmptyLogError(f"no query has {documents} documents", "ask for fewer documents per query")
    order = np.lexsort((rng.random(judged.rows), grade, owner))
    before = np.cumsum(counts) - counts.ravel()
    rank = np.arange(judged.rows) - before[(owner * grades + grade)[order]]
    rows = order[rank < places[owner[order], grade[order]]]
    rows = rows[np.lexsort((rng.random(len(rows)), owner[rows]))]
    rows = rows[np.isin(owner[rows], kept)]
    return judged.pick(kept, np.full(len(kept), documents), rows), len(judged) - len(kept)


def _largest_remainders(counts: Integers, sizes: Integers, documents: int) -> Integers:
    """[q, grades] whole numbers nearest to the grades' shares of `documents`, which is their sum."""
    places, rest = np.divmod(documents * counts, np.maximum(sizes, 1))
    missing = documents - places.sum(axis=1, keepdims=True)
    order = np.argsort(-rest[:, ::-1], axis=1, kind="stable")
    rank = np.argsort(order, axis=1)[:, ::-1]
    return np.asarray(places + (rank < missing))


def _rounded(counts: Integers, sizes: Integers, documents: int) -> Integers:
    """[q, grades] each share rounded, halves to even; what is too many is taken from the lowest grades."""
    places = np.round(documents / np.maximum(sizes, 1) * counts).astype(np.int64)
    from_the_top = np.minimum(np.cumsum(places[:, ::-1], axis=1), documents)
    return np.diff(from_the_top, axis=1, prepend=0)[:, ::-1]
