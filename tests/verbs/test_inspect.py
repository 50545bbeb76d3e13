"""`inspect`: columns, sizes, the policies that may have drawn a log, and a command that runs as it is printed."""

from __future__ import annotations

import json
import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.errors import EmptyLogError, LogError, UsageError
from tests.cli.commands import call
from tests.verbs import logs
from tests.verbs.logs import replaced

ROWS, ITEMS, SLOTS = 1400, 6, 3


@cache
def world(kind: str, temperature: float = 1.0) -> pa.Table:
    """Slates drawn in a known way by `old`; `new` is another ranker's score. Items differ from row to row."""
    rng = np.random.default_rng(3)
    old = rng.lognormal(0, 1, (ROWS, ITEMS))
    noise, ranks = rng.gumbel(size=old.shape), np.argsort(np.argsort(-old, axis=1), axis=1)
    by = {
        "plackett_luce": np.log(old) / temperature + noise,
        "logits": old / temperature + noise,
        "uniform": noise,
        "sorted": old,
        "greedy": np.where(rng.random((ROWS, 1)) < 0.3, noise, old),
        "none": np.where(rng.random((ROWS, 1)) < 0.5, np.log(old) * 3 + noise, -ranks + 4 * (ranks % 2)),
    }[kind]
    slates = np.argsort(-by, axis=1)[:, :SLOTS]
    clicks = rng.random(slates.shape) < 0.1 + 0.2 * (slates == 0)
    items = rng.permuted(np.tile(np.arange(40), (ROWS, 1)), axis=1)[:, :ITEMS]
    return pa.table(
        {
            "slate": np.take_along_axis(items, slates, axis=1).tolist(),
            "candidates": items.tolist(),
            "clicks": clicks.astype(int).tolist(),
            "old": old.tolist(),
            "new": (old * rng.lognormal(0, 1, old.shape)).tolist(),
        }
    )


def search() -> pa.Table:
    """A good log of `plackett_luce(old_score)`, with its propensities and with two other rankers."""
    return logs.search().slice(0, 1000)


def fitting(found: offrank.Inspection) -> list[Any]:
    return [one.policy for one in found.drawn if one.fits]


def runs(found: offrank.Inspection, folder: Path, table: pa.Table) -> dict[str, Any]:
    """The document of the command that was printed."""
    pq.write_table(table, folder / "log.parquet")
    again = offrank.inspect(folder / "log.parquet")
    assert again.command.replace(str(folder / "log.parquet"), "LOG") == found.command
    words = shlex.split(again.command)
    assert words[0] == "offrank"
    done = call(*words[1:], "--json", folder / "out.json")
    assert (done.exit_code, done.stderr) == (0, "")
    return json.loads((folder / "out.json").read_text())


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_the_temperature_of_plackett_luce_is_found(temperature: float) -> None:
    found = offrank.inspect(world("plackett_luce", temperature))
    (policy,) = fitting(found)
    assert isinstance(policy, offrank.PlackettLuce)
    assert (policy.scores, policy.log) == ("old", False)
    assert policy.temperature == pytest.approx(temperature, rel=0.1)
    # No context comes twice: whether anything was drawn is not to be known.
    assert (found.logging.policy, found.logging.status) == (repr(policy), "unknown")
    assert found.next is None


def test_a_score_that_tells_nothing_is_no_target() -> None:
    table = replaced(logs.search(), flat=np.ones((4000, 4)).tolist(), naive_score=None)
    found = offrank.inspect(table)
    assert found.next is not None
    assert (found.ties["flat"], found.next.target) == (1.0, "top(new_score)")


def test_a_sorted_log_has_no_weights_but_a_click_model(tmp_path: Path) -> None:
    found = offrank.inspect(world("sorted"))
    assert fitting(found) == [offrank.Top("old")]
    assert (found.logging.policy, found.logging.status, found.next) == ("top(old)", "not random", None)
    assert "This log is not random: every slate is that of top(old)" in " ".join(str(found).split())
    pq.write_table(world("sorted"), tmp_path / "log.parquet")
    words = shlex.split(offrank.inspect(tmp_path / "log.parquet").command)
    assert words[1:3] == ["clicks", "fit"]
    assert call(*words[1:-1], tmp_path / "pbm.json").exit_code == 0


