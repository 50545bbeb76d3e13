"""Several files on the command line: parts of one log, or the impressions and the clicks on them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import offrank
from tests.cli.commands import call


@pytest.fixture(name="files")
def written(tmp_path: Path) -> dict[str, Path]:
    """The impressions and the clicks of a log that is drawn uniformly, its two halves, and orders of a shop."""
    rng = np.random.default_rng(0)
    lists, slots = 300, 4
    items = np.argsort(rng.random((lists, 10)), axis=1)[:, :slots] + 100
    clicked = rng.random((lists, slots)) < 0.3
    ids = np.repeat(np.arange(lists), slots)
    shown = pa.table({"request_id": ids, "sku": items.ravel(), "rank": np.tile(np.arange(slots) + 1, lists)})
    tables = {
        "impressions": shown.append_column("ml_score", pa.array(rng.random(lists * slots).round(4))),
        "clicks": shown.select(["request_id", "sku"]).filter(pa.array(clicked.ravel())),
        "orders": pa.table({"order_id": np.arange(50), "amount": rng.random(50)}),
    }
    whole = tables["impressions"].append_column("clicked", pa.array(clicked.ravel().astype(int)))
    tables |= {"first": whole.slice(0, 600), "second": whole.slice(600), "whole": whole}
    for name, table in tables.items():
        pyarrow.csv.write_csv(table, tmp_path / f"{name}.csv")
    return {name: tmp_path / f"{name}.csv" for name in tables}


EVERY = [
    ["evaluate", "--target", "top(ml_score)", "--logging", "uniform", "-e", "snips"],
    ["measure", "--score", "ml_score", "--logging", "uniform", "-m", "pairwise_ndcg"],
    ["clicks", "harvest"],
]


def answers(words: list[str], logs: list[Path], to: Path) -> list[float]:
    """Run a verb on some files, and return the numbers that it gives."""
    done = call(*words, *logs, "--json", to)
    assert done.exit_code in (0, 3), done.output
    found = json.loads(to.read_text())
    return found["curve"] if "curve" in found else [one["value"] for one in found.get("estimates") or found["metrics"]]


@pytest.mark.parametrize("words", EVERY, ids=lambda words: words[-1])
@pytest.mark.parametrize("two", [("impressions", "clicks"), ("second", "first")], ids=lambda two: two[0])
def test_a_verb_reads_two_files_as_their_log(
    words: list[str], two: tuple[str, str], files: dict[str, Path], tmp_path: Path
) -> None:
    found = answers(words, [files[one] for one in two], tmp_path / "two.json")
    assert found
    assert found == pytest.approx(answers(words, [files["whole"]], tmp_path / "one.json"), rel=1e-9)


def test_what_inspect_says_runs(files: dict[str, Path], tmp_path: Path) -> None:
    found = offrank.inspect([files["impressions"], files["clicks"]])
    words = shlex.split(found.command)
    assert [str(files["impressions"]), str(files["clicks"])] == words[words.index("fit") + 1 :][:2]
    words[words.index("-o") + 1] = str(tmp_path / "pbm.json")
    assert call(*words[1:]).exit_code in (0, 3)


@pytest.mark.parametrize("verb", ["inspect", "check"])
def test_two_tables_that_do_not_join_are_told(verb: str, files: dict[str, Path]) -> None:
    done = call(verb, files["impressions"], files["orders"])
    assert done.exit_code == (0 if verb == "inspect" else 1)  # a readable table is described
    said = " ".join((done.stdout + done.stderr).split())
    assert "it is not clear how clicks in one refer to items in the other" in said
    assert "sku, rank, ml_score; " in said


def test_a_file_that_is_not_there_is_told(files: dict[str, Path]) -> None:
    done = call("check", files["whole"], "top(ml_score)")
    assert done.exit_code == 1
    assert "there is no log at 'top(ml_score)'" in done.stderr
    assert call("check").exit_code == 2
