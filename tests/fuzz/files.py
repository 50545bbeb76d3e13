"""Cases of bytes: text logs, click models, policies and states, as they were written, with a few edits."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import offrank
from offrank.policies import Uniform
from tests.clicks.aged import aged

from . import logs
from .answers import Wrong, in_json
from .cases import LogCase
from .forms import FORMS
from .questions import Asked, ask_read
from .values import ODD_NUMBERS, ODD_TEXTS

_TOKENS: tuple[bytes, ...] = (
    *(
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\r",
        b"\n",
        b'"',
        b"'",
        b",",
        b";",
        b"[",
        b"]",
        b"{",
        b"}",
        b"null",
        b"NaN",
        b"-",
    ),
    *(b"Infinity", b"1e999", b"9" * 40, b"\\u0000", b"\\ud800", b"[" * 200, b"0x", b"\t", b"#", b":", b"true"),
)


@dataclass(frozen=True)
class Edit:
    """A change of bytes `at` some place: flip, cut, delete, insert or repeat; or of the JSON value of that number."""

    how: str
    at: int
    data: bytes

    def applied(self, content: bytes) -> bytes:
        """Return the changed bytes."""
        if self.how == "value":
            return _other_value(content, self.at, self.data)
        at, n = self.at % max(len(content), 1), len(self.data)
        if self.how == "cut":
            return content[:at]
        if self.how == "flip":
            return content[:at] + bytes([content[at] ^ self.data[0]]) + content[at + 1 :] if content else content
        middle = {"delete": b"", "insert": self.data + content[at : at + n], "repeat": 2 * content[at : at + n]}
        return content[:at] + middle[self.how] + content[at + n :]


@dataclass(frozen=True)
class FileCase:
    """A file of one kind with edits, and what is asked of that kind."""

    kind: str
    edits: tuple[Edit, ...]
    seed: str = ""

    @property
    def question(self) -> str:
        """What is asked, in a word."""
        return f"bytes of {self.kind}"

    def ask(self, folder: Path) -> None:
        """Write the file and read it."""
        suffix, make, ask = FILE_KINDS[self.kind]
        content = make()
        for edit in self.edits:
            content = edit.applied(content)
        path = folder / f"file.{suffix}"
        path.write_bytes(content)
        ask(path)


def draw_file(seed: str, rng: random.Random) -> FileCase:
    """Draw the case of a seed."""
    kind = rng.choice(list(FILE_KINDS))
    return FileCase(kind, tuple(_edit(rng, kind) for _ in range(rng.choice([1, 1, 1, 2, 5]))), seed)


def _edit(rng: random.Random, kind: str) -> Edit:
    at = rng.randrange(1 << 20)
    if FILE_KINDS[kind][0] == "json" and rng.random() < 0.6:
        values = [*ODD_NUMBERS, *ODD_TEXTS, [], {}, [[1]], [1] * 50, {"a": {"a": 1}}, 10**400]
        return Edit("value", at, json.dumps(rng.choice(values)).encode())
    how = rng.choice(["flip", "cut", "delete", "insert", "insert", "repeat"])
    if how == "insert":
        return Edit(how, at, rng.choice(_TOKENS))
    return Edit(how, at, bytes([1 << rng.randrange(8)]) if how == "flip" else bytes(rng.choice([1, 1, 2, 8, 64])))


def _other_value(content: bytes, number: int, data: bytes) -> bytes:
    """Replace one value of a JSON text, or drop a key where the new value is an empty object."""
    try:
        tree = json.loads(content)
    except ValueError:
        return content
    places: list[tuple[Any, Any]] = []
    waiting = [tree]
    for held in waiting:
        keys = held.keys() if isinstance(held, dict) else range(len(held))
        places += [(held, key) for key in keys]
        waiting += [held[key] for key in keys if isinstance(held[key], dict | list)]
    if places:
        held, key = places[number % len(places)]
        held[key] = json.loads(data)
        if data == b"{}":
            del held[key]
    return json.dumps(tree).encode()


@cache
def _log() -> LogCase:
    rng = random.Random(5)
    rows = [
        row
        for _ in range(9)
        for row in [logs.wide(rng)]
        if {"propensity", "query"} <= row.keys() and len(row["new"]) > 2
    ]
    return LogCase("wide", rows[0])


def _text(form: str) -> Callable[[], bytes]:
    @cache
    def make() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            return bytes(Path(FORMS[form](_log(), Path(folder))).read_bytes())

    return make


def _made(write: Callable[[list[dict[str, Any]], Path], Any], name: str = "file.npz") -> Callable[[], bytes]:
    """What a verb writes of a log with features; JSON without its checksum, which would refuse any change."""

    @cache
    def make() -> bytes:
        rng, rows = np.random.default_rng(1), []
        for index in range(40):
            slate, clicks = rng.permutation(4).tolist(), rng.integers(0, 2, 4).tolist()
            features = rng.integers(0, 3, (4, 2)).astype(float).tolist()
            rows.append({"query": f"q{index % 4}", "slate": slate, "clicks": clicks, "features": features})
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            write(rows, path)
            return json.dumps(aged(path)).encode() if path.suffix == ".json" else path.read_bytes()

    return make


def _ask_log(path: Path) -> None:
    ask_read(Asked(LogCase("wide", {}, form="bytes"), path, path.parent))
    in_json(json.dumps(offrank.inspect(path).to_dict()))


def _rows() -> list[dict[str, Any]]:
    return [{"query": "q1", "slate": [1, 2], "clicks": [0, 1], "features": [[0.0, 1.0], [2.0, 0.0]]}] * 3


def _ask_model(path: Path) -> None:
    in_json(offrank.evaluate_clicks(_rows(), str(path)).to_json())
    offrank.judge_clicks(path)
    offrank.predict_clicks(_rows(), path, path.with_name("predicted.csv"))


def _ask_policy(path: Path) -> None:
    in_json(offrank.evaluate(_rows(), f"linear({str(path)!r})", Uniform(), "ips", cluster=None).to_json())


def _ask_state(path: Path) -> None:
    found = offrank.merge(path)["ips"]
    if (found.value, found.n) != _answer():
        raise Wrong(f"another answer of a damaged state: {found.value}, {found.n} rows")


@cache
def _answer() -> tuple[float, int]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.state"
        path.write_bytes(FILE_KINDS["state"][1]())
        found = offrank.merge(path)["ips"]
    return found.value, found.n


def _fit(model: str) -> Callable[[list[dict[str, Any]], Path], Any]:
    return lambda rows, path: offrank.fit_clicks(rows, model, path)


def _learn(rows: list[dict[str, Any]], path: Path) -> None:
    offrank.learn(rows, "regression", path, logging="uniform", split="hash", test=False)


def _state(rows: list[dict[str, Any]], path: Path) -> None:
    offrank.evaluate(rows, Uniform(), "uniform", "ips", cluster=None, state=path)


FILE_KINDS: dict[str, tuple[str, Callable[[], bytes], Callable[[Path], None]]] = {
    "csv": ("csv", _text("csv"), _ask_log),
    "json lines": ("jsonl", _text("json lines"), _ask_log),
    "json array": ("json", _text("json array"), _ask_log),
    "packed text": ("csv.gz", _text("csv.gz"), _ask_log),
    "arrow": ("arrow", _text("arrow"), _ask_log),
    "parquet": ("parquet", _text("parquet"), _ask_log),
    "pbm": ("json", _made(_fit("pbm"), "file.json"), _ask_model),
    "dbn": ("json", _made(_fit("dbn"), "file.json"), _ask_model),
    "packed pbm": ("npz", _made(_fit("pbm")), _ask_model),
    "policy": ("npz", _made(_learn), _ask_policy),
    "state": ("state", _made(_state), _ask_state),
}
"""Kind -> its suffix, the bytes of a sound file, and what is asked of one."""
