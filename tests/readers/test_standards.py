"""Named standards are read with no word said, as the same log in our own form; what tells of no ranking says so."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import LogError, OffrankError, UsageError
from offrank.log.source import needs
from offrank.readers import READERS
from offrank.readers.opening import Beginning
from tests.cli.commands import call
from tests.readers.plain import skipped
from tests.readers.standards import (
    MAKERS,
    N,
    numbers,
    of_avito,
    of_dsjson,
    of_expedia,
    of_kuairand,
    of_svmlight,
    of_trivago,
)


@pytest.mark.parametrize("name", MAKERS)
def test_it_is_known_and_answers_as_our_own_form(name: str, tmp_path: Path) -> None:
    source, logging, own = MAKERS[name](tmp_path)
    log = offrank.read_log(source)
    assert log.description.layout != "none"
    assert str(log.description.format).partition("(")[0] == name.split(maxsplit=1)[0]
    assert numbers(log, logging) == pytest.approx(numbers(own, logging), rel=1e-12)


@pytest.mark.parametrize("name", MAKERS)
def test_no_other_standard_knows_it(name: str, tmp_path: Path) -> None:
    beginning = Beginning(MAKERS[name](tmp_path)[0])
    assert [one for one in READERS if READERS[one].fitting(beginning) is not None] == [name.split(maxsplit=1)[0]]


@pytest.mark.parametrize(
    "name", [name for name in MAKERS if name.split()[0] not in ("obp", "kuairand", "router", "dsjson")]
)
def test_inspect_calls_nothing_random_that_is_not_said_to_be(name: str, tmp_path: Path) -> None:
    found = offrank.inspect(MAKERS[name](tmp_path)[0])
    assert (found.logging.known, found.logging.confirmed, found.logging.seen) == (False, *2 * [name == "expedia"])


def test_expedia_keeps_the_searches_that_are_asked_for(tmp_path: Path) -> None:
    path = of_expedia(tmp_path)[0]
    for searches, rows in (("random", N // 3), ("sorted", N - N // 3), ("all", N)):
        log = offrank.read_log(path, format=f"expedia(searches={searches})")
        assert numbers(log, "uniform")[2] == rows
    assert offrank.inspect(path).logging.named == "uniform"
    assert offrank.inspect(path, format="expedia(searches=sorted)").logging.seen is False
    with pytest.raises(UsageError, match="searches"):
        offrank.read_log(path, format="expedia(searches=some)")


def test_expedia_without_a_random_search_is_read_for_click_models(tmp_path: Path) -> None:
    path = of_expedia(tmp_path)[0]
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([first, *(line for line in rest if line.split(",")[5] == "0")]), encoding="utf-8")
    found = offrank.inspect(path)
    assert found.format == "expedia(searches=all)"
    assert "no other ranking can be evaluated" in found.read_as
    assert (found.rows, found.logging.known) == (N - N // 3, False)
    with pytest.raises(LogError, match=r"no search of .* was sorted at random") as error:
        offrank.read_log(path, format="expedia(searches=random)")
    assert "expedia(searches=all)" in error.value.remedy


def test_inspect_says_what_dsjson_has_and_takes_no_feature_for_a_ranking(tmp_path: Path) -> None:
    found = offrank.inspect(of_dsjson(tmp_path)[0])
    assert found.read_as == "read as dsjson: reward=-_label_cost, propensity=_label_probability"
    assert {one.name: one.use for one in found.columns if one.use in ("score", "ranking")} == {"p": "score"}
    assert "c.User.segment" in {one.name for one in found.columns}
    lines = [json.loads(line) | {"pdrop": 0.75} for line in (tmp_path / "log.dsjson").read_text().splitlines()]
    batch = next(offrank.read_log(lines).select(needs("inclusion")).batches(0))
    assert {*batch.inclusion.tolist()} == {0.25}


def test_avito_tells_of_contextual_ads_alone(tmp_path: Path) -> None:
    path = of_avito(tmp_path)[0]
    found = offrank.inspect(path)
    assert found.skipped == {"place-not-recorded": 3 * N}
    assert "--gaps close" in found.read_as
    gaps = offrank.read_log(path, format="avito(gaps='raise')")
    batch = next(gaps.select(replace(needs("clicks"), holes=True)).batches(0))
    assert {*batch.contexts.length.tolist()} == {7}


def test_clicks_of_finn_on_other_items_are_counted() -> None:
    """Of a slate that holds nothing but the item for no click nothing was shown; 2 may stand twice, and counts once."""
    slates, clicked = [[1, 5, 6], [1, 2, 2], [1, 0, 0], [1, 7, 0]], [9, 2, 1, 1]
    log = offrank.read_log(pa.table({"userId": [1, 2, 3, 4], "slate": slates, "click": clicked}))
    assert log.description.layout != "none"
    assert log.description.format == "finn_slates"
    rows = pa.Table.from_batches([piece.data for piece in log.table.pieces(0, ("slate", "clicks"))])
    assert rows.to_pydict() == {"slate": [[5, 6], [2, 2], [7]], "clicks": [[0, 0], [1, 0], [0]]}
    assert skipped(log, replace(needs("clicks"), holes=True)) == {"click-outside-slate": 1, "place-repeated": 1}


def test_clicks_of_trivago_outside_their_list_are_counted(tmp_path: Path) -> None:
    path = of_trivago(tmp_path)[0]
    with path.open("a", encoding="utf-8") as file:
        file.write(
            "\nU,S,1,1,clickout item,5000,Rome,1|2|3|4|5,9|9|9|9|9\nU,S,1,1,clickout item,,Rome,1|2|3|4|5,9|9|9|9|9\n"
        )
    log = offrank.read_log(path)
    assert skipped(log, needs("clicks")) == {"click-outside-slate": 1}
    assert "only lists with a click" in repr(offrank.inspect(path))


def test_of_kuairand_rows_that_were_recommended_are_no_draws(tmp_path: Path) -> None:
    folder = of_kuairand(tmp_path)[0]
    path = next(folder.glob("log_random*"))
    assert numbers(path, "logged") == numbers(folder, "logged")
    recommended = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.endswith(",1,1")]
    (tmp_path / "log_standard.csv").write_text("\n".join(recommended), encoding="utf-8")
    with pytest.raises(LogError, match=r"no row of .* was shown at random"):
        offrank.read_log(tmp_path / "log_standard.csv")


def test_of_svmlight_what_is_no_click_log_is_refused(tmp_path: Path) -> None:
    path, beside = of_svmlight(tmp_path)[0], tmp_path / "rank.train.position"
    row = next(offrank.read_log(path).table.pieces(0, ("slate", "features"))).data
    assert [one[0] for one in row.column("features")[0].as_py()] == [
        one + 0.5 for one in row.column("slate")[0].as_py()
    ]
    for positions, said in (
        ("1\n2\n", "2 positions for 300"),
        ("1\nx", "a whole number"),
        (f"1\n{'9' * 5000}", "a whole number"),
        ("1\n" * 300, "have the same position"),
    ):
        beside.write_text(positions, encoding="utf-8")
        with pytest.raises(LogError, match=said):
            offrank.read_log(path)
    beside.unlink()
    with pytest.raises(LogError, match="no positions"):
        offrank.read_log(path)
    assert offrank.inspect(path).layout == "pairs"
    beside.write_text("1\n2\n", encoding="utf-8")
    path.write_text("3 qid:1 1:0.5\n0 qid:1 1:0.25\n", encoding="utf-8")
    with pytest.raises(LogError, match="judgements"):
        offrank.read_log(path)


@pytest.mark.parametrize("name", ["obp", "finn_slates"])
def test_of_damaged_arrays_the_file_is_named(name: str, tmp_path: Path) -> None:
    whole = MAKERS["obp of npz" if name == "obp" else name](tmp_path)[0].read_bytes()
    path = tmp_path / "damaged.npz"
    for damaged in (whole[:-100], whole[:200] + bytes(20) + whole[220:], b"PK\x03\x04", b"no archive"):
        path.write_bytes(damaged)
        for how in (None, name) if damaged.startswith(b"PK") else (name,):
            with pytest.raises(LogError, match=r"damaged\.npz"):
                offrank.read_log(path, format=how)


def enriched_event(number: int) -> str:
    """A line of Snowplow's enriched events, most of whose fields are empty."""
    fields = [""] * 131
    fields[:7] = [
        "shop",
        "web",
        *["2024-05-01 10:00:00.000"] * 3,
        "unstruct",
        f"5f5b3b1e-9c1d-4b0c-8d65-2f3f6c6a1a{number:02}",
    ]
    fields[52] = '{"schema":"iglu:com.snowplowanalytics.snowplow/contexts/jsonschema/1-0-0","data":[]}'
    fields[58] = '{"schema":"iglu:com.snowplowanalytics.snowplow/unstruct_event/jsonschema/1-0-0","data":{}}'
    return "\t".join(fields) + "\n"


