"""One answer, wherever a fold runs; errors and interruptions come through."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

from offrank.checks.rows import ImpressionsFold
from offrank.errors import EmptyLogError, ImpossibleSlateError
from offrank.estimators import estimator
from offrank.estimators.fold import TermsFold
from offrank.estimators.layout import Layout
from offrank.log.batch import LogBatch
from offrank.policies import policy
from offrank.running import run
from offrank.running.executors import AHEAD
from offrank.sums import BootstrapFold, BucketsFold, LargestFold, MomentsFold, Tee
from offrank_testing import MemorySource, same, take
from tests.exact.worlds import world

LAYOUT = Layout((policy("plackett_luce(new)"), policy("top(new)")), (estimator("ips"), estimator("rips")))  # type: ignore[arg-type]
INNER = Tee(
    {
        "moments": MomentsFold(),
        "replicates": BootstrapFold(20),
        "buckets": BucketsFold(),
        "largest": LargestFold((4,), keep=10),
    }
)


def fold(logging: str = "plackett_luce(old)") -> TermsFold:
    return TermsFold(LAYOUT, policy(logging), INNER)


def source(parts: int = 9) -> MemorySource:
    whole = world("full", "slate").batch(policy("plackett_luce(old)"))
    return MemorySource(tuple(take(whole, np.arange(part, len(whole), parts)) for part in range(parts)))


@pytest.fixture(scope="module")
def alone() -> dict[str, Any]:
    with ThreadPoolExecutor(1) as one:
        return run(source(), fold(), one)  # type: ignore[no-any-return]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_number_of_threads_gives_the_same_bits(threads: int, alone: dict[str, Any]) -> None:
    with ThreadPoolExecutor(threads) as pool:
        same(run(source(), fold(), pool), alone, 0.0, f"{threads} threads")


def test_the_default_gives_the_same_bits(alone: dict[str, Any]) -> None:
    same(run(source(), fold()), alone, 0.0, "default threads")


def test_fewer_parts_give_the_same_answer(alone: dict[str, Any]) -> None:
    same(run(source(2), fold()), alone, 1e-11, "two parts")


@pytest.mark.turns(3)
def test_processes_give_the_same_bits(alone: dict[str, Any]) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        same(run(source(), fold(), pool), alone, 0.0, "processes")


def test_dask_gives_the_same_bits(alone: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own affair
        distributed = pytest.importorskip("distributed", reason="distributed is not installed")
        with (
            distributed.LocalCluster(
                n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            found = run(source(), fold(), client.get_executor())
    same(found, alone, 0.0, "dask")


def test_progress_counts_parts() -> None:
    seen: list[tuple[int, int]] = []
    run(source(4), fold(), progress=lambda done, parts: seen.append((done, parts)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


class AtOnce(Executor):
    """Runs what is submitted at once. ahead: how many parts were submitted beyond those that were merged."""

    def __init__(self) -> None:
        self.submitted, self.merged, self.ahead = 0, 0, 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        self.ahead = max(self.ahead, self.submitted - self.merged)
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done

    def progress(self, done: int, parts: int) -> None:
        self.merged = done


def test_the_states_of_few_parts_wait_however_many_there_are() -> None:
    pool, parts = AtOnce(), AHEAD + 200
    few = take(source(1).pieces[0], np.arange(2))
    assert run(MemorySource((few,) * parts), ImpressionsFold(), pool, pool.progress).n == 2 * parts
    assert pool.submitted == parts
    assert AHEAD <= pool.ahead <= AHEAD + 1  # the part that is told of was merged before the next was submitted


@pytest.mark.parametrize("own", [False, True], ids=["default", "given"])
def test_an_error_in_a_part_comes_through(own: bool) -> None:
    pool = ThreadPoolExecutor(2) if own else None
    with pytest.raises(ImpossibleSlateError, match="probability 0"):
        run(source(), fold("top(old)"), pool)
    if pool is not None:
        pool.shutdown()


@pytest.mark.turns(3)
def test_an_error_in_another_process_comes_through_whole() -> None:
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(ImpossibleSlateError) as error,
    ):
        run(source(2), fold("top(old)"), pool)
    assert "score column" in error.value.remedy


@dataclass
class Endless:
    """More parts than there are threads, which go on until they are stopped, or for a minute: then they are `late`."""

    first: LogBatch
    begun: list[int] = field(default_factory=list)
    late: list[int] = field(default_factory=list)

    def parts(self) -> int:
        return 2 * (os.cpu_count() or 1) + 8

    def batches(self, part: int) -> Iterator[LogBatch]:
        self.begun.append(part)
        for count in itertools.count():
            if count == 3 and part == 0:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # as Ctrl-C does
            if count > 6000:
                self.late.append(part)
                return
            time.sleep(0.01)
            yield self.first

    def select(self, needed: object) -> Endless:
        return self

    def describe(self) -> str:
        return "endless"


@pytest.mark.usefixtures("interruptible")
def test_interrupting_stops_what_has_begun_and_cancels_the_rest() -> None:
    run(source(1), fold())  # loops may have to be compiled first
    endless = Endless(source(1).pieces[0])
    with pytest.raises(KeyboardInterrupt):
        run(endless, fold())
    assert not endless.late
    assert len(endless.begun) < endless.parts()


def test_no_parts_have_no_sum() -> None:
    nothing = MemorySource(())  # type: ignore[arg-type]
    with pytest.raises(EmptyLogError, match="has no impressions"):
        run(nothing, MomentsFold())
