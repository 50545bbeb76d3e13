"""What is refused, and whether the words say how to mend it."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

import offrank
from offrank import Counted, EpsilonUniform, OffrankError, PlackettLuce, Top, Uniform, errors
from offrank.cli import main
from tests.verbs.logs import CURVE, LOGGING, TARGET, coins, replaced, search

NAN = [1.0, float("nan"), 1.0, 1.0]


def scored(**columns: list[float]) -> Any:
    return replaced(search(), **{name: [values] * 4_000 for name, values in columns.items()})


REFUSED: dict[str, tuple[dict[str, Any], type[OffrankError], str]] = {
    "no target": ({"target": {}}, errors.UsageError, "no target.*dict of policies"),
    "a number": ({"target": 3}, errors.UsageError, "3 is not a policy.*top.*object of offrank.policies.Policy"),
    "a class": ({"target": Top}, errors.UsageError, "not a policy"),
    "an unknown policy": ({"target": "topp(new_score)"}, errors.SpellingError, "did you mean top"),
    "an unclosed bracket": ({"target": "top(new_score"}, errors.SpellingError, "cannot read policy"),
    "a number for a column": ({"target": "top(3)"}, errors.UsageError, "3 is not a column"),
    "a column for a policy": ({"target": "epsilon(new_score, 0.1)"}, errors.UsageError, r"top\(new_score\)"),
    "deep inside": ({"target": "epsilon(epsilon(a, 0.1), 0.1)"}, errors.UsageError, "'a' is not a pol"),
    "a near column": ({"target": "top(new_scor)"}, errors.ColumnError, "nearest name is 'new_score'"),
    "logging": ({"logging": "old_score"}, errors.SpellingError, "unknown policy 'old_score'"),
    "logging column": ({"logging": "plackett_luce(old)"}, errors.ColumnError, "no column 'old'.*old_score"),
    "no estimator": ({"estimators": []}, errors.UsageError, "no estimator"),
    "an estimator of numbers": ({"estimators": [3]}, errors.UsageError, "3 is not an estimator"),
    "a policy as estimator": ({"estimators": [TARGET]}, errors.UsageError, "not an estimator"),
    "a near estimator": ({"estimators": "snip"}, errors.SpellingError, "did you mean snips"),
    "no self-normalised pbm": ({"estimators": "snpbm"}, errors.SpellingError, "unknown estimator"),
    "no curve": ({"estimators": "pbm"}, errors.UsageError, "needs an examination curve"),
    "a short curve": (
        {"estimators": "pbm", "examination": [1.0]},
        errors.UsageError,
        "1 ranks, but the log's slates have 3",
    ),
    "a zero curve": ({"estimators": "pbm", "examination": [1, 0, 1]}, errors.UsageError, "positive number per rank"),
    "a curve of words": ({"estimators": "pbm", "examination": "1,.5"}, errors.UsageError, "examination is '1,.5'"),
    "per cent": ({"confidence": 95}, errors.UsageError, "between 0 and 1"),
    "not a level": ({"confidence": float("nan")}, errors.UsageError, "between 0 and 1"),
    "a word for a level": ({"confidence": "high"}, errors.UsageError, "'high'.*between 0 and 1"),
    "an unknown interval": (
        {"interval": "boot"},
        errors.UsageError,
        "anytime, bernstein, bootstrap, normal, studentised",
    ),
    "two replicates": ({"replicates": 2}, errors.UsageError, "at least 20"),
    "clusters for bernstein": ({"interval": "bernstein", "cluster": "query"}, errors.UsageError, "independent"),
    "a near group": ({"by": "devise"}, errors.ColumnError, "nearest name is 'device'"),
    "a near cluster": ({"cluster": "qery"}, errors.ColumnError, "nearest name is 'query'"),
    "groups of lists": ({"by": "slate"}, errors.ColumnError, "'slate' holds"),
    "counted slates": ({"logging": Counted()}, errors.AbilityError, "cannot give the probability of a slate.*ipm"),
    "logged prefixes": ({"logging": "logged", "estimators": "rips"}, errors.AbilityError, "plackett_luce"),
    "no log": ({"log": 3}, errors.UsageError, "cannot read a log from int"),
    "an empty log": ({"log": []}, errors.EmptyLogError, "no rows"),
    "NaN": ({"log": scored(new_score=NAN)}, errors.RowError, "row 0.*'new_score'.*nan"),
    "a negative weight": ({"log": scored(old_score=[1, -1, 1, 1])}, errors.RowError, "log=True"),
    "an impossible slate": (
        {"log": scored(old_score=[1, 1, 1, 0])},
        errors.ImpossibleSlateError,
        "row [0-9].*temperature",
    ),
    "nothing earned": ({"log": replaced(search(), clicks=None)}, errors.ColumnError, "no column 'clicks'"),
    "2,001 groups": (
        {"log": coins(2_001, own=np.arange(2_001)), "logging": "logged", "target": Uniform(), "by": "own"},
        errors.UsageError,
        "more than .* values.*coarser",
    ),
}


def test_parts_of_policies_are_refused_at_once() -> None:
    with pytest.raises(errors.UsageError, match="uniform is not a column"):
        Top(Uniform())  # type: ignore[arg-type]
    with pytest.raises(errors.UsageError, match="'a' is not a policy"):
        EpsilonUniform("a", 0.1)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", REFUSED)
def test_one_clear_error(name: str) -> None:
    changed, kind, words = REFUSED[name]
    arguments = {"log": search(), "target": TARGET, "logging": LOGGING, **changed}
    with pytest.raises(kind, match=f"(?s){words}") as caught:
        offrank.evaluate(**arguments)
    assert caught.value.remedy


def test_a_policy_that_must_count_may_be_a_target_too() -> None:
    result = offrank.evaluate(search(), {"as it was": Counted()}, LOGGING, "ipm")
    assert result["ipm"].value == pytest.approx(result.facts["logged"]["value"], rel=0.1)


def test_a_policy_of_ones_own_needs_no_registration() -> None:
    class Sorted(PlackettLuce):
        pass

    result = offrank.evaluate(search(), Sorted("new_score"), LOGGING, "ipm", examination=CURVE)
    assert result["ipm"].n == 4_000


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"logging": "plackett_luce(old)"}, errors.ColumnError, "old_score"),
        ({"target": "top(old)"}, errors.ColumnError, "old_score"),
        ({"target": "top(3)"}, errors.UsageError, "3 is not a column"),
        ({"confidence": 0}, errors.UsageError, "between 0 and 1"),
        (
            {"log": replaced(search(), propensity=None), "logging": "logged"},
            errors.ColumnError,
            "name the logging policy",
        ),
        ({"log": []}, errors.EmptyLogError, "no rows"),
        ({"log": scored(old_score=[1, 1, 1, 0])}, errors.ImpossibleSlateError, "cannot be the logging policy"),
    ],
)
def test_check_refuses_in_the_same_words(arguments: dict[str, Any], kind: type[OffrankError], words: str) -> None:
    with pytest.raises(kind, match=f"(?s){words}"):
        offrank.check(**{"log": search(), "logging": LOGGING, **arguments})


VERBS: dict[str, Callable[..., Any]] = {
    name: getattr(offrank, name)
    for name in ("check", "compare", "evaluate", "inspect", "learn", "measure", "simulate", "demo", "convert")
} | {f"{name} clicks": getattr(offrank, f"{name}_clicks") for name in ("evaluate", "fit", "harvest", "select")}


def keywords(verb: Callable[..., Any]) -> set[str]:
    """All that a verb can be given by name."""
    named = {name for name, one in inspect.signature(verb).parameters.items() if one.kind is not one.VAR_KEYWORD}
    shared = get_type_hints(verb)["options"] if "options" in verb.__annotations__ else None
    return named if shared is None else named | set(get_type_hints(get_args(shared)[0]))


def test_the_same_argument_stands_at_the_same_place_in_every_verb() -> None:
    orders = [list(inspect.signature(verb).parameters) for verb in VERBS.values()]
    assert all(order[0] in ("log", "path", "folder") for order in orders)
    positional = [
        [name for name, one in inspect.signature(verb).parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
        for verb in VERBS.values()
    ]
    before = {pair for order in positional for pair in itertools.combinations(order, 2)}
    assert not {(one, other) for one, other in before if (other, one) in before}
    assert all(order.index("logging") >= 2 for order in positional if "logging" in order)


COMMAND_ONLY = {
    *("format", "gaps", "top_k", "duplicates", "skip_invalid", "skip_broken_files", "columns", "where", "ood"),
    *("title", "unit", "worth", "html", "json", "strict", "require", "margin", "workers", "quiet"),
    *("checkpoint", "fresh", "save", "config", "overwrite", "ask"),
    *("qrels", "missing"),  # of `measure` of two runs, which is another function
}
"""How a log is read, and what is printed and written: all other options are arguments, and none is passed over."""
CLICKS, SELECT = (dict[str, Any](main.commands[group].commands) for group in ("clicks", "select"))
COMMANDS = dict[str, Any](main.commands) | {f"{name}_clicks": one for name, one in CLICKS.items()}
COMMANDS |= {f"select_{name}": one for name, one in SELECT.items()}
NO_VERB = {"clicks", "select", "doctor", "estimators", "policies"}
"""Commands that hold others, look at the installation, or list names."""


def test_every_command_but_these_is_a_verb() -> None:
    assert {name for name in COMMANDS if not inspect.isfunction(getattr(offrank, name, None))} == NO_VERB


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - NO_VERB))
def test_an_option_is_called_as_the_argument_in_python(name: str) -> None:
    given = {str(one.name) for one in COMMANDS[name].params}
    assert given - COMMAND_ONLY <= keywords(getattr(offrank, name))
