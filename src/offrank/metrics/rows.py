"""Some rows of a batch's contexts."""

from __future__ import annotations

from ..log.batch import Contexts, Integers


def taken(contexts: Contexts, rows: Integers) -> Contexts:
    """The contexts of some rows, padded to the widest of them."""
    length = contexts.length[rows]
    slots, matrices = int(length.max(initial=0)), contexts.rank_propensity
    return Contexts(
        contexts.candidates[rows],
        contexts.size[rows],
        length,
        {name: score[rows] for name, score in contexts.scores.items()},
        {name: ranking[rows] for name, ranking in contexts.rankings.items()},
        {name: key[rows] for name, key in contexts.keys.items()},
        None if contexts.propensity is None else contexts.propensity[rows],
        None if matrices is None else matrices[rows, :slots, :slots],
    )
