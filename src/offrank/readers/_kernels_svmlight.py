"""The compiled loop that reads SVMlight text without its comments: `grade qid:query index:value ...`."""

from __future__ import annotations

import numba
import numpy as np

from ._kernels_text import COLON, NEWLINE, begins, blanks, decimal, digits, natural, word

FINE, BAD_QUERY, BAD_FEATURE, BAD_ORDER, TOO_LOW, MIXED = range(6)
"""What was wrong with a line."""

NO_QUERY = -1
"""Instead of a query's id."""


@numba.njit(cache=True, nogil=True)
def parse(data, lowest, highest, ordered, grade, query, place, ends, indices, values, slow):
    """(documents, slow numbers, what is wrong, its byte).

    lowest, highest: the indices that may occur; ordered: whether they ascend. place: [documents] the byte where the
    query is said, or should be. ends: [documents] where the entries of each end in `indices` and `values`. slow:
    numbers for Python, (entry, or -1 - document for a grade; first byte; end).
    """
    at, n, count, slows = 0, 0, 0, 0
    while True:
        at = blanks(data, at)
        if at >= len(data):
            return n, slows, FINE, at
        if data[at] == NEWLINE:
            at += 1
            continue
        end = word(data, at)
        grade[n], exact = decimal(data, at, end)
        if not exact:
            slow[slows, 0], slow[slows, 1], slow[slows, 2] = -1 - n, at, end
            slows += 1
        at = blanks(data, end)
        query[n], place[n] = NO_QUERY, at
        if begins(data, at, (113, 105, 100, COLON)):
            end = word(data, at)
            query[n] = natural(data, at + 4, end)
            if query[n] < 0:
                return n, slows, BAD_QUERY, at
            at = blanks(data, end)
        before = np.int64(-1)
        while at < len(data) and data[at] != NEWLINE:
            colon = digits(data, at)
            index, end = natural(data, at, colon), word(data, colon)
            if not 0 <= index <= highest or end < colon + 2 or data[colon] != COLON:
                return n, slows, BAD_FEATURE, at
            if index < lowest:
                return n, slows, TOO_LOW, at
            if ordered and index <= before:
                return n, slows, BAD_ORDER, at
            values[count], exact = decimal(data, colon + 1, end)
            if not exact:
                slow[slows, 0], slow[slows, 1], slow[slows, 2] = count, colon + 1, end
                slows += 1
            indices[count], before = index, index
            count += 1
            at = blanks(data, end)
        ends[n] = count
        n += 1
