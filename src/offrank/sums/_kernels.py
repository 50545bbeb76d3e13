"""Compiled loops of the folds. `values` is [d, n]: each column stands together, so that loops over rows vectorise.

Loops write to arrays of the caller: an array made inside takes longer to compile than most loops.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..language.compiled import jit, njit
from ..log.hashing import finish, hashed, splitmix64

_fast = njit(fastmath={"reassoc", "contract", "nsz", "arcp"})

POISSON = np.array(
    # P(Poisson(1) <= j) * 2^16, rounded, to compare with 16-bit draws. Counts above 8 never occur.
    np.round(65536 * np.cumsum(np.exp(-1.0) / np.array([1, 1, 2, 6, 24, 120, 720, 5040], float))),
    dtype=np.uint16,
)


_ABOVE = 1 + 1e-12
"""Moves what should be on an edge of a bin, such as a weight of 1, above it on every processor."""
_SPLIT, _HALF = 2.0**27 + 1, 1 << 26
"""They split a number into halves, whose products are exact."""
BLOCK = 128
"""Rows that are looked at together, while they are in the cache."""


@jit
def exact_means(values, scratch, mean, rest):
    """Fill in the mean [d] of each column, and what rounding took from it (Neumaier 1974). scratch [2, BLOCK]."""
    d, n = values.shape
    total, lost = scratch[0], scratch[1]
    for a in range(d):
        total[:], lost[:] = 0.0, 0.0
        for first in range(0, n, BLOCK):
            for i in range(min(BLOCK, n - first)):
                x = values[a, first + i]
                both = total[i] + x
                added = both - total[i]
                lost[i] += (total[i] - (both - added)) + (x - added)
                total[i] = both
        whole, left = 0.0, 0.0
        for i in range(BLOCK):
            both = whole + total[i]
            added = both - whole
            left += (whole - (both - added)) + (total[i] - added) + lost[i]
            whole = both
        mean[a] = (whole + left) / n if abs(left) < np.inf else whole / n
        big = _SPLIT * mean[a]  # the product with n, of which every factor has half of the digits (Dekker 1971)
        high = big - (big - mean[a])
        left += (whole - high * (n - n % _HALF)) - high * (n % _HALF) - (mean[a] - high) * n
        if abs(left) < np.inf:
            both = mean[a] + left / n
            rest[a] = left / n - (both - mean[a])
            mean[a] = both


@jit
def moments(values, mean, rest, comoment, least, largest, vary, scratch, columns, starts, third):
    """Fill mean and its rest [d], centred co-moments [d, d], minimum and maximum [d] of each column, in three passes.

    Columns that are constant, such as the count of rows, have co-moments of exactly 0, and take no time. Block b has
    c columns from columns[starts[b]] on; third has its sums [c, c, c] of products of three centred ones, block after
    block. vary [2, d], scratch [d + 3, BLOCK]: space to work in.
    """
    exact_means(values, scratch, mean, rest)
    _centred(values, mean, comoment, least, largest, vary, scratch, columns, starts, third)


@_fast
def _centred(values, mean, comoment, least, largest, vary, scratch, columns, starts, third):
    d, n = values.shape
    low, high, product, place = scratch[0], scratch[1], scratch[-1], vary[1]
    for a in range(d):
        low[:], high[:] = np.inf, -np.inf
        for first in range(0, n, BLOCK):
            for i in range(min(BLOCK, n - first)):
                x = values[a, first + i]
                low[i] = min(low[i], x)
                high[i] = max(high[i], x)
        for i in range(BLOCK):
            least[a] = min(least[a], low[i])
            largest[a] = max(largest[a], high[i])
    count = 0
    for a in range(d):
        vary[0, count], place[a] = a, count if least[a] != largest[a] else -1
        count += least[a] != largest[a]
    for first in range(0, n, BLOCK):
        rows = min(BLOCK, n - first)
        for a in range(count):
            column, middle = vary[0, a], mean[vary[0, a]]
            for i in range(rows):
                scratch[a, i] = values[column, first + i] - middle
            for b in range(a + 1):
                product_sum = 0.0
                for i in range(rows):
                    product_sum += scratch[a, i] * scratch[b, i]
                comoment[vary[0, a], vary[0, b]] += product_sum
        _add_thirds(scratch, product, rows, place, columns, starts, third)
    for a in range(d):
        for b in range(a):
            comoment[b, a] = comoment[a, b]
    _fill_thirds(starts, third)


@_fast
def _add_thirds(centred, product, rows, place, columns, starts, third):
    """Add the products of three centred columns of some rows, once for each three. place [d]: -1 if it is constant."""
    offset = 0
    for block in range(len(starts) - 1):
        first, d = starts[block], starts[block + 1] - starts[block]
        for a in range(d):
            x = place[columns[first + a]]
            for b in range(a + 1 if x >= 0 else 0):
                y = place[columns[first + b]]
                if y < 0:
                    continue
                for i in range(rows):
                    product[i] = centred[x, i] * centred[y, i]
                for c in range(b + 1):
                    z = place[columns[first + c]]
                    if z >= 0:
                        total = 0.0
                        for i in range(rows):
                            total += product[i] * centred[z, i]
                        third[offset + (a * d + b) * d + c] += total
        offset += d * d * d


@_fast
def _fill_thirds(starts, third):
    """Fill in the same products in other orders."""
    offset = 0
    for block in range(len(starts) - 1):
        d = starts[block + 1] - starts[block]
        found = third[offset : offset + d * d * d].reshape((d, d, d))
        for i in range(d):
            for j in range(i + 1):
                for k in range(j + 1):
                    found[i, k, j] = found[j, i, k] = found[j, k, i] = found[k, i, j] = found[k, j, i] = found[i, j, k]
        offset += d * d * d


@_fast
def poisson_sums(sums, values, key, thresholds):
    """Add every row, times its Poisson(1) multiplicity, to each replicate's sums [d, B].

    The multiplicity depends on (key, replicate) alone. Each 64-bit word gives four draws. Loops
    over replicates are innermost, so that they vectorise.
    """
    d, n = values.shape
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
            x = values[a, row]
            for b in range(replicates):
                sums[a, b] += times[b] * x


_SALT = np.uint64(0x5851F42D4C957F2D)
"""Makes the buckets of codes unlike other hashes of them."""


def bucket_of(code: NDArray[np.uint64], buckets: int) -> NDArray[np.uint64]:
    """[n] the bucket of each code. buckets: a power of two."""
    return hashed(code ^ _SALT) & np.uint64(buckets - 1)


@jit
def chunk_sums(place, shift, first, arm, code, values, looked, sums):
    """Add the values [n] of rows, and these times what is looked at [n], by arm, bucket of the code, and chunk.

    sums [2, arms, buckets, chunks], of which both are powers of two. A chunk has 2^shift places; those before the
    first chunk count in it. arm [n]: empty for one arm.
    """
    mask = np.uint64(sums.shape[2] - 1)
    for row in range(len(place)):
        chunk = max(place[row] >> shift, first) - first
        bucket = splitmix64(code[row] ^ _SALT) & mask
        one = arm[row] if len(arm) else 0
        sums[0, one, bucket, chunk] += values[row]
        sums[1, one, bucket, chunk] += values[row] * looked[row]


@_fast
def bucket_sums(sums, values, key):
    """Count every row in the bucket of its key and add its values there. sums [G, 1 + d], G a power of two."""
    d, n = values.shape
    mask = np.uint64(sums.shape[0] - 1)
    for row in range(n):
        bucket = splitmix64(key[row] ^ _SALT) & mask
        sums[bucket, 0] += 1
        for a in range(d):
            sums[bucket, 1 + a] += values[a, row]


@_fast
def cluster_sums(codes, sums, values, key, table):
    """Count every row in the line of its key, add its values there, and return the number of different keys.

    -1 if these are more than the lines. codes [G], sums [G, 1 + d]: filled in the order of first occurrence. table: -1
    each, a power of two in length and longer than the lines.
    """
    d, n = values.shape
    mask, found = np.uint64(len(table) - 1), 0
    for row in range(n):
        at = splitmix64(key[row]) & mask
        while table[at] >= 0 and codes[table[at]] != key[row]:
            at = (at + np.uint64(1)) & mask
        if table[at] < 0:
            if found == len(codes):
                return -1
            table[at] = found
            codes[found] = key[row]
            found += 1
        line = table[at]
        sums[line, 0] += 1
        for a in range(d):
            sums[line, 1 + a] += values[a, row]
    return found


@_fast
def half_octaves(counts, values, columns):
    """Count values in bins at 2^e and 1.5 * 2^e, read off the bits of the float; zeros in bin 0.

    counts [len(columns), 8192]; bin b holds values whose sign, exponent and first mantissa bit are b, so that
    negative values are in the upper half. Values that rounding may have left just below an edge count as on it.
    """
    for line in range(len(columns)):
        for value in values[columns[line]]:
            bits = np.float64(value * _ABOVE).view(np.uint64)
            counts[line, bits >> np.uint64(51)] += 1


@jit
def rows_above(values, columns, absolute, first, least, found, count):
    """Write values of columns from this row on to `found` [c, most] from `count` [c] on, if they are above the least.

    Returns the row to go on with, once a line of `found` may be full, else the number of rows. absolute: whether signs
    do not count. (A selection of the largest would take five seconds to compile.)
    """
    most, n = found.shape[1] - BLOCK, values.shape[1]
    for row in range(first, n, BLOCK):
        last, full = min(row + BLOCK, n), False
        for line in range(len(columns)):
            low, place, some = least[line], count[line], values[columns[line], row:last]
            more = 0  # almost always, which a loop without branches tells faster
            for x in some:
                more += (abs(x) if absolute else x) > low
            if not more:
                continue
            for x in some:
                size = abs(x) if absolute else x
                if size > low:
                    found[line, place] = size
                    place += 1
            count[line] = place
            full |= place > most
        if full:
            return last
    return n


@jit
def shape_sums(clicks, length, outcome, most, ranks, lists, carried):
    """Add what patterns of clicks [n, k] tell, of lists of up to `most` slots.

    ranks [2, most]: items clicked at each rank, and those clicked below one that was not clicked. lists,
    carried [most + 1, most + 1]: by slots and clicks, how many lists there are, and the sum of their outcome [n].
    """
    for row in range(len(clicks)):
        slots, came, above = length[row], 0, 1
        if slots > most:
            continue
        for rank in range(slots):
            clicked = 1 if clicks[row, rank] > 0 else 0
            came += clicked
            ranks[0, rank] += clicked
            ranks[1, rank] += clicked & (1 - above)
            above = clicked
        lists[slots, came] += 1.0
        carried[slots, came] += outcome[row]


@jit
def with_numbers(key, slates, bits):
    """Mix into key [n] the numbers of the shown items, by the bits [n, m] of those of all; zeros are skipped."""
    for row in range(len(slates)):
        for slot in range(slates.shape[1]):
            place = slates[row, slot]
            if place >= 0 and bits[row, place] << np.uint64(1):  # 0 and -0 are one number
                key[row] = finish(bits[row, place] ^ splitmix64(key[row] + np.uint64(slot)))
