"""Compiled loops over the bytes of JSON: an array into lines, lines into cells."""

from __future__ import annotations

import numpy as np

from ..language.compiled import inlined, jit

_QUOTE, _BACKSLASH, _COMMA, _SPACE, _NEWLINE = 34, 92, 44, 32, 10
_OPEN, _CLOSE, _ENDS, _BLANKS = (91, 123), (93, 125), (10, 13), (32, 9, 13)
_NULL, _TRUE, _FALSE = (110, 117, 108, 108), (116, 114, 117, 101), (102, 97, 108, 115, 101)

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


SKIPPED, WHOLE, NUMBER, TEXT, TRUTH = range(-1, 4)
"""What values a column has: any, for it is not read; whole numbers; numbers; texts; true and false."""
MISSING, PARSED, WRITTEN = range(3)
"""What a value is: null, a number or whether it is true, or text and numbers that have too many digits."""
_POWERS = np.array([float(f"1e{power}") for power in range(23)])
_EXACT, _DIGITS, _LARGEST = 1 << 53, 18, 300
"""Up to where numbers and powers of ten are exact, so that their product is rounded once; digits of 64 bits."""


@jit
def _past_blanks(data, at):
    while data[at] in _BLANKS:
        at += 1
    return at


@jit
def _past_word(data, at, word):
    for place in range(len(word)):
        if data[at + place] != word[place]:
            return -1
    return at + len(word)


@jit
def _past_text(data, at):
    """The place behind a text; -1 if there is none, or it has an escape."""
    if data[at] != _QUOTE:
        return -1
    at += 1
    while data[at] != _QUOTE:
        if data[at] == _BACKSLASH or data[at] < _SPACE:
            return -1
        at += 1
    return at + 1


@jit
def _past_digits(data, at, value):
    while 48 <= data[at] <= 57:
        value = 10 * value + (data[at] - 48)
        at += 1
    return at, value


@inlined
def _past_number(data, at, whole):
    """(The place behind a number, -1 if there is none; its digits; how many; the power of ten that they are times)."""
    at += data[at] == 45
    begin, power, digits, signed, exponent = at, 0, 0, False, 0
    at, value = _past_digits(data, begin, 0)
    wrong, digits = at == begin or (data[begin] == 48 and at > begin + 1), at - begin
    if data[at] == 46:
        begin = at + 1
        at, value = _past_digits(data, begin, value)
        power, wrong, digits = begin - at, wrong or at == begin or whole, digits + at - begin
    if data[at] == 69 or data[at] == 101:
        signed = data[at + 1] == 43 or data[at + 1] == 45
        begin = at + 1 + signed
        negative = data[at + 1] == 45
        at, exponent = _past_digits(data, begin, 0)
        wrong = wrong or at == begin or at > begin + 4 or whole
        power += -exponent if negative else exponent
    return -1 if wrong or digits + power > _LARGEST else at, value, digits, power


@inlined
def _past_separator(data, at, close):
    """The place of what follows a comma, or of the end of a list or object; -1 if there is neither."""
    at = _past_blanks(data, at)
    if data[at] != _COMMA:
        return at if data[at] == close else -1
    at = _past_blanks(data, at + 1)
    return at if data[at] != close else -1


@inlined
def _past_value(data, begin, kind):
    """(The place behind a value that is no list, -1 if there is none of this kind; its number, twice; what it is)."""
    at, whole, real, what = -1, 0, 0.0, WRITTEN
    if data[begin] == _QUOTE:
        at = _past_text(data, begin) if kind in (TEXT, SKIPPED) else -1
    elif data[begin] == _NULL[0]:
        at, what = _past_word(data, begin, _NULL), MISSING
    elif data[begin] == _TRUE[0] or data[begin] == _FALSE[0]:
        whole, what = data[begin] == _TRUE[0], PARSED
        at = _past_word(data, begin, _TRUE) if whole else _past_word(data, begin, _FALSE)
        at = at if kind in (TRUTH, SKIPPED) else -1
    elif kind not in (TEXT, TRUTH):
        at, whole, digits, power = _past_number(data, begin, kind == WHOLE)
        signed = data[begin] == 45
        if digits > _DIGITS:
            what = WRITTEN
        elif kind == WHOLE:
            what = WRITTEN if signed else PARSED  # for it need not have a sign
        elif whole <= _EXACT and -_POWERS.size < power < _POWERS.size:
            real, what = whole * _POWERS[power] if power >= 0 else whole / _POWERS[-power], PARSED
            real = -real if signed else real
    return at, whole, real, what


