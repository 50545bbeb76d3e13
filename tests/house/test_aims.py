"""The aims of the architecture as budgets: today's figure, and a limit a little above it, so that it can only fall.

A change that lowers a figure writes the new one down; one that raises a limit is recorded in
docs/contributing/decisions.md. `python -m tests.house.test_aims` prints the table. Lines are
counted without docstrings.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.house import measures, ratchet
from tests.house.measures import SOURCE, outside, within

pytestmark = pytest.mark.xdist_group("house")  # one process reads the files


class Aim(NamedTuple):
    """What is counted, how, and three figures: today's, the limit, and what the architecture wants."""

    what: str
    count: Callable[[], int]
    today: int
    limit: int
    aim: int


def of_row(key: str, *options: str) -> Callable[[], int]:
    return lambda: measures.one_row(*options)[key]


WAIST = ("verbs", "evaluation")
AIMS = [
    Aim("functions that one snips enters", of_row("functions"), 544, 545, 350),
    Aim("files that one snips enters", of_row("files"), 119, 119, 60),
    Aim("rooms that one snips enters", of_row("rooms"), 14, 14, 13),
    Aim("calls upward of one snips, by files", of_row("upward"), 30, 30, 25),
    Aim("classes that one snips enters", of_row("classes"), 90, 90, 50),
    Aim("functions that one estimate enters", of_row("functions", "--estimate"), 193, 193, 180),
    Aim("files that one estimate enters", of_row("files", "--estimate"), 67, 67, 40),
    Aim("functions from the command line", of_row("functions", "--cli"), 601, 602, 400),
    Aim("modules that offrank evaluate imports", of_row("modules", "--cli"), 238, 239, 250),
    Aim("files of verbs/ and evaluation/", lambda: len(within(*WAIST)), 51, 51, 34),
    Aim("lines of verbs/ and evaluation/", lambda: measures.lines(within(*WAIST)), 6015, 6022, 5500),
    Aim("files of the package", lambda: len(SOURCE), 499, 512, 450),
    Aim("lines of the package", lambda: measures.lines(SOURCE), 65938, 66310, 47000),
    Aim("functions with two homes", lambda: len(measures.with_two_homes(measures.functions_defined)), 14, 14, 15),
    Aim("constants with two homes", lambda: len(measures.with_two_homes(measures.constants_defined)), 30, 30, 30),
    Aim("lists of evaluate's arguments", lambda: measures.lists_of_arguments(SOURCE), 1, 1, 1),
    Aim("lists of codes of findings", lambda: measures.lists_of(measures.finding_codes(), SOURCE), 0, 0, 0),
    Aim(
        "isinstance of an estimator outside estimators/",
        lambda: measures.switches_on(measures.estimator_classes(), outside("estimators")),
        0,
        0,
        0,
    ),
    Aim(
        "isinstance of a policy outside policies/",
        lambda: measures.switches_on(measures.policy_classes(), outside("policies")),
        0,
        0,
        0,
    ),
    Aim("getattr and hasattr", lambda: measures.attributes_asked_for(SOURCE), 159, 160, 80),
    Aim("state of the whole process", lambda: len(measures.process_wide()), 1, 1, 2),
]


@pytest.mark.parametrize("aim", AIMS, ids=lambda aim: aim.what.replace(" ", "-"))
def test_a_figure_only_falls(aim: Aim) -> None:
    found = aim.count()
    assert found <= aim.limit, f"{aim.what}: {found}, at most {aim.limit}"


@pytest.mark.parametrize("aim", AIMS, ids=lambda aim: aim.what.replace(" ", "-"))
def test_a_limit_is_a_little_above_today(aim: Aim) -> None:
    assert aim.today <= aim.limit <= 1.03 * aim.today + 1


def test_a_limit_does_not_rise_without_a_record() -> None:
    root = Path(__file__).resolve().parents[2]
    assert ratchet.limits((root / ratchet.LIMITS).read_text(encoding="utf-8")) == {one.what: one.limit for one in AIMS}
    try:
        assert not ratchet.risen(root)
    except ratchet.NoHistoryError as error:
        pytest.skip(f"earlier limits are not known: {error}")


