"""Values that logs seldom hold and sometimes do: numbers, texts and names at the edge of what can be written."""

from __future__ import annotations

import math
from typing import Any

ODD_NUMBERS: tuple[Any, ...] = (
    *(0, 1, 2, -1, 3.5, 0.1, -0.0, 1e-9, 1e15, True, None),
    *(5e-324, 1e-320, 1e-300, 1.1e-300, 1e150, 1.1e150, -1e200, 1e200, 1.7976931348623157e308, -1.7e308),
    *(math.nan, math.inf, -math.inf, 1 + 2**-52, 1 - 2**-53),
    *(127, 128, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)),
)
"""Numbers of all magnitudes and signs, those that are none, and those that whole types cannot hold."""

ODD_TEXTS = (
    *("", " ", " a", "a ", "a", "A", "0", "7", "007", "+7", "-1", "1e5", "1.0", "1_000", "9" * 30, "٣", "0x1f"),
    *(
        "NA",
        "N/A",
        "null",
        "NULL",
        "nan",
        "NaN",
        "None",
        "none",
        "inf",
        "-",
        "\\N",
        "true",
        "no",
        "2024-05-01",
        "12:30",
    ),
    *("\0", "a\0b", "\n", "a\r\nb", "\r", "\t", "\x1b[31mred", "\x07", "\x7f", "\x85", "\u2028", "\u202eabc", "\ufeff"),
    *(
        '"',
        '""',
        "'",
        "\\",
        '\\"',
        ",",
        ";",
        "|",
        "a|b",
        "a,b",
        "#",
        "# a",
        "a b",
        ":",
        "a:1",
        "N1-0",
        "(",
        ")",
        "%s",
        "{}",
    ),
    *(
        "[",
        "]",
        "[1]",
        '["a"]',
        "{",
        '{"a": 1}',
        "$a",
        "=1+1",
        "@a",
        "../a",
        "/etc",
        "<b>a</b>",
        "&amp;",
        "<script>",
        "]]>",
    ),
    *("é", "e\u0301", "ß", "İ", "日本", "🦊", "👩\u200d🚀", "\U0001f1eb\U0001f1f7", "\U00010348", "x" * 300),
)
"""Texts with white space, control characters, markup, quotes, delimiters, numbers, nulls, and letters of any script."""

ODD_NAMES = (
    *("a", "A b", "a.b", "a'b", 'a"b', "a,b", "a;b", "a|b", "a=b", "(", "top(a)", "1", "0.5", "none", "None", "true"),
    *("é", "日本", "🦊", "\u202eabc", "<b>", "&", "a\nb", "a\tb", " ", " a", "__index_level_0__", "offrank", "row"),
    *(
        "position",
        "query",
        "user",
        "score",
        "click",
        "reward",
        "grade",
        "%",
        "{}",
        "\\",
        "x" * 200,
        "-",
        "--json",
        "a/b",
    ),
)
"""Names of columns that need quotes, are long, or mean something elsewhere."""


def is_number(value: Any) -> bool:
    """Whether a value is a whole number or a fraction, not a truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)
