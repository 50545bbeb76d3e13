"""The arguments of verbs stand in their signatures and docstrings: options, states and calls are made from them."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli.verb_options import options_of
from offrank.evaluation.question import Question
from offrank.language.argument import first_sentence, parameter_docs
from offrank.language.from_text import USUAL_ESTIMATORS
from offrank.running.reproducibility import call
from tests.verbs.logs import LOGGING, TARGET, search

VERBS = (
    offrank.estimate,
    offrank.evaluate,
    offrank.compare,
    offrank.check,
    offrank.select_estimators,
    offrank.measure,
)
OF_THE_RUN = {"log", "columns", "format", "executor", "progress", "overwrite"}
"""Arguments that are no part of what is asked."""


class Caught(Exception):
    """What a verb made of its arguments."""


def asked(verb: Any, *given: Any, **more: Any) -> Question:
    """What a verb makes of its arguments, before the log is opened."""

    def caught(question: Question) -> Any:
        raise Caught(question)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys.modules[verb.__module__], "answer", SimpleNamespace(answered=caught))
        with pytest.raises(Caught) as found:
            verb("log.parquet", *given, **more)
    question: Question = found.value.args[0]
    return question


def sharpen(log: Any, target: Any, *, examination: Any = None, depth: int = 10) -> int:
    """Ask for more.

    Parameters:
        log: The log.
        target: A new policy.
        examination: See `evaluate`.
        depth: The last rank that counts. With this text on a line
            of its own.

    Raises:
        UsageError: no.
    """
    return depth


def test_a_parameter_is_described_where_it_stands() -> None:
    said = parameter_docs(sharpen)
    assert list(said) == list(inspect.signature(sharpen).parameters)
    assert said["depth"] == "The last rank that counts. With this text on a line of its own."
    assert first_sentence(said["depth"]) == "The last rank that counts."
    assert first_sentence("clip(ips, 10) ... One or several.") == "clip(ips, 10) ..."


def test_a_parameter_alone_is_an_option_with_its_help() -> None:
    @click.command()
    @options_of(sharpen)
    def command(**options: object) -> None:
        click.echo(f"{options['depth'] + 1}")  # type: ignore[operator]

    given = ["--target", TARGET, "--depth"]
    assert CliRunner().invoke(command, [*given, "4"]).output == "5\n"
    assert CliRunner().invoke(command, [*given, "deep"]).exit_code == 2
    assert "The last rank that counts.  [default: 10]" in CliRunner().invoke(command, ["--help"]).output


def test_a_parameter_is_a_word_of_the_call_unless_it_is_as_usual() -> None:
    assert call(sharpen, [], {"target": "uniform", "depth": 5}) == "tests.sharpen(log, target='uniform', depth=5)"
    assert call(sharpen, [], {"target": "uniform", "depth": 10}) == "tests.sharpen(log, target='uniform')"


def test_a_wrong_keyword_is_an_error_that_names_the_verb() -> None:
    with pytest.raises(TypeError, match=r"evaluate\(\) has no argument 'deep'"):
        offrank.evaluate(search(), TARGET, deep=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"evaluate\(\) missing 1 required positional argument: 'target'"):
        offrank.evaluate(search())  # type: ignore[call-arg]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_every_argument_of_a_verb_is_used_in_its_body(verb: Any) -> None:
    """A reader follows each of them from the signature; no linter tells of those that are not used."""
    function = ast.parse(inspect.getsource(verb)).body[0]
    assert isinstance(function, ast.FunctionDef)
    used = {node.id for part in function.body for node in ast.walk(part) if isinstance(node, ast.Name)}
    assert set(inspect.signature(verb).parameters) <= used


@pytest.mark.parametrize("verb", [offrank.evaluate, offrank.compare], ids=lambda verb: verb.__name__)
def test_what_is_asked_has_every_argument(verb: Any) -> None:
    """One that is missing would be lost in "to repeat this"; a state must tell questions apart by it."""
    question = asked(verb, TARGET, LOGGING, outcomes="paid", guardrails="paid > -1%")
    of_the_call = {"held_out", "state", "bounds", "reward_range", "click_model"}
    assert {*question.to_dict()} == {*inspect.signature(verb).parameters} - OF_THE_RUN - of_the_call


def test_one_argument_has_one_default_one_place_and_one_meaning() -> None:
    """Where two verbs mean another thing, the words of both stand here."""
    words: dict[str, set[str]] = {}
    for verb in VERBS:
        for name, said in parameter_docs(verb).items():
            words.setdefault(name, set()).add(said)
    several = {name: len(said) for name, said in words.items() if len(said) > 1}
    assert several == {"target": 4, "logging": 2, "estimators": 3}
    order = list(parameter_docs(offrank.compare))
    for verb in (offrank.estimate, offrank.evaluate, offrank.check):
        names = list(inspect.signature(verb).parameters)
        assert names == [name for name in order if name in names]
    whole = inspect.signature(offrank.evaluate).parameters
    assert whole["estimators"].default == USUAL_ESTIMATORS
    for name, one in inspect.signature(offrank.estimate).parameters.items():
        assert one == whole[name]
    for name, one in inspect.signature(offrank.compare).parameters.items():
        assert name in ("target", "estimators", "baseline") or one == whole[name]


@pytest.mark.parametrize(
    "question",
    [
        asked(offrank.evaluate, TARGET, LOGGING),
        asked(
            offrank.evaluate,
            {"new": TARGET, "even": "uniform"},
            LOGGING,
            ["ips", "pbm"],
            examination=[1, 0.5, 0.25],
        ),
        asked(
            offrank.evaluate,
            TARGET,
            LOGGING,
            "snips",
            interval="bootstrap",
            seed=3,
            totals={"all": 5000},
            by="device",
        ),
        asked(offrank.compare, [TARGET, "uniform"], LOGGING, cluster="none", baseline="uniform"),
        asked(offrank.compare, TARGET, LOGGING),
    ],
    ids=lambda question: question.command(offrank.evaluate),
)
def test_what_was_asked_can_be_made_again_from_plain_values(question: Question) -> None:
    again = Question.from_dict(question.to_dict())
    assert again.to_dict() == question.to_dict()
    assert again.spec == question.spec
    assert again.plan.targets == question.plan.targets


def test_numbers_of_numpy_are_numbers_in_states_and_calls(tmp_path: Path) -> None:
    numbers = {"seed": np.int64(3), "replicates": np.int32(50), "confidence": np.float32(0.5), "interval": "bootstrap"}
    question = asked(offrank.evaluate, TARGET, LOGGING, **numbers)
    kept = question.to_dict()
    assert [(kept[name], type(kept[name])) for name in numbers][:3] == [(3, int), (50, int), (0.5, float)]
    command = question.command(offrank.evaluate)
    assert command.endswith("confidence=0.5, interval='bootstrap', replicates=50, seed=3)")
    offrank.evaluate(search(), TARGET, LOGGING, "snips", seed=np.int64(3), state=tmp_path / "numpy.state")
    assert offrank.merge(tmp_path / "numpy.state")["snips"].n == 4_000


def test_a_call_repeats_what_was_asked(tmp_path: Path) -> None:
    log = tmp_path / "log.parquet"
    pq.write_table(search(), log)
    found = offrank.evaluate(log, TARGET, LOGGING, "snips").facts["command"]
    assert found == f"offrank.evaluate('{log}', target='{TARGET}', logging='{LOGGING}', estimators=['snips'])"
    targets = {"new": TARGET, "even": "uniform"}
    compared = offrank.compare(log, targets, LOGGING, confidence=0.9, baseline="even", by="device")
    assert compared.facts["command"] == (
        f"offrank.compare('{log}', target={{'new': '{TARGET}', 'even': 'uniform'}}, logging='{LOGGING}', "
        "estimators=['ips', 'snips'], confidence=0.9, by='device', baseline='even')"
    )
    again = eval(compared.facts["command"], {"offrank": offrank})
    assert again.records() == compared.records()
    assert offrank.check(log, logging=LOGGING, confidence=0.9).facts["command"] == (
        f"offrank.check('{log}', target=None, logging='{LOGGING}', confidence=0.9)"
    )