class History:
    """A repository whose limits change."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for file in (ratchet.LIMITS, ratchet.RECORDS):
            (root / file).parent.mkdir(parents=True)
        (root / ratchet.RECORDS).write_text("# The decisions\n")
        self.git("init", "-q")

    def git(self, *arguments: str) -> None:
        named = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *named, *arguments], cwd=self.root, check=True, capture_output=True)

    def limit(self, number: int, *, tag: str = "", commit: bool = True) -> None:
        (self.root / ratchet.LIMITS).write_text(f"AIMS = [Aim('rooms', count, 1, {number}, 1)]\n")
        if commit:
            self.git("add", ".")
            self.git("commit", "-q", "-m", str(number))
        if tag:
            self.git("tag", tag)

    def record(self, old: int, new: int) -> None:
        page = f"# Limits\n\n| what | from | to |\n|---|--:|--:|\n| rooms | {old} | {new:,} |\n"
        (self.root / ratchet.RECORDS).write_text(page)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "repository")


@pytest.mark.parametrize("commit", [True, False])
def test_a_risen_limit_is_found(history: History, commit: bool) -> None:
    history.limit(1_000)
    assert ratchet.risen(history.root) == []
    history.limit(999)
    history.limit(1_001, commit=commit)
    assert [one.split(", without")[0] for one in ratchet.risen(history.root)] == ["rooms: 1001, was 999"]
    history.record(999, 1_002)
    assert len(ratchet.risen(history.root)) == 1  # that of another rise
    history.record(1_001, 999)
    assert len(ratchet.risen(history.root)) == 1
    history.record(999, 1_001)
    assert ratchet.risen(history.root) == []


def test_a_limit_is_compared_with_the_last_version(history: History) -> None:
    history.limit(5, tag="v1.0")
    for number in range(7, 7 + 2 * ratchet.VERSIONS):
        history.limit(number)
    history.limit(7)
    assert [one.split(", without")[0] for one in ratchet.risen(history.root)] == ["rooms: 7, was 5"]


def test_what_is_not_known_is_said(history: History, tmp_path: Path) -> None:
    history.limit(5)
    history.limit(7)
    history.git("clone", "-q", "--depth", "1", f"file://{history.root}", str(tmp_path / "shallow"))
    with pytest.raises(ratchet.NoHistoryError, match="unshallow"):
        ratchet.before(tmp_path / "shallow")
    history.git("clone", "-q", "--depth", "2", f"file://{history.root}", str(tmp_path / "deeper"))
    assert len(ratchet.risen(tmp_path / "deeper")) == 1
    with pytest.raises(ratchet.NoHistoryError, match="no Git repository"):
        ratchet.before(tmp_path)


CODE = """
KEPT, SPEC, FIXED = [], {}, []
class Asked:
    interval: str
    cluster: str
    by: str
def pick(code, one, interval, cluster, by):
    if code in ("few-rewards", "mean-weight") or code in ("few-rewards", "a word"):
        KEPT.append(code)
        SPEC[code] = FIXED
    return isinstance(one, (IPS, list)), hasattr(one, "base"), {"interval": interval, "cluster": 1, "by": 2}
"""


def test_what_is_counted_is_seen() -> None:
    tree = ast.parse(CODE)
    known = {"interval", "cluster", "by"}
    assert sum(known <= measures.arguments_named(node) for node in ast.walk(tree)) == 3
    listed = [measures.strings(node) for node in ast.walk(tree)]
    assert ["few-rewards", "mean-weight"] in listed
    asked = [measures.called(node, "isinstance", "hasattr") for node in ast.walk(tree)]
    assert sum(asked) == 2
    changed = [measures.changed(node, {"KEPT", "SPEC", "FIXED"}) for node in ast.walk(tree)]
    assert set().union(*changed) == {"KEPT", "SPEC"}


def test_a_verb_in_two_rooms_has_one_home() -> None:
    assert measures.is_verb({"cli/learn.py", "verbs/learn.py"})
    assert not measures.is_verb({"cli/learn.py", "verbs/learn.py", "learning/learn.py"})
    assert not measures.is_verb({"verbs/learn.py", "verbs/check.py"})


if __name__ == "__main__":
    print("| what | today | limit | aim |\n|---|--:|--:|--:|")
    print(*(f"| {aim.what} | {aim.count()} | {aim.limit} | {aim.aim} |" for aim in AIMS), sep="\n")
