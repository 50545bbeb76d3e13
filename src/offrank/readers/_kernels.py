"""Compiled loops that parse the text format of paper criteo-test-bed, byte by byte.

A block holds whole impressions: a header line and a line per candidate. Any byte up to the space ends a token.
"""

from __future__ import annotations

import numpy as np

from ..language.compiled import inlined, jit
from ..log.hashing import TEXT, finish, with_byte

FINE, BAD_HEADER, BAD_SIZES, BAD_CANDIDATE, BAD_CLICK, BAD_FEATURE = range(6)
"""Error code of a line."""

ID, CLICK, SLOTS, SIZE, LINE, HEAD, BANNER = range(7)
"""Columns of `heads`: LINE is the number of the header line in the block, HEAD the byte where its features begin."""

SPACE, NEWLINE, COLON, ZERO, NINE = 32, 10, 58, 48, 57


@inlined
def blanks(data, at):
    """Skip the spaces of a line."""
    while at < len(data) and data[at] <= SPACE and data[at] != NEWLINE:
        at += 1
    return at


@inlined
def token(data, at):
    """Return where the next token of a line begins and ends."""
    begin = blanks(data, at)
    end = begin
    while end < len(data) and data[end] > SPACE:
        end += 1
    return begin, end


@inlined
def begins(data, at, word):
    """Whether this word stands here."""
    same = at + len(word) <= len(data)
    for i in range(len(word)):
        same = same and data[at + i] == word[i]
    return same


@inlined
def natural(data, at, end):
    """Parse a natural number of at most 18 digits; -1 if it is not one."""
    if at >= end or end - at > 18:
        return np.int64(-1)
    value = np.int64(0)
    for i in range(at, end):
        if data[i] < ZERO or data[i] > NINE:
            return np.int64(-1)
        value = value * 10 + np.int64(data[i] - ZERO)
    return value


@jit
def _features(data, at, room, indices, values, count, numbers, written):
    """Parse a line's features: (end of the line, entries, numbers, hash of the banner type); end -1 on error.

    Features 1 and 2 are numbers with indices 0 and 1; others are categories. A category repeated in direct
    succession is counted.
    """
    before, banner, first = np.uint64(0), TEXT, count
    while True:
        at = blanks(data, at)
        if at >= len(data) or data[at] == NEWLINE:
            return at, count, written, banner
        start, h = at, TEXT
        while at < len(data) and ZERO <= data[at] <= NINE:
            h = with_byte(h, data[at])
            at += 1
        colon = at
        if at >= len(data) or data[at] != COLON or colon == start:
            return -1, count, written, banner
        while at < len(data) and data[at] > SPACE:
            h = with_byte(h, data[at])
            at += 1
        if at == colon + 1:
            return -1, count, written, banner
        feature = data[start] - ZERO if colon == start + 1 else 0
        if 1 <= feature <= 2:
            indices[count] = feature - 1
            numbers[written, 0], numbers[written, 1], numbers[written, 2] = count, colon + 1, at
            written += 1
            count += 1
        elif h == before and count > first:
            values[count - 1] += 1
        else:
            indices[count], values[count] = 2 + np.int64(finish(h) % room), 1
            count += 1
        if 1 <= feature <= 3 or feature == 5:
            banner = with_byte(banner, h)
        before = h


@jit
def _header(data, at, head, number):
    """Parse the header up to its features: their first byte, or -1. number: filled with the bytes of the propensity."""
    at, end = token(data, at + 8)
    head[ID] = natural(data, at, end - 1)
    if head[ID] < 0 or data[end - 1] != COLON:
        return -1
    at, end = token(data, end)
    if end == at:
        return -1  # the hash, which is not used
    at, end = token(data, end)
    head[CLICK] = natural(data, at, end)
    if not 0 <= head[CLICK] <= 1:
        return -1
    at, end = token(data, end)
    if end == at:
        return -1
    number[1], number[2] = at, end
    for column in (SLOTS, SIZE):
        at, end = token(data, end)
        head[column] = natural(data, at, end)
        if head[column] < 0:
            return -1
    head[HEAD] = end
    return end


@jit
def parse_impressions(data, room, heads, clicks, ends, indices, values, numbers):
    """Parse a block: (impressions, lines with features, numbers, text lines, error code, first byte of its line).

    room: number of indices for categories. heads: [impressions, 7]. clicks, ends: [lines] of headers and
    candidates alike: the click, and the end of the entries in `indices` and `values`. numbers: those that are still to
    be parsed, (entry, or -1 - impression for a propensity; first byte; end).
    """
    example = (101, 120, 97, 109, 112, 108, 101, 32)
    exid = (101, 120, 105, 100, 58)
    at, n, line, count, written, text = 0, 0, 0, 0, 0, 0
    while True:
        while at < len(data) and data[at] <= SPACE:
            text += 1 if data[at] == NEWLINE else 0
            at += 1
        if at >= len(data):
            return n, line, written, text, FINE, at
        begin, head = at, heads[n]
        if not begins(data, at, example):
            return n, line, written, text, BAD_HEADER, begin
        at = _header(data, at, head, numbers[written])
        if at < 0:
            return n, line, written, text, BAD_HEADER, begin
        numbers[written, 0] = -1 - n
        written += 1
        if head[SLOTS] < 1 or head[SLOTS] > head[SIZE]:
            return n, line, written, text, BAD_SIZES, begin
        at, count, written, banner = _features(data, at, room, indices, values, count, numbers, written)
        if at < 0:
            return n, line, written, text, BAD_FEATURE, begin
        head[BANNER], head[LINE] = np.int64(finish(banner) >> np.uint64(1)), line
        ends[line] = count
        line += 1
        for candidate in range(head[SIZE]):
            at += 1  # the newline
            text += 1
            begin = min(at, len(data))
            at, end = token(data, at)
            click = natural(data, at, end)
            if not 0 <= click <= 1:
                return n, line, written, text, BAD_CANDIDATE, begin
            at, end = token(data, end)
            if not begins(data, at, exid) or natural(data, at + 5, end) != head[ID]:
                return n, line, written, text, BAD_CANDIDATE, begin
            if candidate < head[SLOTS] and click > head[CLICK]:
                return n, line, written, text, BAD_CLICK, begin
            at, count, written, _ = _features(data, end, room, indices, values, count, numbers, written)
            if at < 0:
                return n, line, written, text, BAD_FEATURE, begin
            clicks[line], ends[line] = click, count
            line += 1
        n += 1


@jit
def spread(heads, ends, indices, values, out_ends, out_indices, out_values):
    """Give each candidate the features of its header, then its own. out_ends: [candidates + 1], the first is 0."""
    count, row = 0, 0
    for head in heads:
        top = head[LINE]
        first = ends[top - 1] if top else 0
        for line in range(top + 1, top + 1 + head[SIZE]):
            for entry in range(first, ends[top]):
                out_indices[count], out_values[count] = indices[entry], values[entry]
                count += 1
            for entry in range(ends[line - 1], ends[line]):
                out_indices[count], out_values[count] = indices[entry], values[entry]
                count += 1
            row += 1
            out_ends[row] = count