def test_what_was_counted_is_no_law() -> None:
    found = offrank.inspect(replaced(world("none"), query=np.arange(ROWS) % 20))
    assert (found.logging.policy, found.logging.status, found.next) == (None, "unknown", None)
    assert "counts always fit the log that they are from" in " ".join(str(found).split())


def test_written_propensities_and_the_law_behind_them() -> None:
    found = offrank.inspect(search())
    assert found.written == ("propensity",)
    assert found.agreement is not None
    assert found.agreement.share_apart == 0
    assert (found.logging.policy, found.logging.status) == ("plackett_luce(old_score)", "written")
    written = np.array(search()["propensity"].to_pylist())
    for rows, logging in {10: "plackett_luce(old_score)", 11: "logged"}.items():  # 1 % of 1,000
        few = offrank.inspect(replaced(search(), propensity=np.where(np.arange(1000) < rows, 0.9, 1) * written))
        assert few.agreement is not None
        assert (few.agreement.apart, few.logging.policy, few.logging.status) == (rows, logging, "written")


@pytest.mark.parametrize("power", [0.5, 1.5])
def test_written_propensities_may_be_refuted(power: float) -> None:
    wrong = replaced(search(), propensity=np.array(search()["propensity"].to_pylist()) ** power)
    found = offrank.inspect(wrong)
    assert (found.logging.policy, found.logging.status, found.next) == ("logged", "refuted", None)
    said = " ".join(str(found).split())
    assert "The shown slates fit plackett_luce(old_score)." in said
    assert "remove the column propensity from the table" in said
    assert "Without randomness" not in said
    right = offrank.evaluate(wrong.drop_columns(["propensity"]), "uniform", "plackett_luce(old_score)", "snipm")
    assert right.verdict.trust != "none"


def test_only_written_propensities() -> None:
    table = search().drop_columns(["old_score", "naive_score"])
    found = offrank.inspect(table)
    assert (found.logging.policy, found.logging.status) == ("logged", "written")
    assert found.next is not None
    # Ranks of slates of three are not to be had from the probability of the slate.
    assert (found.next.target, found.next.estimators) == ("uniform", ("snips",))
    assert "--logging" not in found.command


def test_scores_may_be_logarithms_of_weights() -> None:
    (policy,) = fitting(offrank.inspect(world("logits", 0.5)))
    assert policy.log
    assert policy.temperature == pytest.approx(0.5, rel=0.1)


def test_a_ranker_that_is_random_now_and_then() -> None:
    (policy,) = fitting(offrank.inspect(world("greedy")))
    assert isinstance(policy, offrank.EpsilonUniform)
    assert policy.base == offrank.Top("old")
    assert policy.epsilon == pytest.approx(0.3, abs=0.03)


def test_a_log_that_nothing_fits_says_so() -> None:
    found = offrank.inspect(world("none"))
    assert fitting(found) == []
    assert "None of the policies that were tried fits this log." in str(found)
    best = found.drawn[0]
    assert "too rarely at rank 2" in best.against  # by its calibration
    uniform = next(one for one in found.drawn if one.policy == offrank.Uniform())
    # No rank and no item tells, for the items of every row are others; another law is likelier.
    assert uniform.against == f"the slates are much more likely under {best.policy!r}"


