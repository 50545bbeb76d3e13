"""Options that are read from the signature and the docstring of a verb: those of `evaluate`, `clicks fit` and others.

A parameter of such a verb is an option by itself. What its text stands for, where that is no plain text or number, and
where it stands in the help is said here, by its name, or beside the command if it is another in other verbs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import click

import offrank

from ..errors import UsageError
from ..language import from_text
from ..language.argument import first_sentence, interval_level, parameter_docs
from ..language.extensions import FUNCTIONS, load_extension
from ..language.spelling import split_all
from .layout import VerbCommand, option
from .options import (
    FILE,
    Decorator,
    checkpoint_options,
    overwrite,
    page_options,
    results_options,
    with_options,
    worth_options,
    writable,
    written_options,
)
from .running import deliver, require, run_verb
from .spelled import ColumnType, SpelledType, names_of

Own = Mapping[str, Mapping[str, Any] | None]
"""Name of a parameter -> settings of its option in one verb alone; None if it is no option."""
ONE_TARGET: Own = {"target": {"multiple": False}}
_GIVEN = {"log", "columns", "format", "executor", "progress", "overwrite", "say"}
"""Parameters of all verbs: what the command line has other options for."""
_USES = {
    "log": ("totals", "held_out"),
    "uncertainty": ("cluster", "confidence", "interval", "replicates", "seed", "control"),
    "output": ("state", "path"),
}
"""Where options stand in the help, if not among those of the question."""
_SPELLS = {
    "target": "policy",
    "logging": "policy",
    "estimators": "estimator",
    "interval": "kind of interval",
    **dict.fromkeys(("cluster", "by", "control", "score"), "column"),
}
_METAVARS = {
    "examination": "P,P,...|MODEL",
    "interval": "KIND",
    "totals": "clicked=N,all=N",
    "held_out": "POLICY.NPZ",
    "reward_range": "LEAST,MOST",
    "click_model": "MODEL",
    "baseline": "NAME",
    "score": "SCORE",
    "metrics": "METRIC",
    "labels": "COLUMN",
    "outcomes": "[NAME=]COLUMN",
    "guardrails": "'NAME > -1%'",
}
_FLAGS = {"estimators": ("-e", "--estimator"), "metrics": ("-m", "--metric"), "path": ("-o",), "rankers": ("--ranker",)}
_FLAGS |= {"outcomes": ("--outcome",), "guardrails": ("--guardrail",)}
_SEVERAL: dict[str, Callable[[Any], Any] | None] = {
    "target": from_text.named_policies,
    "estimators": from_text.some_estimators,
    "metrics": split_all,
    "score": None,
    "rankers": None,
    "outcomes": None,
    "guardrails": None,
}
"""Options that may be given several times, and what makes one value of their texts."""
_WRITTEN: dict[str, Any] = {"type": FILE, "callback": writable}
_FURTHER: dict[str, dict[str, Any]] = {
    "state": _WRITTEN,
    "path": _WRITTEN | {"required": True},
    "epochs": {"type": click.IntRange(1)},
    "grades_by": {"type": click.Choice(["error", "median", "majority"])},
}
"""Further settings of options."""
_READ_BY: dict[str, Callable[[Any], Any]] = {
    "examination": from_text.parse_examination,
    "confidence": interval_level,
    "totals": from_text.parse_totals,
    "reward_range": from_text.reward_limits,
}


def options_of(verb: Callable[..., Any], own: Own | None = None) -> Decorator:
    """Return the options of a verb, one for each parameter. own: settings of some, None of those that are none."""
    said, own = parameter_docs(verb), own or {}
    found = (one for name, one in inspect.signature(verb).parameters.items() if name in own or name not in _GIVEN)
    asked = ((one, own.get(one.name, {})) for one in found)
    return with_options(
        *(_option(one, said.get(one.name, ""), settings) for one, settings in asked if settings is not None)
    )


def _option(parameter: inspect.Parameter, said: str, own: Mapping[str, Any]) -> Decorator:
    name, default = parameter.name, parameter.default
    use = next((use for use, names in _USES.items() if name in names), "question")
    settings: dict[str, Any] = {"help": first_sentence(said), "use": use, "metavar": _METAVARS.get(name)}
    if name in _SPELLS:
        kind = _SPELLS[name]
        settings["type"] = ColumnType() if kind == "column" else SpelledType(kind)
        settings["metavar"] = _METAVARS.get(name, kind.upper())
    if default is inspect.Parameter.empty:
        settings["required"] = True
    else:
        settings |= {"default": default, "show_default": default is not None and default is not False}
        settings["is_flag"] = default is False
    read = _READ_BY.get(name)
    if name in _SEVERAL and own.get("multiple", True):
        settings["multiple"], read = True, _SEVERAL[name]
        settings |= {"default": [default]} if isinstance(default, str) else {}
    if read is not None:
        settings["callback"] = lambda _context, _option, given: None if given is None else read(given)
    settings |= {**_FURTHER.get(name, {}), **own}
    return option(*_FLAGS.get(name, (f"--{name.replace('_', '-')}",)), name, **settings)


class QuestionCommand(VerbCommand):
    """A verb, by its name if it is one of offrank, whose options are made when first needed.

    own: see `options_of`. more: options of the command line only; before, after: what it reads, and prints and writes,
    if it is more than text.
    """

    def __init__(
        self,
        *given: Any,
        verb: str | Callable[..., Any],
        own: Own | None = None,
        more: tuple[Decorator, ...] = (),
        before: tuple[Decorator, ...] = (written_options,),
        after: tuple[Decorator, ...] = (results_options, checkpoint_options, page_options),
        **known: Any,
    ):
        self._made: list[click.Parameter] | None = None
        self._verb, self._own, self._more, self._before, self._after = verb, own, more, before, after
        super().__init__(*given, **known)

    @property
    def params(self) -> list[click.Parameter]:
        """The options: the log's location, what is asked, and what is written."""
        if self._made is None:
            asked = options_of(self._verb if callable(self._verb) else getattr(offrank, self._verb), self._own)
            written = [*self._after, overwrite] if self._after else []
            self._made = _made_by(*self._before, asked, *self._more, *written)
        return self._made

    @params.setter
    def params(self, _given: list[click.Parameter]) -> None:
        """Ignore what a decorator gives: there is none."""


