"""Every job gives the same answer wherever the log is reduced: threads, processes, Dask, Spark, one part or many."""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import offrank
from offrank.errors import ColumnError, EmptyLogError, RowError, UsageError
from tests.cli.commands import call
from tests.metamorphic.changes import flat_answer
from tests.running import engines
from tests.verbs.logs import CURVE, replaced

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]  # the engines' own

TARGETS = {"new": "plackett_luce(new_score)", "best": "top(new_score)"}
SEVERAL = ["ips", "snipm", "dr(lasso)"]
Job = Callable[..., Any]
READER = Path(offrank.__file__).with_name("readers") / "spark.py"
SPARK, DASK = (pytest.mark.turns(3, READER, by=engine) for engine in ("spark", "distributed"))
"""To begin an engine takes longer than all that it is asked: all of it is asked, or nothing."""


def _learn(log: Any, folder: Path, **how: Any) -> Any:
    return offrank.learn(log, "plackett-luce", folder / "policy.npz", epochs=1, bits=8, **how)


def _fit(log: Any, folder: Path, **how: Any) -> Any:
    made = offrank.fit_clicks(log, "pbm", folder / "pbm.json", **how)
    return made, offrank.evaluate_clicks(log, made.fitted, labels="grade", **how), made.fitted.score(log)


@cache
def click_models() -> dict[str, Any]:
    return {name: offrank.clicks.click_model(name).fit(engines.table()) for name in ("pbm", "dctr")}


JOBS: dict[str, Job] = {
    "evaluate": lambda log, _, **how: offrank.evaluate(
        log, TARGETS, "plackett_luce(old_score)", SEVERAL, by="device", examination=CURVE, **how
    ),
    "bootstrap": lambda log, _, **how: offrank.evaluate(
        log, TARGETS, interval="bootstrap", replicates=20, cluster="user", **how
    ),
    "compare": lambda log, _, **how: offrank.compare(log, TARGETS, "plackett_luce(old_score)", ["pi", "rips"], **how),
    "check": lambda log, _, **how: offrank.check(log, "top(new_score)", **how),
    "measure": lambda log, _, **how: offrank.measure(
        log, ["old_score", "new_score"], "plackett_luce(old_score)", **how
    ),
    "harvest": lambda log, _, **how: offrank.harvest_clicks(log, replicates=20, **how),
    "click model": _fit,
    "dbn": lambda log, folder, **how: offrank.fit_clicks(log, "dbn", folder / "dbn.json", **how),
    "select models": lambda log, _, **how: offrank.select_clicks(log, click_models(), "grade", **how),
    "select": lambda log, _, **how: offrank.select_estimators(log, "top(new_score)", **how),
    "learn": _learn,
    "inspect": lambda log, _, **how: offrank.inspect(log, **how),
}
TOLERANCES = {"learn": 1e-7}
"""Steps of a search multiply what rounding changes in the sums that they begin with."""


@cache
def expected(job: str, folder: Path) -> dict[str, Any]:
    return flat_answer(lambda log: JOBS[job](log, folder), engines.table())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("engines")


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    found = engines.spark_session()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def frame(session: Any) -> Any:
    return engines.spark_frame(session, engines.table(), 3)


@pytest.fixture(scope="module")
def opened(frame: Any) -> Any:
    """Opened once, so that the partitions are counted once."""
    return offrank.read_log(frame)


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Callable[[str], dict[str, Any]]]:
    """The executor of an engine by name, begun when it is first asked for."""
    with ExitStack() as stack:

        @cache
        def begun(name: str) -> dict[str, Any]:
            if name == "processes":
                return {"executor": stack.enter_context(ProcessPoolExecutor(2, mp_context=get_context("spawn")))}
            return {"executor": stack.enter_context(engines.dask_executor())} if name == "dask" else {}

        yield begun


_OF_FILES = {"path", "checksums"}
"""What is said of the files themselves, which are others."""


