"""Compiled loop that reads whole numbers which are written as a number would be: 7 and -12, not 007, +7 or -0."""

from __future__ import annotations

import numpy as np

from ..language.compiled import jit

_MINUS, _ZERO, _DIGITS = 45, 48, 18


@jit
def plain_numbers(letters, ends):
    """Return ([n] numbers, 0 for empty texts; how many texts are empty, -1 if one is no plain number).

    letters: [bytes] of the texts, one after another; ends: [n + 1] where each begins and ends. Numbers of more than 18
    digits are left to who asks.
    """
    found, empty = np.zeros(len(ends) - 1, np.int64), 0
    for text in range(len(found)):
        at, end = ends[text], ends[text + 1]
        if at == end:
            empty += 1
            continue
        negative = letters[at] == _MINUS
        at += negative
        if at == end or end - at > _DIGITS or (letters[at] == _ZERO and (negative or end - at > 1)):
            return found, -1
        value = 0
        for place in range(at, end):
            digit = np.int64(letters[place]) - _ZERO
            if digit < 0 or digit > 9:
                return found, -1
            value = 10 * value + digit
        found[text] = -value if negative else value
    return found, empty
