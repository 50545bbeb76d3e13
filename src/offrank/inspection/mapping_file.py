"""The mapping file: how a table is read, as TOML for `--config` of any verb."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

from ..language.files import write_text
from ..language.formatting import printable


def write_mapping(mapping: Mapping[str, Any], source: str, path: str | PathLike[str]) -> None:
    """Write a mapping as TOML. mapping: options, and `columns` by role; source: where the table is, for a comment."""
    options, columns = {**mapping}, mapping["columns"]
    del options["columns"]
    lines = [f"# How the columns of {printable(source)} are read; for --config of any verb."]
    lines += [*_toml(options), *(["", "[columns]", *_toml(columns)] if columns else [])]
    write_text(path, "\n".join(lines) + "\n")


def _toml(values: Mapping[str, Any]) -> Iterator[str]:
    # A JSON string is also a TOML string, but for the character of the key "delete".
    texts = ((json.dumps(name), json.dumps(value, ensure_ascii=False)) for name, value in values.items())
    return (f"{name} = {value}".replace("\x7f", "\\u007f") for name, value in texts)
