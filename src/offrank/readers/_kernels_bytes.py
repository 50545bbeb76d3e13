"""A compiled loop over bytes: an array of JSON into lines."""

from __future__ import annotations

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
