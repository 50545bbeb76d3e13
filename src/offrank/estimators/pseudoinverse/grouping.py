"""Groups of contexts in which a policy acts alike, found by the content of the columns that it reads.

The content is what the policy needs: its scores, rankings, keys and features, and the ids of the items unless
it is exchangeable. Where it reads one column and no ids, candidates are first sorted by that column:
logs whose scores follow from the rank alone then have one Gamma for each number of candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...log.batch import Contexts, Floats, Integers
from ...log.contexts import content, distinct, reordered
from ...log.source import Needs


def relevant(contexts: Contexts, needed: Needs) -> Contexts:
    """The contexts without everything a policy does not read: other columns, ids, and rankings below the last slot."""
    return replace(
        contexts,
        candidates=np.zeros_like(contexts.candidates) if needed.exchangeable else contexts.candidates,
        scores={name: contexts.scores[name] for name in sorted(needed.scores)},
        rankings={name: _cut(contexts.rankings[name], contexts.length) for name in sorted(needed.rankings)},
        keys={name: contexts.keys[name] for name in sorted(needed.keys)},
        features=contexts.features if "features" in needed.roles else None,
    )


@dataclass(frozen=True)
class Grouped:
    """Rows grouped by content.

    group: [n]. contexts: one row for each group, candidates in the group's own order. place: [n', m]
    position of each candidate there, by distinct row; row: [n] index into it.
    """

    contexts: Contexts
    group: Integers
    place: Integers
    row: Integers

    def kinds(self) -> Iterator[tuple[Integers, Integers]]:
        """The groups of each number of candidates and slots, and their rows."""
        shape = np.column_stack([self.contexts.size, self.contexts.length])
        kind = np.unique(shape, axis=0, return_inverse=True)[1].reshape(-1)
        rows = _split(kind[self.group])
        yield from ((groups, rows[number]) for number, groups in enumerate(_split(kind)))

    def coordinates(self, rows: Integers, slates: Integers) -> Integers:
        """[r, k] item * k + slot of slates [r, k], in the group's order of candidates."""
        slots = slates.shape[1]
        return np.take_along_axis(self.place[self.row[rows]], slates, axis=1) * slots + np.arange(slots)

    def reordered(self, rows: Integers, law: Floats) -> Floats:
        """[r, m * k] indicators law [r, m, k] in the group's order of candidates."""
        order = np.argsort(self.place[self.row[rows], : law.shape[1]], axis=1, kind="stable")
        return np.take_along_axis(law, order[:, :, None], axis=1).reshape(len(rows), -1)


def grouped(contexts: Contexts) -> Grouped:
    """Group contexts by their content; with one column and without ids or features, regardless of candidate order."""
    first, row = distinct(content(contexts))
    contexts = contexts.take(first)
    order = _order(contexts)
    place = np.argsort(order, axis=1, kind="stable")
    if contexts.features is None:  # else the order stays
        contexts = reordered(contexts, order)
    first, group = distinct(content(contexts))
    return Grouped(contexts.take(first), group[row], place, row)


def unpadded(contexts: Contexts) -> Contexts:
    """Contexts of one number of candidates and slots, without their pads."""
    size, length = contexts.size.max(initial=0), contexts.length.max(initial=0)
    return replace(
        contexts,
        candidates=contexts.candidates[:, :size],
        scores={name: values[:, :size] for name, values in contexts.scores.items()},
        rankings={name: values[:, :length] for name, values in contexts.rankings.items()},
    )


def _split(kind: Integers) -> list[Integers]:
    """The indices of each kind 0, 1, ... in order."""
    order = np.argsort(kind, kind="stable")
    return np.split(order, np.cumsum(np.bincount(kind))[:-1])


def _cut(ranking: Integers, length: Integers) -> Integers:
    ranking = ranking[:, : length.max(initial=0)]
    return np.where(np.arange(ranking.shape[1]) < length[:, None], ranking, -1)


def _order(contexts: Contexts) -> Integers:
    """[n, m] the candidates sorted by the only column, best first (ties in given order); else in given order."""
    n, m = contexts.candidates.shape
    inside = np.arange(m) < contexts.size[:, None]
    if contexts.features is not None or contexts.candidates.any():
        return np.broadcast_to(np.arange(m), (n, m))
    if len(contexts.scores) == 1 and not contexts.rankings and not contexts.keys:
        (scores,) = contexts.scores.values()
        return np.argsort(np.where(inside, -scores, np.inf), axis=1, kind="stable")
    if len(contexts.rankings) == 1 and not contexts.scores and not contexts.keys:
        (ranking,) = contexts.rankings.values()
        return np.argsort(np.where(inside, places(ranking, m), ranking.shape[1] + 1), axis=1, kind="stable")
    return np.broadcast_to(np.arange(m), (n, m))


def places(ranking: Integers, candidates: int) -> Integers:
    """[n, m] the first place of each candidate in a ranking [n, w], w where it is not ranked."""
    out = np.full((len(ranking), candidates), ranking.shape[1])
    row, rank = np.nonzero(ranking >= 0)
    out[row[::-1], ranking[row, rank][::-1]] = rank[::-1]
    return out
