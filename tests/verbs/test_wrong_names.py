"""A keyword that a verb does not have, and an attribute that a result does not have: the error names what is meant."""

from __future__ import annotations

import copy
import inspect
import pickle
from pathlib import Path
from typing import Any

import pytest

import offrank
from offrank.errors import ArgumentError
from offrank.language.argument import told
from offrank.simulation import SearchWorld

LOG = SearchWorld(impressions=2000, queries=20, candidates=4, slots=3, seed=5).table(2000, 0)
DRAWN = "plackett_luce(old_score)"
VERBS = [name for name in offrank.__all__ if inspect.isfunction(getattr(offrank, name))]


@pytest.fixture(scope="module")
def result() -> offrank.Result:
    return offrank.evaluate(LOG, "uniform", DRAWN, "snips")


@pytest.fixture(scope="module")
def compared() -> offrank.Result:
    return offrank.compare(LOG, {"one": "uniform", "two": DRAWN}, DRAWN, ["snips", "ips"])


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_tells_which_argument_is_meant(name: str) -> None:
    verb = getattr(offrank, name)
    own = max(inspect.signature(verb).parameters, key=len)
    with pytest.raises(ArgumentError) as caught:
        verb(**{f"{own}z": 1})
    assert str(caught.value) == f"{name}() has no argument '{own}z'; did you mean '{own}'?"
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("name", "word", "meant"),
    [
        ("evaluate", "targets", "'target'"),
        ("evaluate", "policy", "'target'"),
        ("evaluate", "estimator", "'estimators'"),
        ("evaluate", "alpha", "confidence = 1 - alpha"),
        ("evaluate", "level", "'confidence'"),
        ("compare", "n_bootstrap", "'replicates'"),
        ("check", "behavior_policy", "'logging'"),
        ("inspect", "df", "'log'"),
        ("learn", "random_state", "'seed'"),
    ],
)
def test_words_of_other_libraries_are_known(name: str, word: str, meant: str) -> None:
    with pytest.raises(TypeError) as caught:
        getattr(offrank, name)(**{word: 1})
    assert str(caught.value) == f"{name}() has no argument {word!r}; did you mean {meant}?"


def test_a_word_like_none_is_answered_with_all_arguments() -> None:
    with pytest.raises(ArgumentError) as caught:
        offrank.merge(xyz=1)  # type: ignore[call-arg]
    assert str(caught.value) == "merge() has no argument 'xyz'; it has states, interval, state, overwrite"


def test_other_errors_of_a_call_stay_as_they_are() -> None:
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'target'") as missing:
        offrank.evaluate(LOG)  # type: ignore[call-arg]
    assert type(missing.value) is TypeError

    def within(one: int = 1) -> int:
        return inspect.signature(one)  # type: ignore[arg-type, return-value]  # raises a TypeError of its own

    def takes_all(**more: int) -> int:
        return takes_all(1, **more)  # type: ignore[call-arg]

    for function, named in ((within, {"one": 2}), (takes_all, {"any": 2})):
        with pytest.raises(TypeError) as caught:
            told(function)(**named)
        assert type(caught.value) is TypeError


def test_a_verb_is_otherwise_the_function_that_stands_in_its_file() -> None:
    own = inspect.unwrap(offrank.evaluate)
    assert own is not offrank.evaluate
    assert inspect.signature(offrank.evaluate) == inspect.signature(own)
    assert offrank.evaluate.__doc__ == own.__doc__
    assert Path(inspect.getsourcefile(own) or "").name == "evaluate.py"
    assert pickle.loads(pickle.dumps(offrank.evaluate)) is offrank.evaluate


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("value", "result['snips'].value or result.verdict.value"),
        ("estimate", "result.estimates or result['snips'].value"),
        ("ci", "result['snips'].low and .high"),
        ("lift", "result.verdict.relative"),
        ("decision", "result.verdict.decision"),
        ("to_html", "result.save_html"),
        ("verdit", "result.verdict"),
    ],
)
def test_a_result_tells_which_attribute_is_meant(result: offrank.Result, name: str, meant: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(result, name)
    assert str(caught.value) == f"Result has no attribute {name!r}; did you mean {meant}?"
    assert caught.value.name == name


def test_parts_of_a_result_tell_it_too(result: offrank.Result, compared: offrank.Result) -> None:
    numbers = offrank.estimate(LOG, {"one": "uniform", "two": DRAWN}, DRAWN, ["snips", "ips"])
    every: list[tuple[Any, str, str]] = [
        (result["snips"], "mean", "Estimate has no attribute 'mean'; did you mean estimate.value?"),
        (result["snips"], "vlaue", "Estimate has no attribute 'vlaue'; did you mean estimate.value?"),
        (result.verdict.value, "lower", "Interval has no attribute 'lower'; did you mean interval.low?"),
        (result.verdict, "low", "verdict.value.low or verdict.difference.low?"),
        (compared.comparisons[0], "low", "difference.verdict.value.low or difference.verdict.difference.low?"),
        (compared, "value", "did you mean result.comparisons[0].verdict.value or result['one', 'snips'].value?"),
        (numbers, "value", "Numbers has no attribute 'value'; did you mean numbers['one', 'snips'].value?"),
        (offrank.inspect(LOG), "xyz", "Inspection has no attribute 'xyz'"),
    ]
    for part, name, said in every:
        with pytest.raises(AttributeError) as caught:
            getattr(part, name)
        assert str(caught.value).endswith(said)


def test_the_error_within_a_property_is_kept(result: offrank.Result) -> None:
    with pytest.raises(AttributeError, match=r"Verdict\.word has been removed"):
        _ = result.verdict.word
    with pytest.raises(AttributeError, match="'Result' object has no attribute '_own'"):
        _ = result._own  # type: ignore[attr-defined]


def test_results_are_copied_and_pickled_as_before(result: offrank.Result) -> None:
    assert copy.deepcopy(result).verdict == result.verdict == pickle.loads(pickle.dumps(result)).verdict
    assert not hasattr(result, "to_latex")
