"""Arguments from their texts on the command line, and the checks of numbers, before what evaluates is imported."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from glob import has_magic
from numbers import Real
from pathlib import Path
from typing import Any

from ..errors import LogError, UsageError
from ..wording import Option, Wording
from .spelling import split, split_all

TOTAL_NAMES = ("clicked", "all")
"""The true numbers of impressions that can be told: with a click, and in all. Both test which rows were kept."""
USUAL_ESTIMATORS = ("ips", "snips")
USUAL_OF_ARMS = ("snips", "snrips", "snipm")
"""The estimators where nobody names any; in an A/B test of rankers that sort, those that need no whole slates."""
CANDIDATE_ESTIMATORS = (
    *("ips", "snips", "rips", "snrips", "pi", "wpi", "ipm", "snipm"),
    *("interpol(window=1)", "interpol(window=2)", "pbm"),
)
"""The estimators to choose from by default, of which a log and its policies usually allow only some."""
GRADES, GENERATED = 5, "generated"
"""How many grades documents are given, and the judged queries of a simulation, where nobody says."""
_NAMED = re.compile(r"^([A-Za-z][\w .-]*?)\s*=\s*(.+)$", re.DOTALL)


def one_or_several(paths: tuple[str, ...]) -> str | list[str]:
    """Return the only path, or all of them: files of one log, or its impressions and the clicks on them.

    Raises:
        LogError: one is no file, and can be nothing else: no glob, address or table, nor standard input.
    """
    for path in paths:
        if path != "-" and ":" not in path and not has_magic(path) and not Path(path).exists():
            raise nothing_at(path)
    return paths[0] if len(paths) == 1 else list(paths)


def nothing_at(path: str, why: str = "") -> LogError:
    """Return the error of a path that leads to no log."""
    return LogError(f"there is no log at {path!r}{why}", "check the path, or quote the glob")


def parse_examination(text: str | None) -> list[float] | str | None:
    """Parse numbers, or otherwise the name of a file.

    Raises:
        UsageError: the numbers cannot be parsed.
    """
    try:
        return None if text is None else [float(word) for word in split(text)]
    except ValueError as error:
        if text is not None and "," not in text:
            return text
        raise UsageError(f"--examination {text!r}", "separate numbers with commas: 1,.5,.33") from error


def reward_limits(text: str | None) -> tuple[float, float] | None:
    """Parse the smallest and the largest possible reward: `0,1`.

    Raises:
        UsageError: the numbers cannot be parsed, or see `reward_range`.
    """
    try:
        numbers = None if text is None else [float(word) for word in split(text)]
    except ValueError as error:
        raise UsageError(f"--reward-range {text!r}", "write two numbers with a comma: 0,1") from error
    return reward_range(numbers)


def reward_range(given: object) -> tuple[float, float] | None:
    """Return the smallest and the largest possible reward.

    Raises:
        UsageError: not two numbers, the smaller first.
    """
    if given is None:
        return None
    numbers = [*given] if isinstance(given, Iterable) else []
    real = all(isinstance(one, Real) and math.isfinite(one) for one in numbers)
    if len(numbers) != 2 or not real or not numbers[0] < numbers[1]:
        raise UsageError(f"reward_range is {given!r}", "give the smallest and the largest possible reward: [0, 1]")
    return float(numbers[0]), float(numbers[1])


def parse_totals(text: str | None) -> dict[str, float] | None:
    """Parse true numbers of impressions by name: `clicked=1200,all=50000`.

    Raises:
        UsageError: the numbers cannot be parsed, or see `impression_totals`.
    """
    pairs = [part.partition("=") for part in (text or "").split(",")]
    try:
        found = None if text is None else {name.strip(): float(number) for name, _, number in pairs}
    except ValueError as error:
        raise UsageError(f"--totals {text!r}", "give numbers by name: --totals clicked=1200,all=5000") from error
    return impression_totals(found)


def impression_totals(given: Mapping[str, float] | None) -> dict[str, float] | None:
    """Return true numbers of impressions, as given.

    Raises:
        UsageError: others than `clicked` and `all`, or impossible numbers.
    """
    if given is None:
        return None
    numbers = list(given.values()) if hasattr(given, "values") else [None]
    real = all(isinstance(one, Real) and not isinstance(one, bool) and 0 <= one < math.inf for one in numbers)
    known = real and len(numbers) > 0 and set(given) <= set(TOTAL_NAMES)
    if not known or given.get("clicked", 0) > given.get("all", math.inf):
        example = Option("totals", {"clicked": 1200, "all": 50000})
        raise UsageError(
            f"totals is {given!r}", Wording("give the numbers of impressions, clicked and in all: {}", example)
        )
    return {name: given[name] for name in TOTAL_NAMES if name in given}


def named_policies(texts: tuple[str, ...]) -> Any:
    """Parse one policy, or several by name, `NAME=POLICY`; without a name, the spelling is the name. None of none.

    Raises:
        UsageError: two policies have one name.
    """
    if not texts:
        return None
    pairs = [split_name(text, text) for text in texts]
    alone = len(texts) == 1 and pairs[0][0] == texts[0]
    return texts[0] if alone else _distinct(pairs, "targets", "--target NAME=POLICY")


def some_estimators(texts: tuple[str, ...]) -> list[str] | None:
    """Parse estimators, each option one or several; None where there is none."""
    return split_all(texts) or None


def named_files(texts: tuple[str, ...]) -> dict[str, str]:
    """Parse files by name, `NAME=FILE`; without a name, the file's name is used.

    Raises:
        UsageError: two files have one name.
    """
    return _distinct([split_name(text, Path(text).stem) for text in texts], "models", "--model NAME=FILE")


def split_name(text: str, otherwise: str) -> tuple[str, str]:
    """Return the name and the rest of `NAME=REST`; a text without a name has the other one."""
    match = _NAMED.match(text)
    return (match[1], match[2]) if match else (otherwise, text)


def _distinct(pairs: list[tuple[str, str]], what: str, remedy: str) -> dict[str, str]:
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two {what} are called {twice[0]!r}", f"give each its own name: {remedy}")
    return dict(pairs)
