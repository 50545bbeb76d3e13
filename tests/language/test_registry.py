"""Parts are registered under free names only, and can be taken back."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import offrank
from offrank.errors import UsageError
from offrank.estimators import ESTIMATORS, self_normalised
from offrank.estimators.ips import IPS
from offrank.estimators.named import estimator
from offrank.inference import INTERVALS, interval
from offrank.policies import POLICIES
from tests.verbs.logs import coins


def test_what_was_taken_back_is_unknown_under_all_of_its_names() -> None:
    known = {*ESTIMATORS}

    @self_normalised
    @ESTIMATORS.register
    def mine() -> IPS:
        return IPS()

    assert {*ESTIMATORS} - known == {"mine", "snmine"}
    assert estimator("snmine") == estimator("snips")
    ESTIMATORS.remove(mine)
    assert {*ESTIMATORS} == known
    with pytest.raises(UsageError, match="unknown estimator 'snmine'"):
        estimator("snmine")


def test_a_name_that_was_taken_back_is_free() -> None:
    def one(of: Any) -> Any:
        return of.interval(of.value - 1, of.value + 1)

    def other(of: Any) -> Any:
        return of.interval(of.value - 2, of.value + 2)

    widths = []
    for make in (one, other):
        interval("wide")(make)
        found = offrank.estimate(coins(100), "uniform", "uniform", "ips", interval="wide")["ips"]
        widths.append(found.high - found.value)
        INTERVALS.remove(make)
    assert widths == pytest.approx([1.0, 2.0])


def test_only_what_is_registered_is_taken_back() -> None:
    with pytest.raises(UsageError, match="is no registered policy"):
        POLICIES.remove(coins)


def test_a_name_of_a_file_that_is_not_imported_yet_is_taken() -> None:
    code = (
        "from offrank.language.registry import Registry\n"
        "INTERVALS = Registry('offrank.inference', 'kind of interval')\n"
        "def bootstrap(): pass\n"
        "INTERVALS.register(bootstrap)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "have the same name, 'bootstrap'" in done.stderr
