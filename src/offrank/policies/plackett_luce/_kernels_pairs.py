# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops over the sets of items that can be above, where candidates of equal weight are one type.

The items drawn so far are a multiset of types, which determines its probability. A state lists
the drawn types in ascending order, and the states of a size are numbered in the order of their counts.
"""

from __future__ import annotations

import numpy as np

from ...language.compiled import jit


@jit
def numbering(counts, length):
    """before [types, c, r]: states of r draws from this type on that have fewer than c of it; sizes [length + 1]."""
    types = len(counts)
    ways = np.zeros(length + 1)  # floats: the numbers of states may exceed any integer
    ways[0] = 1.0
    before = np.zeros((types, length + 2, length + 1))
    for kind in range(types - 1, -1, -1):
        for left in range(length + 1):
            for count in range(1, length + 2):
                more = ways[left - count + 1] if count - 1 <= min(left, counts[kind]) else 0.0
                before[kind, count, left] = before[kind, count - 1, left] + more
        for left in range(length + 1):
            ways[left] = before[kind, length + 1, left]
    return before, ways


@jit
def _number(state, skip, before):
    """The index of a state without its entry `skip` (none: -1)."""
    size = len(state) - (skip >= 0)
    number, index, left = 0.0, 0, size
    while index < len(state):
        kind, count = state[index], 0
        while index < len(state) and state[index] == kind:
            count += index != skip
            index += 1
        if count:
            number += before[kind, count, left]
            left -= count
    return int(number)


@jit
def _extended(states, counts, before, size):
    """The states with one more draw than the given states."""
    drawn = states.shape[1]
    found = np.empty((size, drawn + 1), dtype=np.int16)
    state = np.empty(drawn + 1, dtype=np.int16)
    for row in range(len(states)):
        state[:drawn] = states[row]
        last = state[drawn - 1] if drawn else 0
        for kind in range(last, len(counts)):
            if kind == last and drawn >= counts[kind] and state[drawn - counts[kind]] == kind:
                continue  # all of this type are drawn
            state[drawn] = kind
            found[_number(state, -1, before)] = state
    return found


@jit
def _shares(state, weights, counts, share):
    """share [types] <- probability of each type for the next draw; zeros are equally likely among themselves."""
    for kind in range(len(counts)):
        share[kind] = counts[kind]
    for kind in state:
        share[kind] -= 1.0
    left, mass = share.sum(), 0.0
    for kind in range(len(counts)):
        mass += share[kind] * weights[kind]
    for kind in range(len(counts)):
        share[kind] *= weights[kind] / mass if mass > 0.0 else 1.0 / left


@jit
def _arrive(state, before, old_chance, old_paths, old_flow, paths):
    """Chance of a state, and paths [rank, place] <- chance that the type at this place was drawn at this rank.

    old_flow [states, types]: chance of each next draw.
    """
    drawn = len(state)
    chance = 0.0
    paths[:] = 0.0
    for place in range(drawn):
        kind = state[place]
        if place + 1 < drawn and state[place + 1] == kind:
            continue  # the last of its type is removed, so that first places stay where they are
        first = place
        while first > 0 and state[first - 1] == kind:
            first -= 1
        came = _number(state, place, before)
        flow = old_flow[came, kind]
        chance += old_chance[came] * flow
        paths[drawn - 1, first] += old_chance[came] * flow
        for rank in range(drawn - 1):
            for other in range(place):
                paths[rank, other] += flow * old_paths[came, rank, other]
            for other in range(place, drawn - 1):
                paths[rank, other + 1] += flow * old_paths[came, rank, other]
    return chance


@jit
def type_pairs(weights, counts, length):
    """(single [length, types], pairs [length, length, types, types]) for types of weight and count.

    single[k, B]: P(type B at rank k); pairs[k, j, A, B]: P(type A at rank j and B at k), j < k.
    """
    types = len(counts)
    before, sizes = numbering(counts, length)
    single, pairs = np.zeros((length, types)), np.zeros((length, length, types, types))
    states, chance = np.zeros((1, 0), dtype=np.int16), np.ones(1)
    paths, flow = np.zeros((1, 0, 0)), np.zeros((1, types))
    for rank in range(length):
        if rank > 0:
            old_chance, old_paths, old_flow = chance, paths, flow
            states = _extended(states, counts, before, int(sizes[rank]))
            chance, paths = np.empty(len(states)), np.empty((len(states), rank, rank))
            flow = np.empty((len(states) if rank < length - 1 else 1, types))  # the last draws have no successors
            for row in range(len(states)):
                chance[row] = _arrive(states[row], before, old_chance, old_paths, old_flow, paths[row])
        for row in range(len(states)):
            state, share = states[row], flow[row % len(flow)]
            _shares(state, weights, counts, share)
            for kind in range(types):
                single[rank, kind] += chance[row] * share[kind]
            for place in range(rank):
                for above in range(rank):
                    if paths[row, above, place] > 0.0:
                        into, path = pairs[rank, above, state[place]], paths[row, above, place]
                        for kind in range(types):
                            into[kind] += path * share[kind]
    return single, pairs


@jit
def type_laws(weights, slots, rows, laws):
    """laws [g, m, slots, m, slots] <- P(item at rank and other item at other rank) of these rows of weights [g, m]."""
    m = weights.shape[1]
    for row in rows:
        order, largest = np.argsort(weights[row], kind="mergesort"), max(weights[row].max(), 1e-300)
        levels, counts, kinds = np.zeros(m), np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
        types = 0
        for place in range(m):
            level = weights[row, order[place]] / largest
            if place == 0 or level != levels[types - 1]:
                levels[types] = level
                types += 1
            counts[types - 1] += 1
            kinds[order[place]] = types - 1
        single, pairs = type_pairs(levels[:types], counts[:types], slots)
        _spread_out(single, pairs, counts, kinds, laws[row])


@jit
def _spread_out(single, pairs, counts, kinds, law):
    """law [m, slots, m, slots] <- the probabilities of types in equal shares for their items."""
    m, slots = len(kinds), len(single)
    for a in range(m):
        for rank in range(slots):
            law[a, rank, a, rank] = single[rank, kinds[a]] / counts[kinds[a]]
        for b in range(m):
            if a == b:
                continue
            ways = counts[kinds[a]] * (counts[kinds[b]] - (kinds[a] == kinds[b]))
            for rank in range(slots):
                for above in range(rank):
                    share = pairs[rank, above, kinds[a], kinds[b]] / ways
                    law[a, above, b, rank] = share
                    law[b, rank, a, above] = share
