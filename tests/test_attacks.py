"""Files that fill the memory, links, rights, and names that are markup: refused at once, or harmless wherever shown."""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import LogError, OffrankError, UsageError
from offrank.policies.boosted import Boosted
from offrank.policies.linear import Linear
from tests.cli.commands import LOGGING, TARGET, call
from tests.verbs.logs import search


def npy(shape: tuple[int, ...], data: bytes = b"", kind: str = "<i8") -> bytes:
    """A NumPy file whose header says this shape, whatever follows."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
    return file.getvalue() + data


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


FORMAT = npy((3,), struct.pack("<3q", 1, 4, 0))
ARRAYS = {
    "10^9 numbers": {"action.npy": npy((10**9,)), "format.npy": FORMAT, "weights.npy": npy((10**9,))},
    "10^13 numbers": {"action.npy": npy((10**13,)), "format.npy": FORMAT, "weights.npy": npy((10**13,))},
    "10^30 numbers": {"action.npy": npy((10**10,) * 3), "format.npy": FORMAT, "weights.npy": npy((10**10,) * 3)},
    "less than none": {"action.npy": npy((-1,)), "format.npy": FORMAT, "weights.npy": npy((-1,))},
    "no array": {"action": b"action", "format.npy": FORMAT, "weights": b"\0" * 8},
    "a bomb": {"action.npy": npy((2 * 10**6,), b"\0" * 16 * 10**6), "format.npy": FORMAT},
    "paths": {"../../evil.npy": FORMAT, "/tmp/evil.npy": FORMAT, "action.npy": npy((1,)), "format.npy": FORMAT},
}


@contextmanager
def small() -> Iterator[None]:
    """A second of the processor at most, and 50 MB."""
    start = time.process_time()
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.process_time() - start < 1.0
    assert peak < 50e6


@pytest.mark.parametrize("what", ARRAYS)
def test_files_of_arrays_are_refused_before_they_fill_the_memory(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("offrank.language.files._UNPACKED", 1_000_000)
    with pytest.raises(LogError, match="none"):
        offrank.evaluate(str(tmp_path / "none.parquet"), "uniform", "logged", "ips")  # loads what is needed
    path = zipped(tmp_path / "a.npz", ARRAYS[what])
    with small(), pytest.raises(LogError, match=r"a\.npz"):
        offrank.evaluate(str(path), "uniform", "logged", "ips")
    for policy in (Linear, Boosted):
        with small(), pytest.raises(UsageError, match=r"a\.npz"):
            _ = policy(str(path)).model
    assert [each.name for each in tmp_path.iterdir()] == ["a.npz"]


@pytest.mark.parametrize("name", ["log.jsonl.gz", "log.csv.gz"])
def test_a_line_without_end_in_a_small_archive_is_refused(name: str, tmp_path: Path) -> None:
    first = {"log.jsonl.gz": '{"slate": [0], "clicks": [0]}\n{"slate": ["', "log.csv.gz": 'slate,clicks\n"[0]","[0]"\n'}
    with gzip.open(tmp_path / name, "wb", 1) as file:
        file.write(first[name].encode())
        for _ in range(100):
            file.write(b"1" * 2**20)
    assert (tmp_path / name).stat().st_size < 2**20
    start = time.process_time()
    with pytest.raises(LogError, match=name.replace(".", r"\.")):
        offrank.evaluate(str(tmp_path / name), "uniform", "logged", "ips")
    assert time.process_time() - start < 1.0


def test_a_row_without_end_in_a_small_file_is_refused(tmp_path: Path) -> None:
    endless = pa.ListArray.from_arrays(pa.array([0, 2**24]), pa.array(np.zeros(2**24, np.int8)))
    pq.write_table(pa.table({"slate": endless, "clicks": endless, "propensity": [0.5]}), tmp_path / "log.parquet")
    assert (tmp_path / "log.parquet").stat().st_size < 10_000
    with small(), pytest.raises(LogError, match=r"log\.parquet.* row group 0 has [\d,]+ values in 1 rows"):
        offrank.evaluate(str(tmp_path / "log.parquet"), "uniform", "logged", "ips")


MODELS = {
    "deep": "[" * 200_000,
    "a number of megabytes": '{"offrank": ' + "9" * 5_000_000 + "}",
    "no end of slots": '{"model": "pbm", "format": 1, "slots": 1000000000000, "tables": {}}',
    "no text": "\0" * 1_000_000,
    "a list": "[]",
}


@pytest.mark.parametrize("what", MODELS)
def test_click_models_are_refused_by_name(what: str, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(MODELS[what])
    with small(), pytest.raises(OffrankError, match=r"model\.json"):
        offrank.judge_clicks(tmp_path / "model.json", tmp_path / "out.csv")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pq.write_table(search().slice(0, 300), tmp_path / "log.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


ASKED = ["log.parquet", *TARGET, *LOGGING, "-e", "snips", "--quiet"]
WRITTEN = [
    ["evaluate", *ASKED, "--json", "a.json", "--html", "a.html", "--state", "a.state", "--checkpoint", "kept"],
    ["convert", "log.parquet", "-o", "a.parquet", "--quiet"],
    ["convert", "log.parquet", "-o", "a.arrow", "--quiet"],
    ["clicks", "fit", "log.parquet", "--model", "gctr", "-o", "model.json", "--quiet"],
    ["inspect", "log.parquet", "--save", "a.toml", "--quiet"],
]


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_every_file_has_the_rights_of_the_umask(umask: int, folder: Path) -> None:
    before = os.umask(umask)
    try:
        for words in WRITTEN:
            assert call(*words).exit_code == 0
    finally:
        os.umask(before)
    made = [path for path in folder.rglob("*") if path.name != "log.parquet"]
    assert len([path for path in made if path.is_file()]) >= 8
    for path in made:
        assert stat.S_IMODE(path.stat().st_mode) == (0o777 if path.is_dir() else 0o666) & ~umask, path


def test_no_output_follows_a_link(folder: Path) -> None:
    (folder / "theirs").mkdir()
    for name in ("a.json", "a.html", "a.state"):
        (folder / "theirs" / name).write_text("kept")
        (folder / name).symlink_to(folder / "theirs" / name)
    assert call(*WRITTEN[0]).exit_code == 2  # what is there is not offrank's
    assert call(*WRITTEN[0], "--overwrite").exit_code == 0
    for name in ("a.json", "a.html", "a.state"):
        assert (folder / "theirs" / name).read_text() == "kept"
        assert not (folder / name).is_symlink()
        assert "kept" not in (folder / name).read_bytes().decode("latin-1")[:4]


def test_a_checkpoint_folder_may_be_a_link_and_what_is_in_it_is_not_followed(folder: Path) -> None:
    (folder / "disk").mkdir()
    (folder / "kept").symlink_to(folder / "disk")
    assert call(*WRITTEN[0]).exit_code == 0
    states = list((folder / "disk").iterdir())
    assert states
    for state in states:
        (folder / state.name).write_text("theirs")
        state.unlink()
        state.symlink_to(folder / state.name)
    done = call(*WRITTEN[0], "--overwrite")
    assert (done.exit_code, "is not a state" in done.stderr) == (1, True)
    assert call(*WRITTEN[0], "--overwrite", "--fresh").exit_code == 0
    assert all((folder / state.name).read_text() == "theirs" for state in states)
    assert not any(state.is_symlink() for state in states)


def test_no_output_tells_where_the_folders_are(folder: Path) -> None:
    for words in WRITTEN:
        done = call(*(word for word in words if word != "--quiet"))
        assert done.exit_code == 0
        assert str(folder) not in done.output
    home = str(Path.home())
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert os.fsencode(folder) not in content, path
            assert len(home) < 3 or os.fsencode(home + "/") not in content, path


EVIL = "<img src=x onerror=alert(1)>\"'&|`\x1b[31m\u202e\x07\n=1+1"
SCRIPT = "</script><script>alert(1)</script>\u2066"


def evil_log(path: str) -> None:
    rng, n = np.random.default_rng(0), 400
    ids = ["=cmd|x<img src=x>\u202e", "@y\x1b[0m", "-z|q", "w`"]
    columns = {
        "slate": [[ids[place] for place in rng.permutation(4)[:2]] for _ in range(n)],
        "candidates": [ids] * n,
        "clicks": rng.integers(0, 2, (n, 2)).tolist(),
        "propensity": [1 / 12] * n,
        EVIL: [EVIL, SCRIPT] * (n // 2),
        f"score {EVIL}": rng.random((n, 4)).tolist(),
    }
    pq.write_table(pa.table(columns), path)


def shown(result: offrank.Result) -> str:
    with redirect_stdout(io.StringIO()) as said:
        result.show()
    return said.getvalue()


def test_no_name_is_markup_or_turns_a_line_in_any_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evil_log(name := "l<img src=x>\u202e\x1b[31m;'\".parquet")
    targets = {EVIL: offrank.Top(f"score {EVIL}"), SCRIPT: "uniform"}
    results = [
        offrank.evaluate(name, targets, "logged", ["ips", "snips"], by=EVIL),
        offrank.check(name, target=offrank.Top(f"score {EVIL}")),
        offrank.compare(name, targets, "logged"),
    ]
    for number, result in enumerate(results):
        result.save_html(f"{number}.html")
        page = Path(f"{number}.html").read_text(encoding="utf-8")
        for markup in (page, result._repr_html_()):
            assert not re.search(r"<img src=x|</script><script>alert", markup)
            assert "onerror=alert(1)" in markup.replace("&#61;", "=") or number == 1
        plain = shown(result), result.to_markdown()
        assert not re.search(r"(?<!\\)<(img|script)", plain[1])
        for text in (page, result._repr_html_(), *plain):
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)
        assert any("\ufffd" in text for text in (page, *plain))
