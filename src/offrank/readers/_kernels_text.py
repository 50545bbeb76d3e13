"""Compiled tokens of text, byte by byte: words, whole numbers, decimals. Any byte up to the space ends a word."""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, nogil=True)
_inline = numba.njit(cache=True, nogil=True, inline="always")

SPACE, NEWLINE, COLON, ZERO, NINE = 32, 10, 58, 48, 57
_DOT, _PLUS, _MINUS, _E = 46, 43, 45, 101
_EXACT = 1 << 53
_POWERS = 10.0 ** np.arange(23)


@_inline
def blanks(data, at):
    """Past the spaces of a line."""
    while at < len(data) and data[at] <= SPACE and data[at] != NEWLINE:
        at += 1
    return at


@_inline
def word(data, at):
    """Where the token that begins here ends."""
    while at < len(data) and data[at] > SPACE:
        at += 1
    return at


@_inline
def digits(data, at):
    """Past the digits that stand here."""
    while at < len(data) and ZERO <= data[at] <= NINE:
        at += 1
    return at


@_inline
def begins(data, at, word):
    """Whether a word stands here."""
    same = at + len(word) <= len(data)
    for i in range(len(word)):
        same = same and data[at + i] == word[i]
    return same


@_inline
def natural(data, at, end):
    """A natural number of at most 18 digits, -1 if it is none."""
    if at >= end or end - at > 18:
        return np.int64(-1)
    value = np.int64(0)
    for i in range(at, end):
        if data[i] < ZERO or data[i] > NINE:
            return np.int64(-1)
        value = value * 10 + np.int64(data[i] - ZERO)
    return value


@_jit
def decimal(data, at, end):
    """(number, whether it is exact): Clinger's fast path; whatever else it is, Python shall say.

    Digits that make a double exactly, times or by a power of ten that is one: a single operation rounds.
    """
    negative = at < end and data[at] == _MINUS
    if negative or (at < end and data[at] == _PLUS):
        at += 1
    mantissa, scale, some, dot = np.int64(0), 0, False, False
    while at < end:
        byte = data[at]
        if ZERO <= byte <= NINE:
            if mantissa >= _EXACT // 10:
                return 0.0, False
            mantissa = mantissa * 10 + np.int64(byte - ZERO)
            some = True
            scale -= 1 if dot else 0
        elif byte == _DOT and not dot:
            dot = True
        else:
            break
        at += 1
    if not some:
        return 0.0, False
    if at < end:
        if data[at] | 32 != _E:
            return 0.0, False
        sign = at + 1 < end and data[at + 1] == _MINUS
        signed = sign or (at + 1 < end and data[at + 1] == _PLUS)
        exponent = natural(data, at + 1 + (1 if signed else 0), end)
        if exponent < 0 or exponent > 1000:
            return 0.0, False
        scale += -exponent if sign else exponent
    if scale < -22 or scale > 22:
        return 0.0, False
    value = mantissa / _POWERS[-scale] if scale < 0 else mantissa * _POWERS[scale]
    return (-value if negative else value), True
