"""What each verb of the command line is asked about a log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import click
import numpy as np

import offrank
from offrank.cli import main
from offrank.clicks import click_model
from offrank.learning.methods import METHODS
from offrank.metrics.comparisons import METRICS
from offrank.testing.metamorphic import Question, Relation, differences, flat_answer
from tests.metamorphic.logs import log
from tests.metamorphic.spellings import folder, given

#: verbs that are not asked about a user's log -> why not
OWN_LOG = {
    "clicks judge": "reads a model, no log: tests/clicks/test_judgements.py",
    "clicks predict": "writes a table: tests/clicks/test_judgements.py",
    "convert": "writes the log itself: tests/readers/test_convert.py",
    "demo": "simulates its log",
    "doctor": "has a log of its own: tests/cli/test_doctor.py",
    "estimators": "reads no log: tests/cli/test_names.py",
    "merge": "reads states, no log: tests/verbs/test_merge.py",
    "policies": "reads no log: tests/cli/test_names.py",
    "simulate": "writes a log",
}
#: click model -> how it is spelled; None where learning draws, or takes sessions one after another
CLICK_MODEL_SPELLINGS: Mapping[str, str | None] = {
    **{name: name for name in ("cascade", "ccm", "dbn", "dcm", "dctr", "gctr", "pbm", "rctr", "rdctr", "sdbn")},
    **{name: name for name in ("trust", "ubm")},
    "mixture": "mixture(rctr, pbm)",
    "cacm": None,
    "ncm": None,
}
#: models whose common parameters are corrected by worlds that are drawn in the order of the documents' keys
DRAWS_BY_KEY = {"ccm", "dbn", "dcm"}
#: method -> passes or rounds: few, for what may not change does not depend on them
EPOCHS: Mapping[str, int] = dict.fromkeys(
    ("random", "regression", "ips", "dro", "poem", "snpoem", "dr-poem", "plackett-luce", "pl-rank"), 1
) | {"pi-opt": 4, "sup": 4, "lambdamart": 4}
#: method -> further arguments
LEARNING: Mapping[str, Mapping[str, Any]] = {
    "pi-opt": {"logging": "plackett_luce(old)"},
    "sup": {"labels": "grades"},
    "lambdamart": {"labels": "grades"},
}
MODELS = ("new", "tied")
"""Score columns that metrics compare."""


def verbs(group: click.Group = main, above: str = "") -> Iterator[str]:
    """Every verb of the command line, `clicks fit` and the like included."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from verbs(command, f"{above}{name} ")
        else:
            yield f"{above}{name}"


def inspected(readable: Any) -> dict[str, Any]:
    """What is found in a log, but for its columns and their types, and for items that are named in words."""
    found = offrank.inspect(readable).to_dict()
    found["drawn"] = [{name: value for name, value in row.items() if name != "against"} for row in found["drawn"]]
    random = found["logging"]["randomness"]  # which rows are neighbours depends on the hashes of their ids
    found["logging"]["randomness"] = {name: random[name] for name in ("state", "by", "beside")}
    return {name: value for name, value in found.items() if name not in ("columns", "source")}


def metrics(shape: str, logging: str) -> Question:
    """All metrics that a logging policy can answer, of two models."""
    able = [name for name in METRICS if "refused" not in flat_answer(_metrics(logging, [name]), log(shape).table)]
    return _metrics(logging, able or list(METRICS))


def _metrics(logging: str, names: list[str]) -> Question:
    return lambda given: offrank.measure(given, MODELS, logging, names)


def learnt(method: str) -> Question:
    """What a method learns: the settings that it tried, and how the learnt policy does on the test third."""
    path = folder() / "learnt.npz"

    def ask(readable: Any) -> dict[str, Any]:
        found = offrank.learn(readable, method, path, epochs=EPOCHS[method], bits=5, **LEARNING.get(method, {}))
        assert found.tested is not None
        tried = [
            {"settings": dict(one.candidate.settings), "ips": one.ips, "snips": one.snips, "pi": one.pi}
            for one in found.tried
        ]
        return {"tried": tried, "features": found.features, "ignored": found.ignored, "tested": found.tested.to_dict()}

    return ask


def judged(model: str) -> Question:
    """A click model learnt from the log, and what it is worth there; the queries and grades are read too."""
    return lambda readable: offrank.evaluate_clicks(readable, [click_model(model).fit(readable)], labels="grades")


def selected(readable: Any) -> Any:
    """The choice among click models that are learnt in closed form."""
    models = [click_model(name).fit(readable) for name in ("gctr", "rctr", "rdctr")]
    return offrank.select_clicks(readable, models, "grades", "plackett_luce(old)", strategy="top-2 ppl: ndcg")


def written(model: str) -> Question:
    """The file that `clicks fit` writes, but for documents, which stand in the order of their keys."""
    path = folder() / "model.json"

    def ask(readable: Any) -> dict[str, Any]:
        fitted = offrank.fit_clicks(readable, model, path).fitted
        tables = {name: sorted(table.tolist()) for name, table in fitted.learnt.parameters.items()}
        return {"tables": tables, "examination": fitted.model.examination(fitted.learnt.parameters)}

    return ask


def broken(ask: Question, shape: str, relations: Sequence[Relation], tolerance: float = 1e-9) -> dict[str, str]:
    """The relations, by name, after which a question is answered otherwise, each with one of the differences."""
    before, found = flat_answer(ask, log(shape).table), {}
    for relation in relations:
        for where, (one, two) in list(
            differences(before, flat_answer(ask, changed(shape, relation)), tolerance).items()
        )[:1]:
            found[relation.name] = f"{where}: {one!r}, then {two!r}"
    return found


@cache
def changed(shape: str, relation: Relation) -> Any:
    """The log of a shape, as a relation changes it."""
    return relation.change(log(shape), np.random.default_rng(3))


def methods() -> list[str]:
    """Every registered way to learn."""
    return given(METHODS, EPOCHS)
