"""The scripts that measure growth, small machines and equal bits run, in small, and count what they say they count."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import same_bits
from tests.verbs.logs import search

ROOT = Path(__file__).parents[2]


def row(script: str, *words: str) -> list[str]:
    """The cells of the one line below the head of the table that a script prints."""
    run = [sys.executable, f"benchmarks/{script}.py", *words]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    *_, line = lines = done.stdout.splitlines()
    assert len(lines) == 3
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.turns(3)
def test_growth_is_measured_over_doubled_sizes() -> None:
    verb, against, sizes, seconds, exponent, memory, _ = row(
        "scale", "growth", "--only", "measure rows", "--scale", "0.002", "--repeats", "1"
    )
    assert (verb, against, sizes) == ("`measure`", "rows", "100 to 1,600")
    assert len(seconds.split(", ")) == 5
    assert float(exponent.strip("*")) < 10
    assert 50 < float(memory.replace(",", "")) < 3000


@pytest.mark.turns(3)
@pytest.mark.parametrize(
    ("name", "said"), [("clusters", "answered"), ("queries in `by`", "refused: .* more than 2000 values.*")]
)
def test_a_small_machine_answers_or_refuses(name: str, said: str) -> None:
    case, rows, _, result, private, resident, *_ = row(
        "small_machine", "small-machine", "--only", name, "--scale", "0.003"
    )
    assert name in case
    assert rows == "3,000"
    assert re.fullmatch(said, result)
    assert 0 < float(private) < float(resident) < 3


@pytest.mark.turns(3)
def test_an_answer_has_the_same_numbers_in_any_order_of_the_rows_and_another_environment() -> None:
    abroad = same_bits.Change(environment=("PYTHONHASHSEED=random", "LC_ALL=C.utf8", "TZ=Asia/Kathmandu"))
    changes = {"base": same_bits.Change(), "moved": same_bits.CHANGES["rows shuffled"], "abroad": abroad}
    verbs = ["evaluate", "check"]
    found = same_bits.answers(search().slice(0, 400), changes, verbs)
    for verb in verbs:
        assert len(dict(same_bits.numbers(found["base"][verb], same_bits.IGNORED))) > 50
        assert same_bits.furthest(found["base"][verb], found["abroad"][verb])[0] == 0
        assert same_bits.furthest(found["base"][verb], found["moved"][verb], moved=True)[0] < same_bits.UNEQUAL


def test_a_number_that_moved_or_is_missing_is_seen() -> None:
    base = [{"value": 2.0, "row": 1, "of": [0.0, True]}]
    assert same_bits.furthest(base, [{"value": 1.5, "row": 1, "of": [0.0, True]}]) == (0.25, "/0/value")
    assert same_bits.furthest(base, [{"value": 2.0, "row": 1, "of": [True]}])[0] == float("inf")
    assert same_bits.furthest(base, [{"value": 2.0, "row": 2, "of": [1e-15, True]}], moved=True)[0] == pytest.approx(
        1e-6
    )
