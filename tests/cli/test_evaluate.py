"""`offrank evaluate` and `offrank check`: the same words as in Python, and what goes where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.estimators import IPM as ItemPosition
from offrank.estimators import DoublyRobust, Interpol, clip
from offrank.readers import read_log
from offrank.report import terminal
from offrank.wording import worded
from tests.cli.commands import LOGGING, TARGET, call, written
from tests.verbs.logs import coins, replaced, search
from tests.verbs.schema import assert_document

ALL_OPTIONS = [
    *("--target", "new=top(new_score)", "--target", "b = epsilon(top(naive_score), 0.5)"),
    *LOGGING,
    *("-e", "snips", "-e", "interpol(window=2)", "--estimator", "clip(ipm, 9)"),
    *("--examination", "1,.5,.33", "--confidence", "0.9", "--interval", "bootstrap", "--replicates", "20"),
    *("--seed", "3", "--cluster", "query", "--by", "device", "--workers", "2"),
]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("log"))


def saved(tmp_path: Path, log: Path, *words: object) -> dict:
    """What a command writes as JSON, without the time and the command."""
    done = call(*words[:1], log, *words[1:], "--json", tmp_path / "out.json", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    document = json.loads((tmp_path / "out.json").read_text())
    assert_document(document)
    return {name: value for name, value in document.items() if name not in ("created", "command")}


def test_what_is_printed_can_be_typed_back_nested_and_in_lists(tmp_path: Path, log: Path) -> None:
    model = str(tmp_path / "m.json")
    offrank.fit_clicks(log, "pbm", model, by=None)
    made = [
        DoublyRobust(model, residual=clip(ItemPosition(), 10)),
        Interpol(window=1, examination=(1, 0.5, 0.25)),
        clip(Interpol(window=0), 3),
    ]
    result = offrank.evaluate(log, "top(new_score)", "plackett_luce(old_score)", made)
    printed = [name for _, name in result]
    assert printed == list(map(repr, made))
    whole = worded(result.to_dict(), "command line")
    expected = {name: value for name, value in whole.items() if name not in ("created", "command")}
    said = ("evaluate", *TARGET, *LOGGING)
    assert saved(tmp_path, log, *said, "-e", ", ".join(printed)) == expected
    assert saved(tmp_path, log, *said, "-e", f"[{', '.join(printed)}]") == expected
    assert saved(tmp_path, log, *said, *(word for name in printed for word in ("-e", name))) == expected


@pytest.mark.turns(3)
@pytest.mark.parametrize("verb", [offrank.evaluate, offrank.compare])
def test_the_log_may_choose_the_estimator(tmp_path: Path, log: Path, verb: Any) -> None:
    result = verb(log, "top(new_score)", "plackett_luce(old_score)", "auto")
    whole = worded(result.to_dict(), "command line")
    assert [row["estimator"] for row in whole["estimates"]] == ["auto"]
    expected = {name: value for name, value in whole.items() if name not in ("created", "command")}
    assert saved(tmp_path, log, verb.__name__, *TARGET, *LOGGING, "-e", "auto") == expected


def test_an_examination_curve_may_stand_in_brackets(tmp_path: Path, log: Path) -> None:
    said = ("evaluate", *TARGET, *LOGGING, "-e", "pbm")
    bracketed = saved(tmp_path, log, *said, "--examination", "[1, .5, .25]")
    assert bracketed == saved(tmp_path, log, *said, "--examination", "1,.5,.25")
    assert bracketed["examination"] == [1, 0.5, 0.25]


def test_metrics_may_stand_in_a_list_with_their_options(tmp_path: Path, log: Path) -> None:
    names = ["counterfactual_loss(form=hinge)", "counterfactual_disagreement(draws=3, seed=1)"]
    call("measure", log, *LOGGING, "--score", "new_score", "-m", ", ".join(names), "--json", tmp_path / "m.json")
    assert [row["metric"] for row in json.loads((tmp_path / "m.json").read_text())["metrics"]] == names


def test_the_command_line_and_python_say_the_same(tmp_path: Path, log: Path) -> None:
    result = offrank.evaluate(
        log,
        {"new": "top(new_score)", "b": "epsilon(top(naive_score), 0.5)"},
        "plackett_luce(old_score)",
        ["snips", "interpol(window=2)", "clip(ipm, 9)"],
        examination=[1, 0.5, 0.33],
        confidence=0.9,
        interval="bootstrap",
        replicates=20,
        seed=3,
        cluster="query",
        by="device",
    )
    whole = worded(result.to_dict(), "command line")  # remedies name options instead of arguments
    found = saved(tmp_path, log, "evaluate", *ALL_OPTIONS)
    assert found == {name: value for name, value in whole.items() if name in found}


def test_the_same_seed_gives_the_same_json_whatever_the_workers(tmp_path: Path, log: Path) -> None:
    first = saved(tmp_path, log, "evaluate", *ALL_OPTIONS)
    assert saved(tmp_path, log, "evaluate", *ALL_OPTIONS) == first
    assert saved(tmp_path, log, "evaluate", *ALL_OPTIONS, "--workers", "1") == first
    assert saved(tmp_path, log, "evaluate", *ALL_OPTIONS, "--seed", "4") != first


def test_check_says_the_same_as_python(tmp_path: Path, log: Path) -> None:
    result = offrank.check(log, "top(new_score)", "plackett_luce(old_score)", confidence=0.9)
    whole = worded(result.to_dict(), "command line")
    found = saved(tmp_path, log, "check", *LOGGING, *TARGET, "--confidence", "0.9")
    assert found == {name: value for name, value in whole.items() if name in found}


def test_results_on_stdout_and_nothing_else(log: Path) -> None:
    done = call("evaluate", log, *TARGET, *LOGGING)
    assert (done.exit_code, done.stderr) == (0, "")
    result = offrank.evaluate(log, "top(new_score)", "plackett_luce(old_score)")
    assert done.stdout == terminal.render_text(worded(result.to_document(), "command line"))
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    checked = call("check", log, *LOGGING)
    assert (checked.exit_code, checked.stderr) == (0, "")
    assert "Mean importance weight of uniform" in checked.stdout


def test_json_on_stdout_is_all_that_is_printed(log: Path) -> None:
    plain, priced = (
        call("evaluate", log, *TARGET, *LOGGING, "--json", "-", *words)
        for words in ((), ("--title", "Shop", "--unit", "EUR a visit", "--worth", "0.5"))
    )
    one, two = json.loads(plain.stdout), json.loads(priced.stdout)
    assert one["estimates"] == two["estimates"]  # in the unit of the log, whatever that is worth
    assert [two[name] for name in ("title", "unit", "worth")] == ["Shop", "EUR a visit", 0.5]
    assert not Path("-").exists()


def test_the_report_repeats_the_command(tmp_path: Path, log: Path) -> None:
    report = tmp_path / "report.html"
    done = call("evaluate", log, *TARGET, *LOGGING, "-e", "ipm", "--html", report, "--json", tmp_path / "out.json")
    assert done.exit_code == 0
    command = json.loads((tmp_path / "out.json").read_text())["command"]
    assert command.startswith(f"offrank evaluate {log} --target 'top(new_score)' --logging 'plackett_luce(old_score)'")
    assert "--target" in report.read_text()


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".data"])
def test_formats(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"other{suffix}"
    if suffix == ".arrow":
        pyarrow.feather.write_feather(search(), path)
    else:
        pq.write_table(search(), path)
    for words in ([], ["--format", "arrow" if suffix == ".arrow" else "parquet"]):
        assert call("evaluate", path, *TARGET, *LOGGING, *words).stdout.startswith("What the new ranking")


def test_a_long_csv(tmp_path: Path) -> None:
    rows = [
        {"impression": n, "item": item, "position": rank + 1, "click": click, "propensity": 0.5, "score": item + 1.0}
        for n, one in enumerate(coins(200).to_pylist())
        for rank, (item, click) in enumerate(zip(one["slate"], one["clicks"], strict=True))
    ]
    path = tmp_path / "long.csv"
    pyarrow.csv.write_csv(pyarrow.Table.from_pylist(rows), path)
    done = call("evaluate", path, "--target", "uniform", "-e", "ips")
    assert (done.exit_code, done.stderr) == (0, "")


def test_columns_by_role(tmp_path: Path) -> None:
    path = tmp_path / "renamed.parquet"
    renamed = search().rename_columns({"slate": "shown", "clicks": "hits"})
    pq.write_table(renamed.append_column("marks", renamed["hits"]), path)  # two flags: neither is taken unasked
    assert call("evaluate", path, *TARGET, *LOGGING).exit_code == 1
    words = ["--column", "slate=shown", "--column", "clicks=hits"]
    assert call("evaluate", path, *TARGET, *LOGGING, *words).exit_code == 0


def test_rows_that_break_a_rule(tmp_path: Path) -> None:
    path = tmp_path / "broken.parquet"
    propensity = np.array(search()["propensity"].to_pylist())
    propensity[5] = 2.0
    pq.write_table(replaced(search(), propensity=propensity), path)
    done = call("evaluate", path, *TARGET)
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"{path}, row 5 (the first is 0), column 'propensity': 2.0 is not in (0, 1]" in done.stderr
    assert "what to do: " in done.stderr
    skipping = call("check", path, "--skip-invalid", "--json", tmp_path / "out.json")
    assert skipping.exit_code == 0
    assert json.loads((tmp_path / "out.json").read_text())["log"]["skipped"] == {"bad-propensity": 1}
    assert read_log(path, invalid="skip").describe() in skipping.stdout or "left out" in skipping.stdout


def test_quiet_prints_nothing_but_errors(log: Path) -> None:
    assert call("evaluate", log, *TARGET, *LOGGING, "--quiet").output == ""
    assert "no column" in call("evaluate", log, "--target", "top(nope)", "--quiet").stderr


def test_the_choice_of_an_estimator_is_that_of_python(log: Path, tmp_path: Path) -> None:
    asked = ("select", "estimators", log, "--target", TARGET[1], *LOGGING, "-e", "snips, snipm")
    done = call(*asked, "--json", tmp_path / "out.json")
    found = offrank.select_estimators(str(log), TARGET[1], LOGGING[1], ["snips", "snipm"])
    assert (done.exit_code, f"{found.chosen} is the choice" in done.output) == (0, True)
    written = json.loads((tmp_path / "out.json").read_text())
    assert (written["chosen"], written["candidates"]) == (found.chosen, found.to_dict()["candidates"])
    assert call(*asked[:-1], "-1").exit_code == 2
