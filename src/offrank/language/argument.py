"""Arguments of verbs: what their docstrings say of them, as plain values, and the checks of names and numbers."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from functools import wraps
from numbers import Integral, Real
from os import PathLike, fspath
from typing import Any

from ..errors import ArgumentError, UsageError
from ..wording import called, nearest

_PARAMETERS = re.compile(r"^Parameters:\n((?:    .*\n)+)", re.MULTILINE)
_PARAMETER = re.compile(r"^    (\w+): ((?:.*\n)(?:        .*\n)*)", re.MULTILINE)
_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "log": ("data", "df", "table", "logs", "path", "source", "bandit_feedback", "filename"),
    "target": ("policy", "policies", "new_policy", "evaluation_policy", "action_dist", "candidate", "ranker"),
    "logging": ("logger", "logging_policy", "behavior_policy", "behaviour_policy", "drawn_by", "pscore"),
    "estimators": ("method", "methods", "metric", "ope_estimators"),
    "confidence": ("alpha", "level", "conf_level", "confidence_level", "ci"),
    "replicates": ("n_bootstrap", "n_bootstrap_samples", "n_boot", "bootstrap", "n_resamples"),
    "seed": ("random_state", "rng", "random_seed"),
    "by": ("group", "groups", "groupby", "group_by", "segment", "segments"),
    "cluster": ("unit", "user", "randomization_unit"),
    "control": ("covariate", "covariates", "cuped"),
    "outcomes": ("metrics", "reward", "rewards"),
    "baseline": ("reference", "against", "versus"),
    "executor": ("n_jobs", "workers", "threads"),
    "columns": ("column", "mapping", "schema", "rename"),
}
"""Arguments of verbs -> what other libraries, or the command line, call them."""
_COMPLEMENT = "alpha"
"""The one of them that is 1 minus what it stands for."""


def parameter_docs(verb: Callable[..., Any]) -> dict[str, str]:
    """Return what the docstring of a verb says of each argument, by its name."""
    found = _PARAMETERS.search(f"{inspect.getdoc(verb)}\n")
    return {name: " ".join(said.split()) for name, said in _PARAMETER.findall(found[1] if found else "")}


def first_sentence(said: str) -> str:
    """Return what stands before the first full stop and space: what the help of an option has."""
    return re.split(r"(?<=\.) ", said, maxsplit=1)[0]


class Unwritten(str):
    """What stands in a call for an object that no text can give again, such as a fitted model: it has no quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def plain_argument(value: Any) -> Any:
    """Return a value as numbers, texts, lists and dicts; objects as their spelling."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Real):  # of another library, such as NumPy
        return int(value) if isinstance(value, Integral) else float(value)
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Mapping):
        return {name: plain_argument(one) for name, one in value.items()}
    return [plain_argument(one) for one in value] if isinstance(value, list | tuple) else repr(value)


def told(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verb whose error of a keyword that it does not have names the one that is meant."""

    @wraps(verb)
    def call(*given: Any, **named: Any) -> Any:
        try:
            return verb(*given, **named)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is None:  # the verb was not entered
                _refuse_unknown(verb, named)
            raise

    return call


def _refuse_unknown(verb: Callable[..., Any], named: Mapping[str, Any]) -> None:
    known = inspect.signature(verb).parameters
    unknown = next((name for name in named if name not in known), None)
    if unknown is None or any(one.kind == one.VAR_KEYWORD for one in known.values()):
        return
    meant = next((name for name in called(unknown, _ARGUMENTS) if name in known), None) or nearest(unknown, known)
    shown = f"{meant} = 1 - {unknown}" if unknown == _COMPLEMENT else repr(meant)
    hint = f"it has {', '.join(known)}" if meant is None else f"did you mean {shown}?"
    raise ArgumentError(f"{verb.__name__}() has no argument {unknown!r}; {hint}") from None


def interval_level(given: Any) -> float:
    """Return the level of an interval, as given.

    Raises:
        UsageError: it is none.
    """
    if isinstance(given, Real) and 0 < float(given) < 1:
        return float(given)
    raise UsageError(f"confidence is {given!r}", "give a level between 0 and 1, such as 0.95")


def seed_number(given: Any) -> int:
    """Return the seed of a random generator, which is a number from 0: of a negative one, the number of its 64 bits.

    Raises:
        UsageError: it is none.
    """
    if isinstance(given, Integral):
        number = int(given)
        return number if number >= 0 else number % 2**64
    raise UsageError(f"seed is {given!r}", "give a whole number")


def worth_of(given: Any) -> float:
    """Return what one unit of the log is worth, as given.

    Raises:
        UsageError: it is no number above 0, so that nothing could be told in it, or better would read as worse.
    """
    if isinstance(given, Real) and 0 < float(given) < math.inf:
        return float(given)
    raise UsageError(f"worth is {given!r}", "give a number above 0, such as 1.5")