@jit
def into_cells(data, names, name_ends, kinds, nested, begins, wholes, numbers, what, count, list_ends, listed):
    """Find the values of the columns that are read in lines of an object each; return how many, -1 if some are others.

    Those are lines that slower parsers read, or say why not: with objects in the object or its lists, values of another
    kind, escapes, or a column twice.

    data: [n] bytes, whose last one ends a line. names: those of the columns, which end at `name_ends`. kinds, nested:
    [c] what they have, and whether in lists. begins: [c, v] where their values begin; what: what each is; wholes,
    numbers: those that are parsed. count: [c] of zeros, how many. list_ends, listed: where lists end among them, and
    whether each is one.
    """
    rows, at, columns, seen = 0, 0, len(kinds), np.zeros(len(kinds), np.int64)
    while True:
        while at < len(data) and (data[at] == _NEWLINE or data[at] in _BLANKS):
            at += 1
        if at == len(data):
            return rows
        if data[at] != _OPEN[1]:
            return -1
        at, last, rows = _past_blanks(data, at + 1), -1, rows + 1
        while data[at] != _CLOSE[1]:
            begin, at, column = at + 1, _past_text(data, at), SKIPPED
            if at < 0:
                return -1
            for step in range(columns):  # most lines have them in one order
                one = (last + 1 + step) % columns
                first = name_ends[one - 1] if one else 0
                same = first if name_ends[one] - first == at - 1 - begin else name_ends[one] + 1
                while same < name_ends[one] and names[same] == data[begin + same - first]:
                    same += 1
                if same == name_ends[one]:
                    column = last = one
                    break
            at = _past_blanks(data, at)
            if data[at] != 58:
                return -1
            at = _past_blanks(data, at + 1)
            inside, kind, kept = data[at] == _OPEN[0], SKIPPED, False
            if column >= 0:
                kind, kept = kinds[column], inside or not nested[column]
                if seen[column] == rows or (inside != nested[column] and (inside or data[at] != _NULL[0])):
                    return -1
                seen[column], listed[column, rows - 1] = rows, inside
            at = _past_blanks(data, at + 1) if inside else at
            while at >= 0 and not (inside and data[at] == _CLOSE[0]):
                begin = at
                at, whole, real, found = _past_value(data, begin, kind)
                if kept:
                    value = count[column]
                    begins[column, value], what[column, value], count[column] = begin, found, value + 1
                    if kind == NUMBER:
                        numbers[column, value] = real
                    else:
                        wholes[column, value] = whole
                if at < 0 or not inside:
                    break
                at = _past_separator(data, at, _CLOSE[0])
            at = _past_separator(data, at + inside, _CLOSE[1]) if at >= 0 else at
            if at < 0:
                return -1
        at = _past_blanks(data, at + 1)
        if data[at] != _NEWLINE:
            return -1
        for column in range(columns):
            if seen[column] != rows:
                listed[column, rows - 1] = False
                if not nested[column]:
                    what[column, count[column]] = MISSING
                    count[column] += 1
            list_ends[column, rows] = count[column]


@jit
def copied(data, begins, what, text, ends):
    """Copy the texts and numbers that begin at some places [v], with the places where they end; nothing for a null."""
    end = 0
    for value in range(len(begins)):
        at = begins[value]
        if what[value] != MISSING and data[at] == _QUOTE:
            at += 1
            while data[at] != _QUOTE:
                text[end] = data[at]
                at, end = at + 1, end + 1
        elif what[value] != MISSING:
            for place in range(at, _past_number(data, at, False)[0]):
                text[end] = data[place]
                end += 1
        ends[value + 1] = end
