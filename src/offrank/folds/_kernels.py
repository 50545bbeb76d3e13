"""Compiled loops of the folds. `values` is [n, d], row-major."""

from __future__ import annotations

import numba
import numpy as np

from ..log.hashing import splitmix64

_fast = numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})

POISSON = np.array(
    # P(Poisson(1) <= j) * 2^16, rounded, to compare with 16-bit draws. Counts above 8 never occur.
    np.round(65536 * np.cumsum(np.exp(-1.0) / np.array([1, 1, 2, 6, 24, 120, 720, 5040], float))),
    dtype=np.uint16,
)


@_fast
def moments(values):
    """Mean, centred co-moments, minimum and maximum of each column, in two passes over the rows.

    Columns that are constant, such as the count of rows, have co-moments of exactly 0, and take no time.
    """
    n, d = values.shape
    mean, least, largest = np.zeros(d), np.full(d, np.inf), np.full(d, -np.inf)
    for row in range(n):
        for a in range(d):
            x = values[row, a]
            mean[a] += x
            least[a] = min(least[a], x)
            largest[a] = max(largest[a], x)
    for a in range(d):
        mean[a] /= n
    comoment, vary = np.zeros((d, d)), np.flatnonzero(least != largest)
    block = 128  # rows, transposed so that the innermost loops vectorise
    centred = np.empty((d, block))
    for first in range(0, n, block):
        rows = min(block, n - first)
        for a in range(len(vary)):
            for i in range(rows):
                centred[a, i] = values[first + i, vary[a]] - mean[vary[a]]
            for b in range(a + 1):
                total = 0.0
                for i in range(rows):
                    total += centred[a, i] * centred[b, i]
                comoment[vary[a], vary[b]] += total
    for a in range(d):
        for b in range(a):
            comoment[b, a] = comoment[a, b]
    return mean, comoment, least, largest


@_fast
def third_moments(values, mean, columns):
    """[c, c, c] sums of the products of three centred columns."""
    n, d, block = values.shape[0], len(columns), 128
    found = np.zeros((d, d, d))
    centred, product = np.empty((d, block)), np.empty(block)
    for first in range(0, n, block):
        rows = min(block, n - first)
        for a in range(d):
            for i in range(rows):
                centred[a, i] = values[first + i, columns[a]] - mean[columns[a]]
            for b in range(a + 1):
                for i in range(rows):
                    product[i] = centred[a, i] * centred[b, i]
                for c in range(b + 1):
                    total = 0.0
                    for i in range(rows):
                        total += product[i] * centred[c, i]
                    found[a, b, c] += total
    for a in range(d):
        for b in range(a + 1):
            for c in range(b + 1):
                one = found[a, b, c]
                found[a, c, b], found[b, a, c], found[b, c, a], found[c, a, b], found[c, b, a] = one, one, one, one, one
    return found


@_fast
def poisson_sums(sums, values, key, thresholds):
    """Add every row, times its Poisson(1) multiplicity, to each replicate's sums [d, B].

    The multiplicity depends on (key, replicate) alone. Each 64-bit word gives four draws. Loops
    over replicates are innermost, so that they vectorise.
    """
    n, d = values.shape
    replicates = sums.shape[1]
    words = np.empty((replicates + 3) // 4, dtype=np.uint64)
    draws = words.view(np.uint16)
    times = np.empty(len(draws))
    for row in range(n):
        seed = splitmix64(key[row])
        for word in range(len(words)):
            words[word] = splitmix64(seed + np.uint64(4 * word))
        for b in range(len(draws)):
            count = 0
            for j in range(8):
                count += draws[b] >= thresholds[j]
            times[b] = count
        for a in range(d):
            x = values[row, a]
            for b in range(replicates):
                sums[a, b] += times[b] * x


@_fast
def bucket_sums(sums, values, key):
    """Count every row in the bucket of its key and add its values there. sums [G, 1 + d], G a power of two."""
    n, d = values.shape
    mask = np.uint64(sums.shape[0] - 1)
    for row in range(n):
        bucket = splitmix64(key[row] ^ np.uint64(0x5851F42D4C957F2D)) & mask
        sums[bucket, 0] += 1
        for a in range(d):
            sums[bucket, 1 + a] += values[row, a]


@_fast
def half_octaves(counts, values, columns):
    """Count values in bins at 2^e and 1.5 * 2^e, read off the bits of the float; zeros in bin 0.

    counts [len(columns), 8192]; bin b holds values whose sign, exponent and first mantissa bit are b, so that
    negative values are in the upper half.
    """
    for row in range(values.shape[0]):
        for line in range(len(columns)):
            bits = np.float64(values[row, columns[line]]).view(np.uint64)
            counts[line, bits >> np.uint64(51)] += 1