def asked_for(context: click.Context) -> list[click.Parameter]:
    """Return the options that were given, and the arguments."""
    source = click.core.ParameterSource.COMMANDLINE
    return [one for one in context.command.params if context.get_parameter_source(str(one.name)) is source]


def _made_by(*options: Decorator) -> list[click.Parameter]:
    """Return the options that these decorators add to a command."""

    def command() -> None: ...

    with_options(*options)(command)
    return command.__click_params__[::-1]  # type: ignore[attr-defined]


@click.command(cls=QuestionCommand, verb="evaluate", more=(worth_options, require))
def evaluate(log: str | list[str], **options: Any) -> None:
    """What would TARGET have earned per impression, had it drawn the slates of LOG?

    offrank evaluate log.parquet --target 'top(new_score)' --logging 'plackett_luce(old_score)' -e snips -e ipm
    """
    run_verb(offrank.evaluate, log, options)


@click.command(cls=QuestionCommand, verb="compare", more=(worth_options, require))
def compare(log: str | list[str], **options: Any) -> None:
    """Which TARGET would have earned more? Paired differences, on the same impressions of LOG.

    offrank compare log.parquet --target 'a=top(a)' --target 'b=top(b)' --logging 'plackett_luce(old_score)'
    """
    targets, baseline = options["target"], options["baseline"] or ""
    names = [*targets] if isinstance(targets, dict) else [targets]
    plain = baseline.isidentifier() and baseline not in {*names, "logged", *names_of("policy")}
    if targets and plain:  # said before anything is imported that compares
        raise UsageError(f"the baseline {baseline!r} is no target", f"use one of {', '.join([*names, 'logged'])}")
    run_verb(offrank.compare, log, options)


@click.command(cls=QuestionCommand, verb="check", own=ONE_TARGET)
def check(log: str | list[str], **options: Any) -> None:
    """Is LOG fit to judge other rankings by? Propensities, weights, support, sub-sampling."""
    run_verb(offrank.check, log, options)


_QRELS = option(
    "--qrels", metavar="FILE", help="Judgements; LOG are then two runs, A and B, and metrics nDCG@10, RR ..."
)
_MISSING = option(
    "--missing",
    type=click.Choice(["refuse", "zero"]),
    help="Queries that one run lacks: refuse them, or count 0 there.  [default: refuse]",
)
_OF_RUNS = {"log", "qrels", "missing", "metrics", "confidence", "seed", "html", "title", "json", "strict", "quiet"}


@click.command(cls=QuestionCommand, verb="measure", own={"score": {"required": False}}, more=(_QRELS, _MISSING))
def measure(log: str | list[str], qrels: str | None, missing: str | None, **options: Any) -> None:
    """Which model's SCORE agrees best with the clicks of LOG, or which of two runs with judgements?

    offrank measure log.parquet --score new_score --score old_score --logging 'plackett_luce(old_score)'

    offrank measure a.run b.run --qrels judgements.csv -m nDCG@10 -m RR
    """
    if qrels is None:
        if missing or not options["score"]:
            raise UsageError("there is no model", "name at least one --score of a log, or the --qrels of two runs")
        run_verb(offrank.measure, log, options)
        return
    given = {one.name: one.opts[0] for one in asked_for(click.get_current_context())}
    if more := [flag for name, flag in given.items() if name not in {*_OF_RUNS, "overwrite"}]:
        raise UsageError(f"{more[0]} is of a log, and --qrels compares two runs", f"omit {more[0]}")
    if not isinstance(log, list) or len(log) != 2:
        raise UsageError("--qrels compares two runs", "write offrank measure A B --qrels FILE")
    known: dict[str, Any] = {name: options[name] for name in given if name in ("metrics", "confidence", "seed")}
    known |= {} if missing is None else {"missing": missing}
    deliver(load_extension(FUNCTIONS, "measure_runs")(log[0], log[1], qrels, **known), options)


@click.command("estimators", cls=QuestionCommand, verb="select_estimators", own=ONE_TARGET)
def select_estimators(log: str | list[str], **options: Any) -> None:
    """Which estimator has the least error for LOG and TARGET?

    offrank select estimators log.parquet --target 'top(new_score)' --logging 'plackett_luce(old_score)'
    """
    run_verb(offrank.select_estimators, log, options)