LACKING = {
    "mind": (
        "behaviors.tsv",
        "1\tU1\t11/11/2019 9:05:58 AM\tN7 N8\tN1-0 N2-1\n2\tU2\t11/12/2019 6:11:30 PM\t\tN3-1\n",
        "sessions",
    ),
    "retailrocket": (
        "events.csv",
        "timestamp,visitorid,event,itemid,transactionid\n1,2,view,3,\n4,2,view,5,\n",
        "none",
    ),
    "snowplow_tsv": ("enriched.tsv", "".join(map(enriched_event, range(5))), "events"),
    "otto": (
        "otto.jsonl",
        '{"session": 1, "events": [{"aid": 7, "ts": 1661724000000, "type": "clicks"}]}\n' * 2,
        "none",
    ),
    "recbole": ("ml.inter", "user_id:token\titem_id:token\trating:float\n1\t2\t3\n1\t3\t4\n", "none"),
}


@pytest.mark.parametrize("name", LACKING)
def test_what_tells_of_no_ranking_says_so(name: str, tmp_path: Path) -> None:
    file, text, layout = LACKING[name]
    (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(LogError, match=r"no other ranking|not lists that|enriched events") as error:
        offrank.read_log(tmp_path / file)
    found = offrank.inspect(tmp_path / file)
    assert found.layout == layout
    assert str(error.value.message) in found.why


def test_what_is_like_a_standard_is_not_taken_for_it(tmp_path: Path) -> None:
    """A table that lacks what makes it certain is told by its columns, or asked about."""
    rng = np.random.default_rng(0)
    model = {"model": ["a", "b"] * 50, "score": rng.random(100), "latency": rng.random(100)}
    several = model | {"propensity": rng.random(100) / 2 + 0.2, "quality": rng.random(100)}
    ranked = model | {"propensity": rng.random(100) / 2 + 0.2, "position": [1, 2] * 50}
    typed = {"session_id:token": [1, 1], "user_id:token": [1, 1], "item_id:token": [1, 2], "position:float": [1, 2]}
    for columns in (model, several, ranked, typed, {"action": [1], "reward": [2]}):
        table = pa.table(columns)
        beginning = Beginning(table)
        assert [one for one in READERS if READERS[one].fitting(beginning) is not None] == []
    with pytest.raises(OffrankError):
        offrank.read_log({"action": [1], "reward": [2]})


FIRST = {
    "obp of npz": "evaluate {} --target uniform -e snips",
    "router": "evaluate {} --target uniform -e snips",
    "kuairand": "evaluate {} --target uniform -e snips",
    "expedia": "evaluate {} --target top(prop_starrating) --logging uniform -e snipm",
    "diginetica": "clicks fit {} --model pbm -o pbm.json",
    "trivago2019": "clicks fit {} --model pbm -o pbm.json",
    "finn_slates": "clicks fit {} --model pbm -o pbm.json",
    "svmlight": "clicks fit {} --model pbm -o pbm.json",
}


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", FIRST)
def test_the_first_command_answers(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").mkdir()
    monkeypatch.chdir(tmp_path)
    source = MAKERS[name](tmp_path / "log")[0]
    done = call(*FIRST[name].format(source).split())
    assert done.exit_code in (0, 3), done.output
    if command := offrank.inspect(source).command:
        done = call(*shlex.split(command)[1:])
        assert done.exit_code in (0, 3), done.output
