"""Compiled loops of the pseudoinverse estimator.

A coordinate is item * k + slot: a slate is k coordinates, an inverse a matrix of coordinates.
"""

from __future__ import annotations

import numpy as np

from ...language.compiled import jit

ILL_CONDITIONED = 1e10
TOLERANCE = 1e-7


@jit
def uniform_weights(target, size, length, k):
    """[n] q' Gamma^+ 1_s under uniform logging, from the target's law over the displayed items only.

    target: the arrays of a `RankLaw`. Paper slate-pseudoinverse, Eqs. 23 and 26, expected over the target.
    """
    dense, first, width, spread, point = target
    n, full = len(length), dense.size > 0
    out = np.empty(n)
    for row in range(n):
        m, slots = size[row], min(length[row], k)
        same, shown = 0.0, 0.0
        for i in range(slots):
            if full:
                same += dense[row, i, i]
                for j in range(slots):
                    shown += dense[row, i, j]
            else:
                start, wide = first[row, i], width[row, i]
                same += spread[row] + (point[row] / wide if start <= i < start + wide else 0.0)
                shown += spread[row] * slots
                if start >= 0:
                    shown += point[row] * (min(start + wide, slots) - start) / wide
        if slots < m:
            out[row] = 1.0 + (m - 1) * (same + (shown - slots) / (m - slots))
        else:
            out[row] = (m - 1) * same - m + 2.0
    return out


@jit
def slate_weights(matrices, which, wanted, shown):
    """[n] 1_w' Gamma^+ 1_s for the coordinates wanted and shown, both [n, k]; matrices [g, m k, m k], which [n]."""
    n, k = shown.shape
    out = np.zeros(n)
    for row in range(n):
        for i in range(k):
            line = matrices[which[row], wanted[row, i]]
            for j in range(k):
                out[row] += line[shown[row, j]]
    return out


@jit
def expected_weights(matrices, which, wanted, shown):
    """[n] q' Gamma^+ 1_s for expected indicators wanted [n, m * k] and coordinates shown [n, k]."""
    n, k = shown.shape
    out = np.zeros(n)
    for row in range(n):
        for j in range(k):
            line = matrices[which[row], shown[row, j]]
            for i in range(len(line)):
                out[row] += wanted[row, i] * line[i]
    return out


@jit
def supported(wanted, possible, null):
    """[n] whether expected indicators wanted [n, c] are 0 where not `possible`, and orthogonal to null [c, d]."""
    n, c = wanted.shape
    found = np.ones(n, dtype=np.bool_)
    outside = np.empty(null.shape[1])
    for row in range(n):
        outside[:] = 0.0
        for i in range(c):
            found[row] &= possible[i] or not wanted[row, i] > TOLERANCE
            for j in range(len(outside)):
                outside[j] += wanted[row, i] * null[i, j]
        for j in range(len(outside)):
            found[row] &= abs(outside[j]) < TOLERANCE
    return found


@jit
def invert_all(gamma, null, least, out):
    """[g] whether out [g, n, n] is the pseudoinverse of Gamma [g, n, n], each with the null space null [n, d].

    least: the smallest marginal probability that is not zero.
    """
    found = np.zeros(len(gamma), dtype=np.bool_)
    for row in range(len(gamma)):
        found[row] = True
        for i in range(gamma.shape[1]):
            found[row] &= gamma[row, i, i] > least
        if found[row]:
            found[row] = pseudoinverse_of(gamma[row], null, out[row])
    return found


@jit
def pseudoinverse_of(gamma, null, out):
    """Whether out [n, n] <- the pseudoinverse of Gamma [n, n], by one Cholesky factor; not if its null space is larger.

    For small matrices: in a linear algebra library, thread synchronisation takes longer than this does.
    """
    n, d = null.shape
    root, full = np.empty(n), np.empty((n, n))
    for i in range(n):
        root[i] = np.sqrt(gamma[i, i])
    unseen = _orthonormal(null, root)
    for i in range(n):
        for j in range(i + 1):
            total = gamma[i, j] / root[i] / root[j]
            for c in range(d):
                total += unseen[i, c] * unseen[j, c]
            full[i, j] = full[j, i] = total
    positive = _inverse_of_positive(full, out)
    if not positive or _norm(full) * _norm(out) > ILL_CONDITIONED:
        return False
    for i in range(n):
        for j in range(n):
            out[i, j] = out[i, j] / root[i] / root[j]
    _project(out, null)
    return _solves_itself(gamma, out)


@jit
def _orthonormal(null, root):
    """[n, d] an orthonormal basis of the columns of null [n, d], row i times root[i]: Gram-Schmidt, twice."""
    n, d = null.shape
    basis = np.empty((n, d))
    for c in range(d):
        for i in range(n):
            basis[i, c] = null[i, c] * root[i]
        for _ in range(2):
            for before in range(c):
                common = 0.0
                for i in range(n):
                    common += basis[i, before] * basis[i, c]
                for i in range(n):
                    basis[i, c] -= common * basis[i, before]
            length = 0.0
            for i in range(n):
                length += basis[i, c] ** 2
            for i in range(n):
                basis[i, c] /= np.sqrt(length)
    return basis


@jit
def _norm(matrix):
    """The largest sum of absolute values of a row, of a symmetric matrix."""
    largest = 0.0
    for i in range(len(matrix)):
        total = 0.0
        for j in range(len(matrix)):
            total += abs(matrix[i, j])
        largest = max(largest, total)
    return largest


@jit
def _project(matrix, null):
    """matrix <- P M P with P = I - N N', for symmetric M [n, n] and orthonormal N [n, d]."""
    n, d = null.shape
    for side in range(2):
        for c in range(d):
            for j in range(n):
                common = 0.0
                for i in range(n):
                    common += null[i, c] * (matrix[i, j] if side == 0 else matrix[j, i])
                for i in range(n):
                    if side == 0:
                        matrix[i, j] -= null[i, c] * common
                    else:
                        matrix[j, i] -= null[i, c] * common


@jit
def _solves_itself(gamma, inverse):
    """Whether Gamma Gamma^+ q = q for the logging policy's own q, the diagonal of Gamma: a check on the null space."""
    n = len(gamma)
    solved = np.zeros(n)
    for i in range(n):
        for j in range(n):
            solved[i] += inverse[i, j] * gamma[j, j]
    worst = 0.0
    for i in range(n):
        found = 0.0
        for j in range(n):
            found += gamma[i, j] * solved[j]
        worst = max(worst, abs(found - gamma[i, i]))
    return worst < TOLERANCE


@jit
def _inverse_of_positive(matrix, inverse):
    """Whether inverse [n, n] <- the inverse of a positive definite matrix, by its Cholesky factor."""
    n = len(matrix)
    factor, lower = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i > j:
                factor[i, j] = total / factor[j, j]
            elif total > 0.0:
                factor[i, i] = np.sqrt(total)
            else:
                return False
    for i in range(n):  # lower = factor^-1, row by row
        for k in range(i):
            for j in range(k + 1):
                lower[i, j] -= factor[i, k] * lower[k, j]
        lower[i, i] = 1.0
        for j in range(i + 1):
            lower[i, j] /= factor[i, i]
    inverse[:] = 0.0
    for k in range(n):  # inverse = lower' lower
        for i in range(k + 1):
            for j in range(i + 1):
                inverse[i, j] += lower[k, i] * lower[k, j]
    for i in range(n):
        for j in range(i):
            inverse[j, i] = inverse[i, j]
    return True
