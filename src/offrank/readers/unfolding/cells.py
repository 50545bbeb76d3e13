"""Cells of text that hold more than a text: JSON, literals of Python, lists of tokens, and items with their clicks."""

from __future__ import annotations

import ast
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from ...log.batch import Integers
from .. import flat
from ..conversions import is_none
from ..json_text import BadCell, parsed

BRACKETS = r"(?s)^[\[({]\s*(.*?)\s*,?\s*[\])}]$"
"""A list as some libraries print it, or a tuple of Python; JSON is another form."""
WHOLE = r"^-?(0|[1-9]\d{0,17})$"
"""An integer, as it would be written again: `007` is a text."""
NUMBER = r"^(-?((0|[1-9]\d{0,17})(\.\d*)?|\.\d+)([eE][-+]\d+)?|nan|NaN)$"
"""Any number; `1e5` is a text, since programs write it as 100000.0, and so is an integer of more than 18 digits."""
PAIR = r"^.+[-:][01]$"
"""An item, and whether it was clicked: `N1-0`."""
ITEM, CLICK = "item", "click"
_NOT_JSON = ('"', "\\", "(", "None", "True", "False", "nan", "inf")
"""What may stand in a literal of Python that is not JSON when its quotes are doubled."""
_SAME = "write every cell of the column in the same form"


@dataclass(frozen=True)
class Json:
    """Objects or arrays of objects in JSON, or, if `literal`, dictionaries and lists as Python prints them.

    kind: the type of what cells hold; `read` returns it, or one with fractions in the place of integers.
    """

    kind: pa.DataType
    literal: bool = False

    def read(self, column: pa.Array, name: str) -> pa.Array:
        texts = [(text or "").strip() or "null" for text in as_text(column).to_pylist()]
        with suppress(pa.ArrowException, ValueError):
            written = [as_json(text) for text in texts] if self.literal else texts
            lines = "\n".join('{"":%s}' % text.replace("\n", " ") for text in written).encode()  # noqa: UP031
            parse = pyarrow.json.ParseOptions(pa.schema({"": self.kind}), unexpected_field_behavior="ignore")
            if (found := parsed(lines, parse)).num_rows == len(texts):
                return found.column(0).combine_chunks()
        return self._one_by_one(texts, name)

    def _one_by_one(self, texts: list[str], name: str) -> pa.Array:
        """Read the cells slowly: their type is wider than that of the first rows, or one of them is wrong."""
        values, kind = [], self.kind
        for index, text in enumerate(texts):
            try:
                value = json.loads(as_json(text) if self.literal else text)
                kind = _wider(kind, pa.array([value]).type)
            except (ValueError, TypeError, OverflowError, RecursionError) as error:
                broken = isinstance(error, ValueError) and not isinstance(error, pa.ArrowException)
                wrong = "cannot be read" if broken else "has another kind of value than the rows before it"
                raise BadCell(index, name, wrong, _SAME) from None
            values.append(value)
        return pa.array(values, kind)


def _wider(kind: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return a type that holds both."""
    schemas = [pa.schema({"": kind}), pa.schema({"": other})]
    return kind if kind == other else pa.unify_schemas(schemas, promote_options="permissive").field(0).type


def as_json(text: str) -> str:
    """Return a literal of Python as JSON; raise a `ValueError` if it is none."""
    if text != "null" and any(word in text for word in _NOT_JSON):
        return json.dumps(literal(text))
    return text.replace("'", '"')  # no text in it has a quote of its own


def literal(text: str) -> Any:
    """Return what Python or NumPy printed, or raise a `ValueError`; what is not a number is null."""
    try:
        return ast.literal_eval(_Printed().visit(ast.parse(text.strip(), mode="eval")))
    except (SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(*error.args) from None


class _Printed(ast.NodeTransformer):
    """Takes printed values of NumPy as plain ones: `np.int64(3)`, `array([1, 2])`."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(None) if node.id == "nan" else node

    def visit_Set(self, node: ast.Set) -> ast.expr:
        raise ValueError("a set has no order")

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if len(node.args) == 1 and ast.unparse(node.func).startswith(("np.", "array")):
            found: ast.expr = self.visit(node.args[0])
            return found
        return node


@dataclass(frozen=True)
class Tokens:
    """Tokens with a separator between them, `a|b|c`; a space is any white space. paired: each has a click, `a-0`.

    few: there may be none, which a word may say, such as `-` or `none`.
    """

    separator: str
    value: pa.DataType
    brackets: bool = False
    paired: bool = False
    few: bool = False

    @property
    def kind(self) -> pa.DataType:
        pair = pa.struct({ITEM: self.value, CLICK: pa.int64()})
        return pa.list_(pair if self.paired else self.value)

    def read(self, column: pa.Array, name: str) -> pa.Array:
        values, offsets, null = self.cut(column, name)

        def refuse(fine: pa.Array, wrong: str) -> None:
            if len(fine) and not pc.all(fine).as_py():
                at = int(np.argmin(np.asarray(fine)))
                raise BadCell(int(np.searchsorted(offsets, at, "right")) - 1, name, wrong, _SAME)

        refuse(pc.not_equal(values, ""), "has an empty entry among its values")
        if self.paired:
            refuse(pc.match_substring_regex(values, PAIR), "has a value without its click, 0 or 1")
            clicks = pc.utf8_slice_codeunits(values, -1).cast(pa.int64())
            values = pc.utf8_slice_codeunits(values, 0, stop=-2)
        if not pa.types.is_string(self.value):
            whole = pa.types.is_integer(self.value) and pc.all(pc.match_substring_regex(values, WHOLE)).as_py()
            if whole is False:
                refuse(pc.match_substring_regex(values, NUMBER), "is text, unlike the rows before it")
            values = values.cast(pa.float64() if whole is False else self.value)
        if self.paired:
            values = pa.StructArray.from_arrays([values, clicks], [ITEM, CLICK])
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, mask=null)

    def cut(self, column: pa.Array, name: str = "") -> tuple[pa.Array, Integers, pa.Array]:
        """Return the tokens of all cells, where those of each cell begin and the last end, and which cells are null."""
        texts = pc.utf8_trim_whitespace(as_text(column))
        if self.brackets:
            fine = pc.fill_null(pc.match_substring_regex(texts, BRACKETS), True)
            if len(fine) and not pc.all(fine).as_py():
                raise BadCell(int(np.argmin(np.asarray(fine))), name, "is not a list in brackets", _SAME)
            texts = pc.replace_substring_regex(texts, BRACKETS, r"\1")
        bare = pc.fill_null(is_none(texts) if self.few else pc.equal(texts, ""), True)
        null = texts.is_null() if self.brackets else bare
        texts = pc.if_else(bare, pa.scalar(None, pa.string()), texts)
        split = pc.utf8_split_whitespace(texts) if self.separator == " " else pc.split_pattern(texts, self.separator)
        offsets = np.append(0, np.cumsum(np.asarray(pc.fill_null(pc.list_value_length(split), 0))))
        values = split.flatten() if self.separator == " " else pc.utf8_trim_whitespace(split.flatten())
        return pc.utf8_trim(values, "'\"") if self.brackets else values, offsets, null


Form = Json | Tokens
"""How the cells of a column are written."""


def as_text(column: pa.Array) -> pa.Array:
    """Return texts of any type as strings."""
    column = flat.plain_column(column)
    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return column.cast(pa.string())
