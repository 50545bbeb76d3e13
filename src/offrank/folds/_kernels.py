"""Compiled loops of the folds. `values` is [n, d], row-major."""

from __future__ import annotations

import numba
import numpy as np

_fast = numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})

POISSON = np.array(
    # P(Poisson(1) <= j) * 2^16, rounded: a 16-bit draw is compared with these.
    np.round(65536 * np.cumsum(np.exp(-1.0) / np.array([1, 1, 2, 6, 24, 120, 720, 5040, 40320], float))),
    dtype=np.uint32,
)


@numba.njit(cache=True, nogil=True, inline="always")
def _mix(x):
    """splitmix64: neighbouring integers become independent 64-bit words."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@_fast
def moments(values):
    """Mean, centred co-moments, least and largest of each column, in two passes over the rows."""
    n, d = values.shape
    mean, least, largest = np.zeros(d), np.full(d, np.inf), np.full(d, -np.inf)
    for row in range(n):
        for a in range(d):
            x = values[row, a]
            mean[a] += x
            least[a] = min(least[a], x)
            largest[a] = max(largest[a], x)
    mean /= n
    comoment = np.zeros((d, d))
    centred = np.empty(d)
    for row in range(n):
        for a in range(d):
            centred[a] = values[row, a] - mean[a]
        for a in range(d):
            x = centred[a]
            for b in range(a, d):
                comoment[a, b] += x * centred[b]
    for a in range(d):
        for b in range(a):
            comoment[a, b] = comoment[b, a]
    return mean, comoment, least, largest


@_fast
def poisson_sums(sums, values, key, thresholds):
    """Add every row, times its Poisson(1) multiplicity, to each replicate's sums [B, d].

    The multiplicity depends on (key, replicate) alone. Each 64-bit word gives four draws.
    """
    n, d = values.shape
    replicates = sums.shape[0]
    times = np.empty(replicates + 4)
    for row in range(n):
        seed = _mix(key[row])
        for start in range(0, replicates, 4):
            word = _mix(seed + np.uint64(start))
            for lane in range(4):
                draw = np.uint32((word >> np.uint64(16 * lane)) & np.uint64(0xFFFF))
                count = 0
                for j in range(thresholds.shape[0]):
                    count += draw >= thresholds[j]
                times[start + lane] = count
        for b in range(replicates):
            for a in range(d):
                sums[b, a] += times[b] * values[row, a]


@_fast
def bucket_sums(sums, values, key):
    """Add every row to the bucket of its key. sums [G, d], G a power of two."""
    n, d = values.shape
    mask = np.uint64(sums.shape[0] - 1)
    for row in range(n):
        bucket = _mix(key[row] ^ np.uint64(0x5851F42D4C957F2D)) & mask
        for a in range(d):
            sums[bucket, a] += values[row, a]


@_fast
def half_octaves(counts, values, columns):
    """Count positive values in bins at 2^e and 1.5 * 2^e, read off the bits of the float; zeros in bin 0.

    counts [len(columns), 4096]; bin b holds values whose exponent and first mantissa bit are b.
    """
    for row in range(values.shape[0]):
        for line in range(len(columns)):
            bits = np.float64(values[row, columns[line]]).view(np.int64)
            counts[line, bits >> 51] += 1
