"""Every job gives the same answer wherever the log is reduced: threads, processes, Dask, Spark, one part or fifty."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import offrank
from offrank.errors import OffrankError, RowError, UsageError
from offrank.testing.metamorphic import answer
from tests.running import engines
from tests.verbs.logs import replaced

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]  # the engines' own

TARGETS = {"new": "plackett_luce(new_score)", "best": "top(new_score)"}
SEVERAL = ["ips", "snips", "clip(ips, 10)", "ipm", "interpol(window=1)", "dr(regression)"]
Job = Callable[..., Any]


def _learn(log: Any, folder: Path, **how: Any) -> Any:
    return offrank.learn(log, "plackett_luce", folder / "policy.npz", epochs=1, bits=8, **how)


def _fit(log: Any, folder: Path, **how: Any) -> Any:
    made = offrank.fit_clicks(log, "pbm", folder / "pbm.json", **how)
    return made, offrank.evaluate_clicks(log, made.fitted, labels="grade", **how), made.fitted.score(log)


JOBS: dict[str, Job] = {
    "evaluate": lambda log, _, **how: offrank.evaluate(log, TARGETS, estimators=SEVERAL, by="device", **how),
    "bootstrap": lambda log, _, **how: offrank.evaluate(
        log, TARGETS, interval="bootstrap", replicates=20, cluster="user", **how
    ),
    "compare": lambda log, _, **how: offrank.compare(log, TARGETS, "plackett_luce(old_score)", ["pi", "rips"], **how),
    "check": lambda log, _, **how: offrank.check(log, "top(new_score)", **how),
    "measure": lambda log, _, **how: offrank.measure(log, ["old_score", "new_score"], **how),
    "harvest": lambda log, _, **how: offrank.harvest_clicks(log, replicates=20, **how),
    "click model": _fit,
    "dbn": lambda log, folder, **how: offrank.fit_clicks(log, "dbn", folder / "dbn.json", **how),
    "select models": lambda log, _, **how: offrank.select_clicks(
        log, {name: offrank.clicks.click_model(name).fit(engines.table()) for name in ("pbm", "dctr")}, "grade", **how
    ),
    "select": lambda log, _, **how: offrank.select_estimators(log, "top(new_score)", worlds=0, **how),
    "learn": _learn,
    "inspect": lambda log, _, **how: offrank.inspect(log, **how),
}


@cache
def expected(job: str, folder: Path) -> dict[str, Any]:
    return answer(lambda log: JOBS[job](log, folder), engines.table())


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
def running(folder: Path) -> Iterator[Callable[[str], dict[str, Any]]]:
    """The executor of an engine by name, begun when it is first asked for."""
    with ExitStack() as stack:

        @cache
        def begun(name: str) -> dict[str, Any]:
            if name == "processes":
                return {"executor": stack.enter_context(ProcessPoolExecutor(2, mp_context=get_context("spawn")))}
            return {"executor": stack.enter_context(engines.dask_executor())} if name == "dask" else {}

        yield begun


def same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Two answers are equal to 1e-12."""
    assert "refused" not in wanted, wanted
    away = {where: (wanted.get(where), found.get(where)) for where in wanted | found if where != "path"}
    away = {where: pair for where, pair in away.items() if not _close(*pair)}
    assert not away


def _close(left: Any, right: Any) -> bool:
    if not (isinstance(left, float) and isinstance(right, float)):
        return bool(left == right)
    return math.isclose(left, right, rel_tol=1e-12, abs_tol=1e-12) or (math.isnan(left) and math.isnan(right))


@pytest.mark.parametrize("engine", ["threads", "processes", "dask"])
@pytest.mark.parametrize("job", JOBS)
def test_every_job_gives_the_same_answer_in_fifty_parts(job: str, engine: str, running: Any, folder: Path) -> None:
    log = engines.in_parts(folder)
    same(answer(lambda log: JOBS[job](log, folder, **running(engine)), log), expected(job, folder))


@pytest.mark.parametrize("job", JOBS)
def test_every_job_gives_the_same_answer_on_spark(job: str, frame: Any, folder: Path) -> None:
    same(answer(lambda log: JOBS[job](log, folder), frame), expected(job, folder))
