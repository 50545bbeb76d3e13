"""What every test may use."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

# Inherited by the workers and by every process that is started: where these share the cores, the threads of a small
# matrix wait for each other, and burn many times what they compute. Tests of numbers of threads set their own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

from tests.night import SHARED, WHOLE, due, long

pytest_plugins = ["tests.tiers"]

# Compiling on first use takes longer than any deadline; the examples in CI are the same in every run.
_COMMON = {"deadline": None, "max_examples": 50, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("offrank", **_COMMON)
settings.register_profile("offrank-ci", derandomize=True, print_blob=True, **_COMMON)
settings.load_profile("offrank-ci" if os.environ.get("CI") == "true" else "offrank")


# A full collection walks over all that is imported and collected, a tenth of the time of tests that make many objects.
gc.set_threshold(10_000, 20, 20)


def pytest_configure(config: pytest.Config) -> None:
    words = "turns(parts, *files, by): so long that one of so many commits asks it, and each that touched its files"
    config.addinivalue_line("markers", words)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes long is left to the night, where all is asked, or to the commits whose turn it is."""
    if not WHOLE:
        late = {item for item in items if item.get_closest_marker("nightly") or not _is_due(config, item)}
        items[:] = [item for item in items if item not in late]
        config.hook.pytest_deselected(items=list(late))


def _is_due(config: pytest.Config, item: pytest.Item) -> bool:
    """Whether it is the turn of a test, or its code was touched; one that is asked for by its name need not wait."""
    mark = item.get_closest_marker("turns")
    if not (mark or item.nodeid.partition("[")[0] in long()) or any("::" in word for word in config.args):
        return True
    parts, *files = mark.args if mark else (SHARED,)
    parts = parts if parts == 1 else max(parts, SHARED)
    by = mark.kwargs.get("by", item.nodeid) if mark else item.nodeid
    package = config.rootpath / "src" / "offrank"
    room = package / item.path.parent.name  # tests mirror it
    return due(by, parts, item.path, room, *(package / file for file in files))


def pytest_collection_finish() -> None:
    """What stands when the tests begin is never garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _usual_terminal() -> Iterator[None]:
    """What is printed does not depend on the window and the wishes of who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        for wish in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            patch.delenv(wish, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _compiled_once(pytestconfig: pytest.Config) -> Iterator[None]:
    """What JAX compiles is kept beside pytest's cache: for other tests, other processes and the next run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_COMPILATION_CACHE_DIR", str(pytestconfig.rootpath / ".pytest_cache" / "jax"))
        patch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
        patch.setenv("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
        yield


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C is heeded, here and in the processes that are started: where tests run in the background it may not be."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("only the main thread is interrupted")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


SHARED_DATA = Path(__file__).resolve().parents[1] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real logs beside the repository; the test is skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("no real logs beside the repository (../shared/data)")
    return SHARED_DATA
