"""The arguments of verbs are fields of one class: a field that is added is an argument everywhere."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import inspect
from pathlib import Path
from types import ModuleType

import click
import numpy as np
import pytest
from click.testing import CliRunner

import offrank
from benchmarks._page import table_of
from offrank.cli.options import options_of
from offrank.evaluation.question import LogCheck, NumbersAsked, Question, TargetComparison, WithBounds
from offrank.evaluation.selection_question import EstimatorSelection
from offrank.language.argument import argument, arguments, asks, rows_of
from offrank.metrics.question import MetricsQuestion
from tests.verbs.logs import LOGGING, TARGET, search

KINDS = {
    offrank.estimate: NumbersAsked,
    offrank.evaluate: WithBounds,
    offrank.compare: TargetComparison,
    offrank.check: LogCheck,
    offrank.select_estimators: EstimatorSelection,
    offrank.measure: MetricsQuestion,
}


@arguments
class Sharper(Question):
    """A question with one more argument."""

    depth: int = argument("The last rank that counts.", default=10)


def test_a_field_alone_is_an_argument_with_its_default() -> None:
    @asks(Sharper)
    def sharpen(question: Sharper) -> int:
        """Ask for more.

        Raises:
            UsageError: no.
        """
        return question.depth

    assert sharpen(search(), TARGET, LOGGING) == 10
    assert sharpen(search(), TARGET, LOGGING, depth=3) == 3
    assert inspect.signature(sharpen).parameters["depth"].default == 10
    told = str(sharpen.__doc__)
    assert told.index("Ask for more.") < told.index("    depth: The last rank that counts.") < told.index("Raises:")
    with pytest.raises(TypeError, match=r"sharpen\(\) got an unexpected keyword argument 'deep'"):
        sharpen(search(), TARGET, deep=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"sharpen\(\) missing a required argument: 'target'"):
        sharpen(search())  # type: ignore[call-arg]


def test_a_field_alone_is_an_option_with_its_help() -> None:
    @click.command()
    @options_of(Sharper)
    def sharpen(**options: object) -> None:
        click.echo(f"{options['depth'] + 1}")  # type: ignore[operator]

    given = ["--target", TARGET, "--depth"]
    assert CliRunner().invoke(sharpen, [*given, "4"]).output == "5\n"
    assert CliRunner().invoke(sharpen, [*given, "deep"]).exit_code == 2
    assert "The last rank that counts.  [default: 10]" in CliRunner().invoke(sharpen, ["--help"]).output


def test_a_field_alone_is_a_row_of_the_docs_an_entry_of_the_state_and_a_word_of_the_call() -> None:
    asked = Sharper("log.parquet", TARGET, LOGGING, depth=5)
    assert ("depth", "The last rank that counts.", "--depth") in list(rows_of(Sharper))
    assert asked.to_dict() == {**Question("log.parquet", TARGET, LOGGING).to_dict(), "depth": 5}
    assert asked.command("evaluate").endswith(", depth=5)")
    assert "depth" not in Sharper("log.parquet", TARGET, LOGGING).command("evaluate")


@pytest.mark.parametrize(
    "asked",
    [
        Question(None, TARGET, LOGGING),
        Question(None, {"new": TARGET, "even": "uniform"}, LOGGING, ["ips", "pbm"], examination=[1, 0.5, 0.25]),
        Question(None, TARGET, LOGGING, "snips", interval="bootstrap", seed=3, totals={"all": 5000}, by="device"),
        TargetComparison(None, [TARGET, "uniform"], LOGGING, cluster="none", baseline="uniform"),
        TargetComparison(None, TARGET, LOGGING),
    ],
    ids=repr,
)
def test_what_was_asked_can_be_made_again_from_plain_values(asked: Question) -> None:
    again = Question.from_dict(asked.to_dict())
    assert type(again) is type(asked)
    assert again.to_dict() == asked.to_dict()
    assert again.spec == asked.spec


def test_numbers_of_numpy_are_numbers_in_states_and_calls(tmp_path: Path) -> None:
    numbers = {"seed": np.int64(3), "replicates": np.int32(50), "confidence": np.float32(0.5), "interval": "bootstrap"}
    asked = Question("log.parquet", TARGET, LOGGING, **numbers)  # type: ignore[arg-type]
    kept = asked.to_dict()
    assert [(kept[name], type(kept[name])) for name in numbers][:3] == [(3, int), (50, int), (0.5, float)]
    assert asked.command("evaluate").endswith("confidence=0.5, interval='bootstrap', replicates=50, seed=3)")
    offrank.evaluate(search(), TARGET, LOGGING, "snips", seed=np.int64(3), state=tmp_path / "numpy.state")
    assert offrank.merge(tmp_path / "numpy.state")["snips"].n == 4_000


def test_a_call_repeats_what_was_asked() -> None:
    log = "log.parquet"
    assert Question(log, TARGET, LOGGING, "snips").command("evaluate") == (
        f"offrank.evaluate('{log}', target='{TARGET}', logging='{LOGGING}', estimators=['snips'])"
    )
    asked = TargetComparison(Path(log), {"new": TARGET, "even": "uniform"}, LOGGING, confidence=0.9, baseline="even")
    assert asked.command("compare") == (
        f"offrank.compare('{log}', target={{'new': '{TARGET}', 'even': 'uniform'}}, logging='{LOGGING}', "
        "estimators=['ips', 'snips'], confidence=0.9, baseline='even')"
    )
    again = eval(asked.command("TargetComparison"), {"offrank": offrank.evaluation.question})
    assert again.to_dict() == asked.to_dict()


def test_verbs_have_the_signature_of_their_questions() -> None:
    for verb, kind in KINDS.items():
        rows = [name for name, _, _ in rows_of(kind)]
        assert list(inspect.signature(verb).parameters) == rows
        assert all(f"\n    {name}: " in str(verb.__doc__) for name in rows)


def script() -> ModuleType:
    path = Path(__file__).parents[2] / "scripts/argument-tables"
    loader = importlib.machinery.SourceFileLoader("argument_tables", str(path))
    spec = importlib.util.spec_from_file_location("argument_tables", path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_reference_has_the_tables_of_today() -> None:
    tables = script()
    page = "".join(
        path.read_text(encoding="utf-8") for path in (tables.PAGE.parents[1] / "tables").glob("arguments-*.md")
    )
    assert set(tables.VERBS.values()) == set(KINDS.values())
    for verb, kind in tables.VERBS.items():
        page = table_of(tables.PAGE, f"arguments of {verb}").read_text(encoding="utf-8")
        assert "\n".join(tables.table(kind)) in page, f"run scripts/argument-tables: {verb}"
