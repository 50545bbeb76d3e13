# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Compiled loops that read SVMlight text, byte by byte: `grade qid:query index:value ... # comment`.

A text ends with a newline, so that no loop needs to look for its end. Bytes up to the space separate tokens.
"""

from __future__ import annotations

import numba
import numpy as np

from ._kernels_decimal import nearest

_jit = numba.njit(cache=True, nogil=True)
_inline = numba.njit(cache=True, nogil=True, inline="always")

FINE, WIDER, ZERO, BAD_GRADE, BAD_QUERY, BAD_FEATURE, BAD_ORDER, MIXED = range(8)
"""Why the loop stopped: at the end; a line needs more columns, or a column for index 0; or what is wrong."""

NO_QUERY, ANY_QUERY, SOME_QUERY = -1, -2, -3
"""Instead of a query's id: the lines have none; no line was read yet; the file before had them."""

_SPACE, _NEWLINE, _HASH, _COLON, _ZERO, _MINUS, _PLUS, _DOT = 32, 10, 35, 58, 48, 45, 43, 46
_EXACT, _ROOM = 1 << 53, 10**17
_POWERS = 10.0 ** np.arange(23)
_TENS = 10 ** np.arange(9)

# Eight bytes at once, as one word of 64 bits whose lowest byte is the first. Numba keeps to 64 unsigned bits only
# where every constant has that type.
_ONES, _TOPS, _ZEROS = (np.uint64(0x0101010101010101 * byte) for byte in (1, 0x80, _ZERO))
_ABOVE_NINE = np.uint64(0x0101010101010101 * (0x80 - 10))
_BYTE_PAIRS, _WORD_PAIRS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
_BY_TEN, _BY_HUNDRED, _BY_MYRIAD = (np.uint64(1 + (base << bits)) for base, bits in ((10, 8), (100, 16), (10**4, 32)))
_1, _3, _7, _8, _16, _32, _56, _63 = (np.uint64(bits) for bits in (1, 3, 7, 8, 16, 32, 56, 63))


@_inline
def _blanks(data, at):
    """Past the spaces of a line."""
    while data[at] <= _SPACE and data[at] != _NEWLINE:
        at += 1
    return at


@_inline
def _line(data, at):
    """Past the end of the line."""
    while data[at] != _NEWLINE:
        at += 1
    return at + 1


@_jit
def _word(data, at):
    """Where the token that begins here ends."""
    while data[at] > _SPACE and data[at] != _HASH:
        at += 1
    return at


@_inline
def _digits(data, at, value):
    """(value with the digits that stand here behind it, where they end); wrong beyond 18 digits."""
    digit = np.int64(data[at]) - _ZERO
    while 0 <= digit <= 9:
        value = value * 10 + digit
        at += 1
        digit = np.int64(data[at]) - _ZERO
    return value, at


@_inline
def _few_digits(words, at):
    """(value, how many) of the digits that stand here, 8 at most, without a loop: its end could not be foreseen.

    Each byte of `codes` becomes the value of its digit, or more than 9; `digits` covers those before the first such.
    Moved up to be the last of 8 digits, they are added in pairs, then in fours, then all.
    """
    byte = np.uint64(at)
    place, shift = byte >> _3, (byte & _7) << _3
    codes = ((words[place] >> shift) | ((words[place + _1] << _1) << (_63 - shift))) ^ _ZEROS
    others = ((codes + _ABOVE_NINE) | codes) & _TOPS
    digits = ((others & (~others + _1)) >> _7) - _1
    count = ((digits & _ONES) * _ONES) >> _56
    codes = (codes & digits) << ((-(count << _3)) & _63)
    codes = (codes * _BY_TEN) >> _8
    codes = ((codes & _BYTE_PAIRS) * _BY_HUNDRED) >> _16
    codes = ((codes & _WORD_PAIRS) * _BY_MYRIAD) >> _32
    return np.int64(codes), np.int64(count)


@_jit
def _exponent(data, at):
    """(what an `e-05` that stands here says, where it ends); where it says nothing clear, an end of -1."""
    if data[at] | 32 != 101:  # e or E
        return np.int64(0), -1
    at += 1
    negative = data[at] == _MINUS
    if negative or data[at] == _PLUS:
        at += 1
    value, end = _digits(data, at, np.int64(0))
    if end == at or end - at > 4 or (data[end] > _SPACE and data[end] != _HASH):
        return value, -1
    return (-value if negative else value), end


@_jit
def _careful(data, at):
    """(number, where it ends) of 18 digits at most, leading zeros aside; whatever else ends at -1."""
    negative = data[at] == _MINUS
    if negative or data[at] == _PLUS:
        at += 1
    mantissa, digits, scale, dot = np.int64(0), 0, np.int64(0), False
    while _ZERO <= data[at] <= _ZERO + 9 or (data[at] == _DOT and not dot):
        if data[at] == _DOT:
            dot = True
        elif mantissa >= _ROOM:
            return 0.0, -1
        else:
            mantissa = mantissa * 10 + (np.int64(data[at]) - _ZERO)
            digits += 1
            scale -= 1 if dot else 0
        at += 1
    if digits == 0:
        return 0.0, -1
    if data[at] > _SPACE and data[at] != _HASH:
        exponent, at = _exponent(data, at)
        scale += exponent
    value = nearest(mantissa, scale)
    if at < 0 or value < 0:
        return 0.0, -1
    return (-value if negative else value), at


