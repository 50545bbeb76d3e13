"""Compiled loops over bytes: JSON into lines, how deep it is nested, whole numbers as they are written."""

from __future__ import annotations

import numpy as np

from ..language.compiled import jit

_QUOTE, _BACKSLASH, _COMMA, _SPACE, _NEWLINE = 34, 92, 44, 32, 10
_OPEN, _CLOSE, _ENDS = (91, 123), (93, 125), (10, 13)

DEPTH, IN_TEXT, ESCAPED = range(3)
"""Places of the state between blocks [3]: brackets that are open; whether in a text; whether behind its backslash."""


@jit
def into_lines(data, state):
    """Write a newline for each comma between the elements of the outermost array, and blanks for what is around them.

    data: [n] bytes of a block, changed in place.
    """
    depth, in_text, escaped = state[DEPTH], state[IN_TEXT], state[ESCAPED]
    for at in range(len(data)):
        byte = data[at]
        if in_text:
            if escaped:
                escaped = 0
            elif byte == _BACKSLASH:
                escaped = 1
            elif byte == _QUOTE:
                in_text = 0
        elif byte == _QUOTE:
            in_text = 1
        elif byte in _OPEN:
            depth += 1
            if depth == 1:
                data[at] = _SPACE
        elif byte in _CLOSE:
            depth -= 1
            if depth == 0:
                data[at] = _NEWLINE
        elif byte == _COMMA and depth == 1:
            data[at] = _NEWLINE
        elif byte in _ENDS:
            data[at] = _SPACE
    state[DEPTH], state[IN_TEXT], state[ESCAPED] = depth, in_text, escaped


@jit
def deepest(data, texts):
    """The most brackets that are open at once in a line; texts: leave out those within texts, which takes longer."""
    most = depth = 0
    in_text = escaped = False
    for byte in data:
        if byte == _NEWLINE:
            depth, in_text, escaped = 0, False, False
        elif texts and in_text:
            in_text, escaped = escaped or byte != _QUOTE, not escaped and byte == _BACKSLASH
        elif texts and byte == _QUOTE:
            in_text = True
        else:
            depth += (byte == 91) + (byte == 123) - (byte == 93) - (byte == 125)
            most = max(most, depth)
    return most


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
