"""Compiled loops: scores of trees; slates from scores of candidates in slots, and their law where candidates tie.

scores: [n, m, k]; a row has `size` candidates and `length` slots. Candidates with equal scores in all slots tie.
"""

from __future__ import annotations

import numpy as np

from ...language.compiled import inlined, jit


@inlined
def _first_difference(scores, row, one, other, length):
    """The first slot in which two candidates differ, or `length`."""
    for slot in range(length):
        if scores[row, one, slot] != scores[row, other, slot]:
            return slot
    return length


@jit
def greedy_slates(scores, size, length):
    """[n, k] slates that take the pair of highest score first, then the next whose slot and candidate are free.

    Among equal pairs the highest slot comes first, then the candidate with the larger scores from the first slot on.
    """
    n, m, k = scores.shape
    slates, used = np.full((n, k), -1), np.zeros(m, np.bool_)
    for row in range(n):
        used[:] = False
        for _ in range(min(length[row], size[row])):
            best, item = -1, -1
            for slot in range(length[row]):
                if slates[row, slot] >= 0:
                    continue
                for one in range(size[row]):
                    if used[one]:
                        continue
                    if best < 0 or scores[row, one, slot] > scores[row, item, best]:
                        best, item = slot, one
                    elif slot == best and scores[row, one, slot] == scores[row, item, slot]:
                        at = _first_difference(scores, row, one, item, length[row])
                        if at < length[row] and scores[row, one, at] > scores[row, item, at]:
                            item = one
            slates[row, best] = item
            used[item] = True
    return slates


@jit
def tied_classes(scores, size, length, slates):
    """Candidates that tie with a chosen one: [n, m] first slot of a tied candidate or -1, [n, k] that slot, and number.

    slates: [n, k] the chosen candidates; the classes of ties are named by the first slot that holds one of them.
    """
    n, m, k = scores.shape
    member, named, count = np.full((n, m), -1), np.full((n, k), -1), np.zeros((n, k), np.int64)
    for row in range(n):
        for slot in range(k):
            chosen = slates[row, slot]
            if chosen < 0:
                continue
            if member[row, chosen] < 0:
                for one in range(size[row]):
                    if _first_difference(scores, row, one, chosen, length[row]) == length[row]:
                        member[row, one] = slot
                        count[row, slot] += 1
            named[row, slot] = member[row, chosen]
            count[row, slot] = count[row, named[row, slot]]
    return member, named, count


@jit
def tied_slot_probs(member, named, count, slates):
    """[n, k] probability of each slot's item given the slots above; 1 on pads."""
    n, k = slates.shape
    out = np.ones((n, k))
    for row in range(n):
        for slot in range(k):
            item = slates[row, slot]
            if item < 0:
                continue
            if slot >= named.shape[1] or named[row, slot] < 0 or member[row, item] != named[row, slot]:
                out[row, slot] = 0.0
                continue
            above = 0
            for other in range(slot):
                above += named[row, other] == named[row, slot]
                if slates[row, other] == item:
                    above = count[row, slot]
                    break
            out[row, slot] = 1.0 / (count[row, slot] - above) if above < count[row, slot] else 0.0
    return out


@jit
def tied_slates(member, named, luck):
    """[n, k] slates drawn: each slot takes the free candidate of its class with the smallest luck [n, m]."""
    n, k = named.shape
    slates, used = np.full((n, k), -1), np.zeros(member.shape[1], np.bool_)
    for row in range(n):
        used[:] = False
        for slot in range(k):
            if named[row, slot] < 0:
                continue
            best = -1
            for item in range(member.shape[1]):
                free = member[row, item] == named[row, slot] and not used[item]
                if free and (best < 0 or luck[row, item] < luck[row, best]):
                    best = item
            slates[row, slot], used[best] = best, True
    return slates


@jit
def forest_scores(first, feature, threshold, left, right, value, dense, offsets, indices, values, width, out):
    """Set out [rows, slots] to the sum of the leaves; one slot: the trees have no features of slots.

    first, feature ... value: as `TreeEnsemble.trees`. offsets, indices, values: rows of a CSR matrix; if they
    are dense, the indices are those of every row.
    """
    slots = out.shape[1]
    row_of = np.zeros(width + slots)
    for row in range(len(out)):
        for at in range(offsets[row], offsets[row + 1]):
            row_of[indices[at - offsets[row] if dense else at]] += values[at]
        for slot in range(slots):
            row_of[width + slot] = 1.0
            total = 0.0
            for tree in range(len(first) - 1):
                node, start = 0, first[tree, 0]
                if first[tree + 1, 0] == start:
                    node = -1
                while node >= 0:
                    inside = row_of[feature[start + node]] <= threshold[start + node]
                    node = left[start + node] if inside else right[start + node]
                total += value[first[tree, 1] - 1 - node]
            out[row, slot] = total
            row_of[width + slot] = 0.0
        for at in range(offsets[row], offsets[row + 1]):
            row_of[indices[at - offsets[row] if dense else at]] = 0.0