def same(found: dict[str, Any], wanted: dict[str, Any], tolerance: float = 1e-12) -> None:
    """Two answers are equal."""
    assert "refused" not in wanted, wanted
    away = {where: (wanted.get(where), found.get(where)) for where in wanted | found if where not in _OF_FILES}
    away = {
        where: pair for where, pair in away.items() if not (_close(*pair, tolerance) or _not_read_here(where, found))
    }
    assert not away


def _not_read_here(where: str, found: dict[str, Any]) -> bool:
    """How well a click model fits is told of logs that can be read again in this process."""
    return ".fit." in f".{where}" and not any(".fit." in f".{one}" for one in found)


def _close(left: Any, right: Any, tolerance: float) -> bool:
    if not (isinstance(left, float) and isinstance(right, float)):
        return bool(left == right)
    return math.isclose(left, right, rel_tol=tolerance, abs_tol=tolerance) or (math.isnan(left) and math.isnan(right))


@pytest.mark.turns(3)
@pytest.mark.parametrize("engine", ["threads", "processes", pytest.param("dask", marks=DASK)])
@pytest.mark.parametrize("job", JOBS)
def test_every_job_gives_the_same_answer_in_many_parts(job: str, engine: str, running: Any, folder: Path) -> None:
    # Fifty for every job, and on every engine; the way to another process costs more than the job.
    log = engines.in_parts(folder, 50 if engine == "threads" or job == "evaluate" else 12)
    same(
        flat_answer(lambda log: JOBS[job](log, folder, **running(engine)), log),
        expected(job, folder),
        TOLERANCES.get(job, 1e-12),
    )


@SPARK
@pytest.mark.parametrize("job", JOBS)
def test_every_job_gives_the_same_answer_on_spark(job: str, opened: Any, folder: Path) -> None:
    same(flat_answer(lambda log: JOBS[job](log, folder), opened), expected(job, folder), TOLERANCES.get(job, 1e-12))


@SPARK
@pytest.mark.parametrize("parts", [1, 7])
def test_spark_gives_the_same_answer_in_one_partition_or_many(parts: int, session: Any, folder: Path) -> None:
    log = engines.spark_frame(session, engines.table(), parts)
    same(flat_answer(lambda log: JOBS["bootstrap"](log, folder), log), expected("bootstrap", folder))


@SPARK
@pytest.mark.parametrize("scattered", [False, True])
def test_impressions_of_the_long_layout_may_lie_in_several_partitions(scattered: bool, session: Any) -> None:
    def job(log: Any) -> Any:
        how: dict[str, Any] = {"interval": "bootstrap", "replicates": 20, "by": "device"}
        return offrank.evaluate(log, TARGETS, **how), offrank.inspect(log)

    table = engines.long(scattered)
    same(flat_answer(job, engines.spark_frame(session, table, 3)), flat_answer(job, table))


def _wrong() -> Any:
    return replaced(engines.table(), propensity=[2.0 if row == 431 else 0.1 for row in range(engines.ROWS)])


def _without_position() -> Any:
    table = engines.long()
    position = [7 if row in (900, 901) else one for row, one in enumerate(table.column("position").to_pylist())]
    return replaced(table, position=position)


@SPARK
@pytest.mark.parametrize("made", [_wrong, _without_position])
def test_a_row_that_breaks_a_rule_is_said_in_the_same_words(made: Any, session: Any) -> None:
    with pytest.raises(RowError) as here:
        offrank.evaluate(made(), TARGETS)
    with pytest.raises(RowError) as there:
        offrank.evaluate(engines.spark_frame(session, made(), 3), TARGETS)
    assert (there.value.row, there.value.column, there.value.rule) == (
        here.value.row,
        here.value.column,
        here.value.rule,
    )
    assert str(there.value) == str(here.value).replace(here.value.file, "Spark DataFrame", 1)


@SPARK
def test_partitions_that_change_between_passes_are_refused(frame: Any) -> None:
    def another(batches: Any) -> Any:  # the order of the rows differs at each pass
        import random

        for data in batches:
            yield data.take(random.SystemRandom().sample(range(len(data)), len(data)))

    log = frame.drop("features").mapInArrow(another, frame.drop("features").schema)
    with pytest.raises(UsageError, match="or another order") as error:
        offrank.evaluate(log, TARGETS)
    assert "log.cache()" in error.value.remedy


