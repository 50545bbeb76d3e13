"""Public data sets are opened by every verb without their format; options and readers that cannot be are told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import offrank
from offrank.errors import OffrankError, RowError, UsageError
from offrank.log.source import Needs
from offrank.readers import Reader
from tests.cli.commands import call

CRITEO = "5 |l 0.001 |p 2.0 |f 0:1 2:1\n5 |f 0:1 3:1\n6 |l 0.999 |p 20.0 |f 0:1 3:1\n6 |f 0:1 2:1\n"
YANDEX = "7_1\t1,2,3 : 2 ;7_1\t2,1,3 : 1 ;\n" * 20
BANDIT = "timestamp,item_id,position,click,propensity_score\n" + "d,0,1,1,0.5\nd,1,2,0,0.5\n" * 20


@pytest.fixture
def logs(tmp_path: Path) -> Callable[[str], Path]:
    """A function that writes a log in a format, under a name that does not tell it."""

    def write(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        text = {"criteo": CRITEO, "yandex": YANDEX, "open_bandit": BANDIT}[name]
        path = folder / ("log.csv" if name == "open_bandit" else "log")
        path.write_text(text)
        if name == "open_bandit":
            (folder / "item_context.csv").write_text(",item_id,f\n0,0,a\n1,1,b\n")
        return path

    return write


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("criteo", ["evaluate", "LOG", "--target", "uniform", "-e", "ips", "-e", "snips"]),
        ("criteo", ["compare", "LOG", "--target", "uniform", "--target", "epsilon(logged,.5)", "-e", "ips"]),
        ("criteo", ["check", "LOG", "--target", "uniform"]),
        ("open_bandit", ["evaluate", "LOG", "--target", "uniform", "-e", "snips"]),
        ("yandex", ["evaluate", "LOG", "--target", "uniform", "--logging", "counted(by=query)", "-e", "ipm"]),
        ("yandex", ["check", "LOG", "--logging", "counted(by=query)"]),
        ("yandex", ["clicks", "fit", "LOG", "--model", "pbm", "-o", "OUT"]),
        ("yandex", ["clicks", "harvest", "LOG"]),
        ("yandex", ["convert", "LOG", "-o", "OUT"]),
    ],
    ids=lambda one: " ".join(one[:2]) if isinstance(one, list) else one,
)
def test_every_verb_opens_it(name: str, words: list[str], logs: Callable[[str], Path], tmp_path: Path) -> None:
    places = {"LOG": str(logs(name)), "OUT": str(tmp_path / "out.parquet")}
    written = [places.get(word, word) for word in words]
    found = call(*written)
    (tmp_path / "out.parquet").unlink(missing_ok=True)
    named = call(*written, "--format", name)
    assert (found.exit_code, found.stderr) == (named.exit_code, f"read as {name}\n{named.stderr}")
    assert "cannot tell the format" not in found.stderr
    assert found.stdout.partition("To repeat")[0] == named.stdout.partition("To repeat")[0]


@pytest.mark.parametrize("role", ["slate", "clicks"])
def test_a_column_that_is_not_there_is_told(role: str, logs: Callable[[str], Path]) -> None:
    with pytest.raises(OffrankError):
        offrank.read_log(logs("yandex"), {role: "shown"})
    with pytest.raises(OffrankError, match="shown"):
        offrank.read_log([{"shows": [1, 2], "clicks": [0, 1]}], {role: "shown"}).select(Needs(frozenset(["clicks"])))


def test_the_option_that_is_to_be_left_out_is_one_that_there_is(logs: Callable[[str], Path]) -> None:
    done = call("evaluate", logs("yandex"), "--format", "yandex", "--column", "slate=a", "--target", "uniform")
    assert "omit --column\n" in done.stderr


def test_a_reader_takes_invalid_rows_and_a_format_is_a_reader(tmp_path: Path) -> None:
    def plain(path: str) -> object:
        return offrank.read_log(path)

    with pytest.raises(UsageError, match="the reader plain has no argument `invalid`"):
        Reader(plain)  # type: ignore[arg-type]
    assert repr(Reader(lambda path, **_: offrank.read_log(path))) == "<lambda>"  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="which is not a reader"):
        offrank.read_log(tmp_path, format=plain)  # type: ignore[arg-type]


def test_a_list_called_candidates_is_no_slate_beside_one_called_slate() -> None:
    """Though the slate contains it, and what was clicked has its length: it lacks an item that was shown."""
    row = {"slate": ["a", "b"], "candidates": ["a"], "clicked": ["b"]}
    with pytest.raises(RowError, match=r"column 'slate': \['a', 'b'\] shows an item that is not among the candidates"):
        list(offrank.read_log([row]).select(Needs(frozenset(["clicks", "candidates"]))).batches(0))
