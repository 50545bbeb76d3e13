"""Sums that a warehouse makes: the same numbers and doubts as of the rows, on DuckDB, PostgreSQL and Spark."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli import main
from offrank.errors import LogError, StateError, UsageError
from offrank.evaluation.result import Result
from tests.metamorphic.changes import differences
from tests.running.engines import spark_session
from tests.warehouse.servers import postgres

ARMS = "by(arm, {A: top(is_A), B: top(is_B)})"
DESIGNED = "balanced(by(arm, {A: top(is_A), B: top(is_B)}), shares={A: 0.7, B: 0.3})"


@cache
def table(rows: int = 3000, users: int = 200, seed: int = 0) -> pa.Table:
    """One item of four is shown, drawn by known probabilities; rewards are rare and unlike, and users depend."""
    rng = np.random.default_rng(seed)
    user = rng.integers(0, users, rows)
    logging, new, other = (rng.dirichlet(np.full(4, 3.0), rows) for _ in range(3))
    item = np.array([rng.choice(4, p=one) for one in logging])
    chance = (0.1 + 0.1 * item) * rng.uniform(0.2, 1.8, users)[user]
    reward = (rng.random(rows) < chance) * rng.lognormal(0, 1, rows)
    shown = {name: law[np.arange(rows), item] for name, law in (("propensity", logging), ("p", new), ("q", other))}
    columns = {"user": user, "arm": np.where(rng.random(rows) < 0.7, "A", "B"), "reward": reward, **shown}
    return pa.table({**columns, "slate": item[:, None].tolist(), "candidates": [[0, 1, 2, 3]] * rows})


@dataclass(frozen=True)
class Case:
    """A question for rows and for sums. more: arguments of both; of_rows: how the rows are read."""

    verb: Callable[..., Result]
    target: Any
    logging: str = "logged"
    estimators: tuple[str, ...] = ("ips", "snips")
    more: dict[str, Any] = field(default_factory=dict)
    users: int = 200

    def of_rows(self) -> Result:
        log = table(users=self.users)
        if self.verb is offrank.compare and self.target is None:
            log = offrank.read_log(log.drop_columns(["slate", "candidates"]), format="ab_test(arm=arm, reward=reward)")
        more = {"cluster": None, **self.more}
        return self.verb(log, self.target, self.logging, list(self.estimators), **more)

    def query(self, name: str, dialect: str = "duckdb") -> str:
        return offrank.sql(name, self.target, self.logging, list(self.estimators), dialect=dialect, **self.more)


CASES = {
    "one target": Case(offrank.evaluate, "written(slate=p)"),
    "users": Case(offrank.evaluate, "written(slate=p)", more={"cluster": "user"}),
    "many users": Case(offrank.evaluate, "written(slate=p)", more={"cluster": "user"}, users=3000),
    "anytime": Case(offrank.evaluate, "written(slate=p)", more={"interval": "anytime", "confidence": 0.8}),
    "two targets": Case(
        offrank.compare, {"p": "written(slate=p)", "q": "written(slate=q)"}, more={"cluster": "user", "baseline": "q"}
    ),
    "the log": Case(
        offrank.evaluate, {"same": "logged", "p": "written(slate=p)"}, "written(slate=propensity)", ("snips",)
    ),
    "arms": Case(offrank.compare, None, ARMS, ("snips",), {"cluster": "user"}),
    "arms of independent rows": Case(offrank.compare, None, ARMS, ("snips", "ips"), {"interval": "normal"}),
    "designed shares": Case(offrank.compare, None, DESIGNED, ("snips",), {"cluster": "user"}),
}


def numbers(found: Result) -> dict[str, Any]:
    """Everything that is said of estimates and differences; of findings what they are, not their words."""
    said: dict[str, Any] = {}
    for key, one in found.items():
        values = vars(one) | {"mean weights": one.mean_weight_interval and vars(one.mean_weight_interval)}
        values |= {"difference": vars(one.difference), "codes": sorted({each.code for each in one.warnings})}
        for name in ("warnings", "about_log", "design", "mean_weight_interval"):
            del values[name]
        for name, value in values.items():
            parts = value.items() if isinstance(value, dict) else [("", value)]
            said |= {f"{key}.{name}.{part}": each for part, each in parts}
    for compared in found.comparisons:
        difference = compared.verdict.difference
        said |= {f"{compared.target} {name}": value for name, value in vars(difference).items()} if difference else {}
        said[f"{compared.target} decision"] = compared.verdict.decision
    if found.metadata.ab_test:
        for arm in found.metadata.ab_test.arms:
            said |= {f"{arm.arm} {name}": value for name, value in vars(arm.mean).items()}
    return said


def assert_alike(sums: Result, rows: Result) -> None:
    ours, theirs = numbers(sums), numbers(rows)
    if any(one.design is not None for one in rows.values()):  # the law of the weights, which no sums tell
        ours, theirs = (
            {name: one for name, one in each.items() if "detectable" not in name} for each in (ours, theirs)
        )
    assert not differences(theirs, ours, 1e-9)
    assert [one.code for one in sums.about_log][-1:] == ["sums-only"]
    for verdict in sums.verdicts.values():
        assert verdict.trust != "sound"


@pytest.mark.parametrize("name", CASES)
def test_duckdb_sums_are_those_of_rows(name: str, tmp_path: Path) -> None:
    case, path = CASES[name], tmp_path / "sums.csv"
    log = table(users=case.users)
    duckdb.sql(case.query("log")).write_csv(str(path))
    assert_alike(offrank.merge(path), case.of_rows())
    assert len(log) == offrank.merge(path).metadata.log.impressions


def test_more_users_than_lines_have_the_same_error_but_for_chance(tmp_path: Path) -> None:
    case, path = Case(offrank.evaluate, "written(slate=p)", more={"cluster": "user"}), tmp_path / "sums.parquet"
    log = table(rows=9000, users=6000)
    duckdb.sql(case.query("log")).write_parquet(str(path))
    ours, theirs = (
        offrank.merge(path)["snips"],
        offrank.evaluate(log, case.target, "logged", "snips", cluster="user")["snips"],
    )
    assert len(pq.read_table(path)) == 1 + 4096 + 3 * 1024
    assert ours.value == pytest.approx(theirs.value, rel=1e-9)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=0.05)


@pytest.mark.slow
def test_postgresql_sums_are_those_of_rows(tmp_path: Path) -> None:
    log, path = table().drop_columns(["slate", "candidates"]), tmp_path / "sums.csv"
    pc.write_csv(log, tmp_path / "log.csv")
    kinds = {"user": "BIGINT", "arm": "TEXT"}
    columns = ", ".join(f'"{name}" {kinds.get(name, "DOUBLE PRECISION")}' for name in log.schema.names)
    rows = (tmp_path / "log.csv").read_text().split("\n", 1)[1]
    with postgres() as server:
        server.query(f"CREATE TABLE log ({columns});\nCOPY log FROM STDIN WITH (FORMAT csv);\n{rows}\\.\n")
        for name in ("users", "two targets", "arms", "arms of independent rows"):
            path.write_text(server.query(CASES[name].query("log", "postgres")))
            assert_alike(offrank.merge(path), CASES[name].of_rows())


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")  # the engine's own, and of those that see it fork
def test_spark_sums_are_those_of_rows(tmp_path: Path) -> None:
    log, path = table().drop_columns(["slate", "candidates"]), tmp_path / "sums.parquet"
    pq.write_table(log, tmp_path / "log.parquet")
    with spark_session() as spark:
        spark.read.parquet(str(tmp_path / "log.parquet")).createOrReplaceTempView("log")
        for name in ("users", "arms"):
            found = spark.sql(CASES[name].query("log", "spark")).collect()
            pq.write_table(pa.Table.from_pylist([row.asDict() for row in found]), path)
            assert_alike(offrank.merge(path), CASES[name].of_rows())


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake"])
def test_other_dialects_name_columns_as_they_do(dialect: str) -> None:
    asked = {"columns": {"reward": "Clicked Twice", "propensity": "p"}, "cluster": "user", "dialect": dialect}
    text = offrank.sql("Shop.Logs", "written(slate=new_p)", **asked)
    bigquery, snowflake = ("`user`", "`Shop`.`Logs`"), ('"Clicked Twice"', '"USER"', '"SHOP"."LOGS"')
    for name in bigquery if dialect == "bigquery" else snowflake:
        assert name in text
    assert "clicked twice" in text.lower()


def broken(**columns: Any) -> pa.Table:
    """The log with another value in one row of a column."""
    made = table()
    for name, value in columns.items():
        values = [*made[name].to_pylist()[:-1], value]
        made = made.set_column(made.schema.get_field_index(name), name, pa.array(values, made.schema.field(name).type))
    return made


@pytest.mark.parametrize(
    ("column", "value", "case", "said"),
    [
        ("reward", None, "users", "no reward"),
        ("reward", math.inf, "users", "no reward"),
        ("reward", math.nan, "arms", "no reward"),
        ("propensity", 0.0, "users", r"propensity that is null or outside \(0, 1\]"),
        ("propensity", None, "users", "propensity that is null"),
        ("propensity", 1.0001, "users", "propensity that is null"),
        ("p", -0.1, "users", r"a target that is null or outside \[0, 1\]"),
        ("q", None, "two targets", "a target that is null"),
        ("arm", "C", "arms", "an arm that was not named"),
        ("arm", None, "arms", "an arm that was not named"),
        ("user", None, "users", "the column of the clusters"),
    ],
)
def test_a_row_that_no_log_may_have_is_told(column: str, value: Any, case: str, said: str, tmp_path: Path) -> None:
    path, log = tmp_path / "sums.csv", broken(**{column: value})
    assert len(log)
    duckdb.sql(CASES[case].query("log")).write_csv(str(path))
    with pytest.raises(LogError, match=said):
        offrank.merge(path)


@pytest.mark.parametrize(("column", "value"), [("propensity", 1.0), ("p", 0.0), ("p", 1.0), ("reward", 0.0)])
def test_a_row_at_the_end_of_what_it_may_have_is_read(column: str, value: float, tmp_path: Path) -> None:
    path, log = tmp_path / "sums.csv", broken(**{column: value})
    duckdb.sql(CASES["users"].query("log")).write_csv(str(path))
    assert offrank.merge(path).metadata.log.impressions == len(log)


@pytest.fixture
def sums() -> pa.Table:
    log = table()
    assert len(log)
    return duckdb.sql(CASES["users"].query("log")).to_arrow_table()


@pytest.mark.parametrize("name", ["part", "n", "r2", "w0", "least", "broken", "clusters"])
def test_a_missing_column_is_named(name: str, sums: pa.Table, tmp_path: Path) -> None:
    pq.write_table(sums.drop_columns([name]), tmp_path / "sums.parquet")
    with pytest.raises(StateError, match=name):
        offrank.merge(tmp_path / "sums.parquet")


def test_names_in_capitals_are_those_of_a_warehouse(sums: pa.Table, tmp_path: Path) -> None:
    pq.write_table(sums, tmp_path / "a.parquet")
    pq.write_table(sums.rename_columns([name.upper() for name in sums.schema.names]), tmp_path / "b.parquet")
    one, other = (offrank.merge(tmp_path / name)["snips"] for name in ("a.parquet", "b.parquet"))
    assert (one.value, one.low, one.ess) == (other.value, other.low, other.ess)


def test_what_is_no_whole_table_is_refused(sums: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "sums.parquet"
    pq.write_table(sums.slice(1), path)  # without the question
    with pytest.raises(StateError, match="no table of sums"):
        offrank.merge(path)
    pq.write_table(sums, path)
    with pytest.raises(UsageError, match="clusters of one table"):
        offrank.merge([path, path])
    with pytest.raises(UsageError, match="clusters of one table"):
        offrank.merge(path, state=tmp_path / "a.state")
    with pytest.raises(UsageError, match="bootstrap interval draws rows"):
        offrank.merge(path, interval="bootstrap")
    with pytest.raises(UsageError, match="bernstein"):
        offrank.merge(path, interval="bernstein")
    assert offrank.merge(path, interval="anytime")["ips"].high > offrank.merge(path)["ips"].high


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"target": "top(score)"}, r"no column for top\(score\)"),
        ({"target": "written(slots=p)"}, "no column for written"),
        ({"target": "written(slate=p)", "estimators": "ipm"}, "do not give `ipm`"),
        ({"target": "written(slate=p)", "interval": "bootstrap"}, "bootstrap interval draws rows"),
        ({"target": "written(slate=p)", "interval": "bernstein"}, "the range of each"),
        ({"target": "written(slate=p)", "dialect": "klingon"}, "dialect is 'klingon'"),
        ({"target": "written(slate=p)", "table": "log WHERE day > 3"}, "is no table of duckdb"),
        ({"target": "written(slate=p)", "table": "log; DROP TABLE log"}, "is no table of duckdb"),
        ({"target": "top(is_C)", "logging": ARMS}, r"top\(is_C\) is no arm"),
        ({"target": None}, "there is no target"),
    ],
)
def test_a_question_that_sums_do_not_answer_is_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(offrank.errors.OffrankError, match=said):
        offrank.sql(**{"table": "log", **asked})


def test_the_command_line_goes_from_question_to_page(tmp_path: Path) -> None:
    log, run = table(), CliRunner().invoke
    made = run(
        main, ["sql", "log", "--target", "new=written(slate=p)", "--cluster", "user", "-e", "ips", "-e", "snips"]
    )
    assert made.exit_code == 0, made.output
    duckdb.sql(made.output).write_csv(str(tmp_path / "sums.csv"))
    found = run(main, ["merge", str(tmp_path / "sums.csv"), "--html", str(tmp_path / "page.html")])
    assert found.exit_code == 0, found.output
    assert f"{offrank.evaluate(log, 'written(slate=p)', cluster='user')['snips'].value:.2f}" in found.output
    assert "sums alone" in " ".join(found.output.split())
    assert "sums alone" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(("offset", "told"), [(100.0, True), (100_000.0, False)])
def test_a_reward_far_from_0_is_told_or_refused(offset: float, told: bool, tmp_path: Path) -> None:
    log, path = table(), tmp_path / "sums.csv"
    far = pa.array(log["reward"].to_numpy() + offset)
    log = log.set_column(log.schema.get_field_index("reward"), "reward", far)
    duckdb.sql(CASES["one target"].query("log")).write_csv(str(path))
    if not told:
        with pytest.raises(LogError, match="varies so little"):
            offrank.merge(path)
        return
    theirs = offrank.evaluate(log, "written(slate=p)", cluster=None)["snips"]
    assert offrank.merge(path)["snips"].standard_error == pytest.approx(theirs.standard_error, rel=1e-7)


def test_rows_may_be_selected_in_brackets(tmp_path: Path) -> None:
    log = table()
    text = offrank.sql("(SELECT * FROM log WHERE arm = 'A') AS first", "written(slate=p)")
    duckdb.sql(text).write_csv(str(tmp_path / "sums.csv"))
    kept = log.filter(pa.compute.equal(log["arm"], "A"))
    theirs = offrank.evaluate(kept, "written(slate=p)", cluster=None)["snips"]
    assert offrank.merge(tmp_path / "sums.csv")["snips"].value == pytest.approx(theirs.value, rel=1e-12)