@SPARK
def test_what_cannot_run_there_is_said_before_it_starts(frame: Any, session: Any, folder: Path) -> None:
    model = offrank.clicks.PBM().fit(engines.table())
    for job in (
        lambda: offrank.convert(frame, folder / "converted.parquet"),
        lambda: model.predict(frame),
        lambda: offrank.predict_clicks(frame, model, folder / "predicted.parquet"),
    ):
        with pytest.raises(UsageError, match="row by row, but the rows of the Spark DataFrame are elsewhere"):
            job()
    with ProcessPoolExecutor(1) as pool, pytest.raises(UsageError, match="by its own engine"):
        offrank.evaluate(frame, TARGETS, executor=pool)
    with pytest.raises(UsageError, match="has no end"):
        offrank.read_log(session.readStream.format("rate").load())


@SPARK
def test_an_empty_frame_is_an_empty_log(frame: Any) -> None:
    with pytest.raises(EmptyLogError):
        offrank.evaluate(frame.where("query < 0"), TARGETS)


@SPARK
def test_a_table_is_named_on_the_command_line(frame: Any) -> None:
    frame.createOrReplaceTempView("impressions")
    options = ("--target", TARGETS["new"], "--quiet")
    assert call("evaluate", "spark:impressions", *options).exit_code == 0
    found = call("evaluate", "spark:other", *options)
    assert found.exit_code != 0
    assert "spark:other cannot be read" in found.stderr


@SPARK
def test_what_executors_lack_is_named(frame: Any) -> None:
    def policy() -> Any:
        module = types.ModuleType("only_here")
        exec("class Mine(base): pass", module.__dict__ | {"base": type(offrank.Uniform())}, made := {})
        made["Mine"].__module__ = "only_here"
        module.Mine = made["Mine"]  # type: ignore[attr-defined]
        sys.modules["only_here"] = module
        return made["Mine"]()

    try:
        with pytest.raises(UsageError, match="only_here is not installed where Spark runs Python"):
            offrank.evaluate(frame, policy())
    finally:
        del sys.modules["only_here"]


@SPARK
@pytest.mark.usefixtures("interruptible")
def test_interrupting_cancels_the_job(frame: Any, session: Any) -> None:
    def slowly(batches: Any) -> Any:
        import time

        for data in batches:
            time.sleep(60)
            yield data

    log = frame.select("slate", "clicks", "propensity", "candidates", "new_score")
    log = log.mapInArrow(slowly, log.schema)
    tracker = session.sparkContext.statusTracker()

    def interrupt() -> None:
        while not tracker.getActiveJobsIds():
            time.sleep(0.05)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # as Ctrl-C does

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        offrank.evaluate(log, "plackett_luce(new_score)")
    until = time.monotonic() + 20
    while tracker.getActiveJobsIds() and time.monotonic() < until:
        time.sleep(0.05)
    assert not tracker.getActiveJobsIds()


@SPARK
@pytest.mark.parametrize(
    "where", ["flag = 1", "\"a word\" = 'it''s'", "flag = false and number in (1, 2)", "day > '2026-01-02'"]
)
def test_a_row_filter_keeps_the_same_rows(where: str, session: Any) -> None:
    made = pa.table(
        {
            "slate": [["a", "b"]] * 40,
            "clicks": [[at % 2, 0] for at in range(40)],
            "flag": [[True, False, None][at % 3] for at in range(40)],
            "a word": [["it's", "not"][at % 2] for at in range(40)],
            "number": [at % 4 for at in range(40)],
            "day": [datetime(2026, 1, 1 + at % 4, tzinfo=UTC) for at in range(40)],
        }
    )
    here, there = (
        offrank.evaluate(offrank.read_log(log, where=where), "uniform", "uniform", "ips", cluster=None)["ips"]
        for log in (made, session.createDataFrame(made))
    )
    assert 0 < here.n < 40
    assert (here.n, here.value) == (there.n, there.value)
    with pytest.raises(ColumnError, match=r"'number' .* does not compare with 'x'"):
        offrank.read_log(session.createDataFrame(made), where="number = 'x'")