def test_what_is_read_as_what() -> None:
    table = replaced(
        world("uniform"),
        mine=[row[::-1] for row in world("uniform")["candidates"].to_pylist()],
        pscore=np.full(ROWS, 0.5),
        features=[[[1]] * ITEMS] * ROWS,
        device=["a", "b"] * (ROWS // 2),
        gaps=[[1.0, None, 2.0, 3.0, 4.0, 5.0]] * ROWS,
        short=[[1.0, 2.0]] * ROWS,
    )
    found = offrank.inspect(table)
    uses = {column.name: (column.type, column.use, column.like) for column in found.columns}
    assert uses == {
        "slate": ("list of int64", "slate", ""),
        "candidates": ("list of int64", "candidates", ""),
        "clicks": ("list of int64", "clicks", ""),
        "old": ("list of double", "score", ""),
        "new": ("list of double", "score", ""),
        "mine": ("list of int64", "ranking", ""),
        "pscore": ("double", "group", "propensity"),
        "features": ("list of list of int64", "features", ""),
        "device": ("string", "group", ""),
        "gaps": ("list of double", "", ""),
        "short": ("list of double", "", ""),
    }
    assert {column.name: column.samples for column in found.columns}["short"] == ("[1.0, 2.0]", "[1.0, 2.0]")
    assert 'If pscore is the propensity, use columns={"propensity": "pscore"}.' in " ".join(str(found).split())


def test_scores_and_rankings_in_json_are_told_from_words(tmp_path: Path) -> None:
    rows = world("plackett_luce").to_pylist()
    best = [[item for _, item in sorted(zip(row["new"], row["candidates"], strict=True))] for row in rows]
    told = {"best": best, "tags": [["a", "b"]] * ROWS}
    written = [{**row, **{name: told[name][at] for name in told}, "kind": "[web]"} for at, row in enumerate(rows)]
    text = {name: [json.dumps(row[name]) for row in written] for name in written[0]}
    pyarrow.csv.write_csv(pa.table(text), tmp_path / "log.csv")
    uses = {column.name: column.use for column in offrank.inspect(tmp_path / "log.csv").columns}
    lists = {"slate": "slate", "candidates": "candidates", "clicks": "clicks", "old": "score", "new": "score"}
    assert uses == {**lists, "best": "ranking", "tags": "", "kind": "group"}


def test_what_each_list_earned_is_told_by_its_name() -> None:
    lists = world("uniform").drop_columns(["clicks", "old"]).rename_columns(["shown", "candidates", "new"])
    sums = np.arange(ROWS) % 7 / 2
    log = lists.append_column("order_id", pa.array(range(ROWS))).append_column("Revenue", pa.array(sums))
    found = offrank.inspect(log)
    assert {one.name: one.use for one in found.columns}["Revenue"] == "reward"
    assert found.overview.earned.value == pytest.approx(sums.mean())
    two = log.append_column("sales", pa.array(sums))
    assert "it is not clear which column is the reward" in " ".join(str(offrank.inspect(two)).split())
    assert offrank.inspect(two, columns={"reward": "sales"}).overview.earned.value == pytest.approx(sums.mean())


def test_sizes_ties_duplicates_and_dependence() -> None:
    lists: list[dict[str, Any]] = [
        {"slate": [1, 2, 3][:k], "candidates": list(range(m)), "clicks": [1, 0, 0][:k], "s": s, "user": k}
        for k, m, s in [(1, 4, [1, 1, 2, 0]), (2, 5, [1, 2, 3, 4, 5]), (3, 5, [2, 2, 2, 2, 2]), (3, 5, [1, 2, 3, 4, 5])]
    ]
    found = offrank.inspect(lists * 25)
    assert (found.rows, found.layout) == (100, "wide")
    assert dict(found.overview.slots) == {1: 25, 2: 25, 3: 50}
    assert dict(found.overview.candidates) == {4: 25, 5: 75}
    assert dict(found.overview.distinct) == {"item": 5, "user": 3}
    assert found.ties == {"s": 0.25}  # the slate of one shows the 2 alone
    assert found.overview.earned is not None
    assert found.overview.earned.value == 1.0
    assert "1 to 3 per row, at most 2 in half of the rows" in str(found)
    twice = pa.concat_tables([world("uniform")] * 2)
    assert offrank.inspect(twice).copies == pytest.approx(0.5, abs=0.05)


def test_the_design_effect_is_that_of_the_column() -> None:
    # Rewards are those of the query, 70 rows each: all rows of a query are worth one.
    rng = np.random.default_rng(0)
    query, user = np.arange(ROWS) // 70, rng.integers(0, 500, ROWS)
    reward = rng.normal(size=20)[query]
    found = offrank.inspect(replaced(world("uniform"), query=query, user=user, reward=reward))
    effects = found.overview.effects
    # Kish: 70, and 20 / 19 of the jackknife.
    assert effects["query"] == pytest.approx(70 * 20 / 19, rel=0.01)
    assert 0.7 < effects["user"] < 1.4
    assert found.cluster == "query"


def test_rows_that_break_a_rule_are_counted_and_the_command_leaves_them_out(tmp_path: Path) -> None:
    slates = search()["slate"].to_pylist()
    slates[7] = [slates[7][0]] * 3
    found = offrank.inspect(replaced(search(), slate=slates))
    assert (found.rows, dict(found.skipped)) == (999, {"duplicate-item": 1})
    assert "left out 1 duplicate-item: contains an item twice; an item may occur" in " ".join(str(found).split())
    assert "--skip-invalid" in found.command
    assert runs(found, tmp_path, replaced(search(), slate=slates))["log"]["impressions"] == 999
    with pytest.raises(EmptyLogError, match="that can be read; all of them break a rule: 1,000 duplicate-item"):
        offrank.inspect(replaced(search(), slate=[[1, 1, 1]] * 1000))


def test_the_long_layout(tmp_path: Path) -> None:
    rows = [
        {"id": n, "item": item, "position": shown.index(item) + 1 if item in shown else None, "click": None, "s": s}
        | {"city": "x"}
        for n, (shown, items, scores) in enumerate(
            zip(
                *(world("plackett_luce")[name].to_pylist()[:400] for name in ("slate", "candidates", "old")),
                strict=True,
            )
        )
        for item, s in zip(items, scores, strict=True)
    ]
    for row in rows:
        row["click"] = None if row["position"] is None else int(row["position"] == 1)
    path = tmp_path / "long.csv"
    pyarrow.csv.write_csv(pa.Table.from_pylist(rows), path)
    found = offrank.inspect(path, {"impression": "id"})
    assert (found.layout, found.rows, dict(found.overview.slots)) == ("long", 400, {SLOTS: 400})
    assert {column.name: column.use for column in found.columns} == {
        "id": "impression",
        "item": "item",
        "position": "position",
        "click": "click",
        "s": "score",
        "city": "group",
    }
    assert fitting(found)[0].scores == "s"
    assert "--column impression=id" in found.command
    assert call(*shlex.split(found.command)[1:-1], tmp_path / "pbm.json").exit_code == 0  # no context comes twice


def test_nothing_to_estimate_without_an_outcome() -> None:
    found = offrank.inspect(world("uniform").drop_columns("clicks"))
    assert (found.command, found.next, found.overview.earned) == ("", None, None)
    assert "Nothing can be estimated from this log: log clicks or a reward." in str(found)


@pytest.mark.parametrize(("worth", "least"), [(1.0, 0.0), (-1.0, None)])
def test_what_was_earned_ends_at_nothing_unless_there_are_losses(worth: float, least: float | None) -> None:
    """One user of five has all that was earned or lost: so few say little, and the normal interval crosses 0."""
    rows = [{"slate": ["a"], "reward": worth * (i < 40), "user": "abcde"[(i >= 40) * (1 + i % 4)]} for i in range(60)]
    earned = offrank.inspect(rows).overview.earned
    assert earned is not None
    assert earned.value == pytest.approx(worth * 2 / 3)
    assert earned.low == least if least is not None else (earned.low < -1 and earned.high > 0)


def test_the_mapping_is_what_config_takes(tmp_path: Path) -> None:
    path, mapping = tmp_path / "log.parquet", tmp_path / "mapping.toml"
    pq.write_table(search().rename_columns({"slate": 'the "shown" ones', "query": "q\u00e9"}), path)
    words = ["--column", 'slate=the "shown" ones', "--column", "query=q\u00e9"]
    done = call("inspect", path, *words, "--save", mapping, "--json", tmp_path / "i.json")
    assert (done.exit_code, done.stderr) == (0, "")
    assert tomllib.loads(mapping.read_text(encoding="utf-8")) == {
        "logging": "plackett_luce(old_score)",
        "cluster": "query",
        "columns": {"slate": 'the "shown" ones', "query": "q\u00e9"},
    }
    assert json.loads((tmp_path / "i.json").read_text())["command"] in done.stdout
    assert max(map(len, done.stdout.partition("\nNext\n")[0].splitlines())) <= 80 + len(str(path))
    command = done.stdout.splitlines()[-1].strip()
    assert "--config" in command
    assert "--column" not in command
    assert call(*shlex.split(command)[1:]).exit_code == 0
    assert call("inspect", path, "--config", mapping).stdout == call("inspect", path, *words).stdout


def test_public_data_sets_are_known_by_what_they_hold(tmp_path: Path) -> None:
    criteo = "5 |l 0.001 |p 2.0 |f 0:1 2:1\n5 |f 0:1 3:1\n6 |l 0.999 |p 20.0 |f 0:1 3:1\n6 |f 0:1 2:1\n"
    texts = {"criteo": criteo, "yandex": "7_1\t1,2,3 : 2 ;7_1\t2,1,3 : ;\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        found = offrank.inspect(tmp_path / name)
        assert (found.format, found.rows) == (name, 2)
        assert f"--format {name}" in found.command
        assert found.mapping()["format"] == name
    for text, words in {"hello\n": "has no rows", "\x00\x01\n": "neither text nor a known format"}.items():
        (tmp_path / "other").write_text(text)
        with pytest.raises(LogError, match=words):
            offrank.inspect(tmp_path / "other")
    with pytest.raises(LogError, match="there is no log at"):
        offrank.inspect(tmp_path / "missing")


def test_a_source_is_left_as_it_was(tmp_path: Path) -> None:
    log = offrank.read_log(search())
    found = offrank.inspect(log)
    assert found.path is None
    assert found.to_dict() == offrank.inspect(search()).to_dict()
    assert json.loads(found.to_json(tmp_path / "a.json")) == json.loads((tmp_path / "a.json").read_text())
    with pytest.raises(UsageError, match="cannot read the columns"):
        offrank.inspect(type("Batches", (), {"batches": None})())


def test_how_a_log_is_read_goes_into_the_command_and_the_mapping(tmp_path: Path) -> None:
    """Positions 1 and 3 of two items each, and of four candidates: without --gaps close no row keeps the rules."""
    path, mapping = tmp_path / "gaps.csv", tmp_path / "mapping.toml"
    lines = ["impression,item,position,click"]
    for i in range(40):
        shown = [(i + j) % 4 for j in range(4)]
        lines += [f"{i},{item},{position},{i % 3 == 0:d}" for item, position in zip(shown, (1, 3, "", ""), strict=True)]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(EmptyLogError):
        offrank.inspect(path)
    found = call("inspect", path, "--gaps", "close", "--top-k", "1", "--save", mapping)
    assert found.exit_code == 0, found.output
    assert "1 in every row" in found.output
    assert "--gaps close --top-k 1" in " ".join(found.output.split())
    assert tomllib.loads(mapping.read_text())["gaps"] == "close"
    assert tomllib.loads(mapping.read_text())["top_k"] == 1
    judged = call("evaluate", path, "--config", mapping, "--target", "uniform", "--logging", "uniform", "-e", "ips")
    assert judged.exit_code == 0, judged.output


def test_a_log_of_clicked_items_alone_names_no_policy_and_what_to_log() -> None:
    rows = [{"slate": [at % 7], "clicks": [1], "user": at % 5} for at in range(60)]
    said = " ".join(str(offrank.inspect(rows)).split())
    assert "log whole lists, clicked or not" in said
    assert "If you know that this policy generated the log" not in said
