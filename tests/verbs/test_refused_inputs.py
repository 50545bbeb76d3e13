"""What cannot be a log, a policy, a model or an executor is refused before it is read, in one error."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

import offrank
from offrank.errors import UsageError
from offrank.language import files

ROWS = [{"slate": ["a", "b"], "clicks": [1, 0], "candidates": ["a", "b", "c"]}] * 60


@pytest.mark.parametrize("source", ["", [""]], ids=["path", "list"])
@pytest.mark.parametrize("ask", [offrank.inspect, lambda log: offrank.evaluate(log, "uniform", "uniform")])
def test_an_empty_path_is_not_the_working_folder(ask: Any, source: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("slate,clicks\n1|2,0|1\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"(?s)the path of the log is empty.*'\.' is the folder"):
        ask(source)


ASKED = {
    "linear": lambda path: offrank.evaluate(ROWS, f"linear('{path}')", "uniform"),
    "boosted": lambda path: offrank.evaluate(ROWS, f"boosted('{path}')", "uniform"),
    "dr": lambda path: offrank.evaluate(ROWS, "uniform", "uniform", f"dr('{path}')"),
    "merge": lambda path: offrank.merge([path]),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("device", ["/dev/zero", "pipe"])
def test_devices_and_pipes_are_no_models(device: str, asked: str, tmp_path: Path) -> None:
    path = device
    if device == "pipe":
        path = str(tmp_path / "pipe")
        os.mkfifo(path)
    with pytest.raises(UsageError, match=r"(?s)is a device or a pipe.*save what comes from it as a file"):
        ASKED[asked](path)


def test_no_model_is_larger_than_the_largest(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(files, "_LARGEST", 10)
    (tmp_path / "model.json").write_text("1234567890", encoding="utf-8")
    with pytest.raises(UsageError, match="is not a click model"):
        ASKED["dr"](str(tmp_path / "model.json"))
    (tmp_path / "model.json").write_text("12345678901", encoding="utf-8")
    with pytest.raises(UsageError, match="is larger than 10 bytes"):
        ASKED["dr"](str(tmp_path / "model.json"))


HEADERS = ["((((", "{'descr': '''<i8", "{'descr': '<i8', 'shape': (3,", "  {\n 1\n", "{[]: 1}", "'" * 7]


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_of_broken_python(header: str, tmp_path: Path) -> None:
    path, text = tmp_path / "policy.npz", header.encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("format.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(24))
    with pytest.raises(UsageError, match=r"policy\.npz' is not a learnt policy"):
        ASKED["linear"](str(path))


@pytest.mark.parametrize("ask", [offrank.inspect, offrank.read_log])
@pytest.mark.parametrize(
    ("columns", "said"),
    [({"slate": 3}, "the column of 'slate' is 3, not a name"), ({3: "slate"}, "3 is not a role of a column")],
)
def test_columns_are_named_by_text(ask: Any, columns: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ask(ROWS, columns=columns)


@pytest.mark.parametrize("executor", [3, object()])
def test_what_is_no_executor(executor: Any) -> None:
    with pytest.raises(UsageError, match=r"(?s)is no executor.*client\.get_executor\(\)"):
        offrank.evaluate(ROWS, "uniform", "uniform", executor=executor)