@_inline
def _number(data, words, at):
    """(number, where it ends): the nearest double; whatever it is not sure of ends at -1, and Python shall say.

    By Clinger's fast path, where the digits make a double, and so does the power of ten, so that one operation rounds.
    """
    begin = at
    negative = data[at] == _MINUS
    if negative or data[at] == _PLUS:
        at += 1
    mantissa, digits = _few_digits(words, at)
    at += digits
    if digits == 8:
        mantissa, end = _digits(data, at, mantissa)
        digits += end - at
        at = end
    scale = np.int64(0)
    if data[at] == _DOT:
        fraction, count = _few_digits(words, at + 1)
        mantissa = mantissa * _TENS[count] + fraction
        at += 1 + count
        if count == 8:
            mantissa, end = _digits(data, at, mantissa)
            count += end - at
            at = end
        digits += count
        scale = -count
    if digits == 0 or digits > 18 or mantissa > _EXACT:
        return _careful(data, begin)
    if data[at] > _SPACE and data[at] != _HASH:
        exponent, at = _exponent(data, at)
        if at < 0:
            return 0.0, -1
        scale += exponent
    if scale < -22 or scale > 22:
        return _careful(data, begin)
    value = mantissa / _POWERS[-scale] if scale < 0 else mantissa * _POWERS[scale]
    return (-value if negative else value), at


@_jit
def _features(data, words, at, base, values, row, slow, slows):
    """The features of a line into values [d], which are zeros: (where it stopped, slow numbers, why)."""
    before = np.int64(-1)
    while True:
        at = _blanks(data, at)
        if data[at] == _NEWLINE or data[at] == _HASH:
            return _line(data, at), slows, FINE
        index, count = _few_digits(words, at)
        end = at + count
        if data[end] != _COLON or count == 0:
            return at, slows, BAD_FEATURE
        if index <= before:
            return at, slows, BAD_ORDER
        before = index
        index -= base
        if index < 0:
            return at, slows, ZERO
        if index >= len(values):
            return at, slows, WIDER
        digit = np.int64(data[end + 1]) - _ZERO
        if 0 <= digit <= 9 and data[end + 2] <= _SPACE:  # as half of all numbers are
            values[index], at = digit, end + 2
            continue
        values[index], stop = _number(data, words, end + 1)
        if stop < 0:
            stop = _word(data, end + 1)
            if stop == end + 1:
                return at, slows, BAD_FEATURE
            slow[slows, 0], slow[slows, 1], slow[slows, 2], slow[slows, 3] = row, index, end + 1, stop
            slows += 1
        at = stop


@_jit
def _query(data, at):
    """(id, where it ends) of `qid:number`, NO_QUERY where none stands here; what is no number ends at -1."""
    if not (data[at] == 113 and data[at + 1] == 105 and data[at + 2] == 100 and data[at + 3] == _COLON):
        return np.int64(NO_QUERY), at
    query, end = _digits(data, at + 4, np.int64(0))
    if end == at + 4 or end - at > 22 or (data[end] > _SPACE and data[end] != _HASH):
        return query, -1
    return query, end


@_jit
def parse(data, words, size, at, line, base, query, features, grade, row, runs, slow):
    """(where it stopped, line, query, row, runs, slow numbers, why, where the culprit is) from byte `at` of a text.

    words: the same text, eight bytes each. size: its bytes; at least 8 more follow. base: the lowest index. query:
    that of the line before. features: [.., d] zeros. grade: [..]. row: the first to fill. runs: [.., 3] id, first
    row and line of the queries that begin here. slow: [.., 4] numbers for Python, (row; column, or -1 for the grade;
    first byte; end). It stops at the beginning of a line.
    """
    begun, slows = 0, 0
    while at < size:
        begin, at = at, _blanks(data, at)
        if data[at] == _NEWLINE or data[at] == _HASH:
            at = _line(data, at)
            line += 1
            continue
        before, start = slows, at
        grade[row], at = _number(data, words, at)
        if at < 0:
            at = _word(data, start)
            slow[slows, 0], slow[slows, 1], slow[slows, 2], slow[slows, 3] = row, -1, start, at
            slows += 1
        at = _blanks(data, at)
        start = at
        found, at = _query(data, at)
        if at < 0:
            return begin, line, query, row, begun, before, BAD_QUERY, start
        if query != ANY_QUERY and (found == NO_QUERY) != (query == NO_QUERY):
            return begin, line, query, row, begun, before, MIXED, start
        at, slows, why = _features(data, words, at, base, features[row], row, slow, slows)
        if why != FINE:
            return begin, line, query, row, begun, before, why, at
        if found != query:
            runs[begun, 0], runs[begun, 1], runs[begun, 2] = found, row, line
            begun += 1
            query = found
        row += 1
        line += 1
    return at, line, query, row, begun, slows, FINE, at


@_jit
def highest(data, size, at, limit):
    """The highest index up to a limit from byte `at` of a text on, -1 if there is none."""
    best, value = np.int64(-1), np.int64(-1)
    while at < size:
        digit = np.int64(data[at]) - _ZERO
        if 0 <= digit <= 9:
            value = min(max(value, 0) * 10 + digit, limit + 1)
        elif data[at] == _HASH:
            at, value = _line(data, at) - 1, -1
        else:
            if data[at] == _COLON and value <= limit:
                best = max(best, value)
            value = -1
        at += 1
    return best
