"""Every verb of the command line, with every registered policy, metric, method and click model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from itertools import product
from typing import Any

import click

import offrank
from offrank.cli import main
from offrank.clicks import click_model
from offrank.clicks.model import CLICK_MODELS
from offrank.estimators.pseudoinverse.overlap import diagnostics
from offrank.learning.methods import METHODS
from offrank.metrics.comparisons import METRICS
from offrank_lab import plan
from tests.metamorphic.changes import Leaves, flat_answer
from tests.metamorphic.logs import log
from tests.metamorphic.parts import SAMPLED
from tests.metamorphic.relations import (
    BATCHES,
    CANDIDATES,
    FILES,
    NUMBERS,
    ROWS,
    TEXT,
    Excuse,
    Given,
    Part,
    of_readable,
)
from tests.metamorphic.spellings import SOME_POLICIES, folder, given, policies, written_out
from tests.night import some

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
    "sql": "writes a query, reads no log: tests/warehouse/test_sums.py",
}
#: click model -> how it is spelled; None where learning draws, or takes sessions one after another
CLICK_MODEL_SPELLINGS: Mapping[str, str | None] = {
    **{name: name for name in ("cascade", "ccm", "dbn", "dcm", "dctr", "gctr", "pbm", "rctr", "rdctr", "sdbn")},
    **{name: name for name in ("coec", "trust", "ubm")},
    **dict.fromkeys(("cacm", "ncm")),  # of the reproductions, where a test has imported them
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
THIRDS = Excuse("the numbers of rows choose the thirds", (ROWS,))
ADAGRAD = Excuse("Adagrad takes batches, and a row's candidates, one after another", (CANDIDATES, BATCHES, FILES))
BY_KEY = Excuse("worlds and documents are drawn in the order of the documents' keys", (NUMBERS, TEXT))


def verbs(group: click.Group = main, above: str = "") -> Iterator[str]:
    """Every verb of the command line, `clicks fit` and the like included."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from verbs(command, f"{above}{name} ")
        else:
            yield f"{above}{name}"


def inspected(readable: Any, **options: Any) -> dict[str, Any]:
    """What is found in a log, but for its columns and their types, and for items that are named in words."""
    found = offrank.inspect(readable, **options).to_dict()
    found["drawn"] = [{name: value for name, value in row.items() if name != "against"} for row in found["drawn"]]
    random = found["logging"]["randomness"]  # which rows are neighbours depends on the hashes of their ids
    found["logging"]["randomness"] = {name: random[name] for name in ("state", "by", "beside")}
    return {
        name: value for name, value in found.items() if name not in ("columns", "source", "path", "format", "checksums")
    }


def checks() -> Iterator[Part]:
    """Every logging policy, and every target of one of them."""
    for shape, name in some([*product(("partial", "ragged"), policies())], 11):
        yield Part(f"check {name}, {shape}", of_readable(partial(offrank.check, logging=written_out(name))), shape)
    for name in some(policies(), 8):
        yield Part(f"check of {name}", of_readable(partial(offrank.check, target=written_out(name))), "ragged")


def comparisons() -> Iterator[Part]:
    """What compares targets or estimators, and what looks at the log alone."""
    targets = {"a": "plackett_luce(new)", "b": "top(tied)"}
    for shape, logging in product(("partial", "ragged"), ("uniform", "plackett_luce(old)")):
        ask = partial(offrank.compare, target=targets, logging=logging)
        yield Part(f"compare by {logging}, {shape}", of_readable(ask), shape)
    ask = partial(plan, target="top(new)", production="top(old)", designs=["uniform", "epsilon(top(old), 0.1)"])
    yield Part("plan", of_readable(partial(ask, clicks=0.4)))
    select = partial(offrank.select_estimators, target="top(new)", logging="plackett_luce(old)")
    yield Part("select estimators", of_readable(partial(select, estimators=("ips", "ipm", "snipm"))))
    for shape in ("partial", "ragged"):
        yield Part(f"inspect, {shape}", of_readable(inspected), shape)


def metrics() -> Iterator[Part]:
    """Every metric, alone and beside the others, by some logging policies."""
    for (place, logging), shape in product(some([*enumerate(policies())], 8), ("partial", "full")):
        names = [*METRICS][place % 3 :: 3]
        ask = partial(beside, logging, shape, names)
        alone = partial(map, partial(_measured, logging, shape), names)
        yield Part(f"measure {', '.join(names)} by {logging}, {shape}", ask, shape, alone=alone)


@cache
def _measured(logging: str, shape: str, metric: str) -> Leaves:
    """One metric of the log as it is; empty if it is refused."""
    ask = partial(offrank.measure, score=MODELS[:1], logging=written_out(logging), metrics=[metric])
    found = flat_answer(ask, log(shape).table)
    return {} if "refused" in found else found


def beside(logging: str, shape: str, names: list[str], of: Given, **options: Any) -> Any:
    """Metrics that are not refused, all at once and of several models."""
    able = [name for name in names if _measured(logging, shape, name)]
    return offrank.measure(of.readable, MODELS, written_out(logging), able, **options) if able else {}


def overlaps() -> Iterator[Part]:
    """What the pseudoinverse says of pairs of policies."""
    pairs = [(target, logging) for logging in policies() for target in SOME_POLICIES[:2]]
    pairs += [(target, "plackett_luce(old)") for target in policies()]
    for target, logging in some(pairs, 8):
        ask = partial(diagnostics, target=written_out(target), logging=written_out(logging))
        yield Part(f"overlap of {target} by {logging}", of_readable(ask))
    for target in SOME_POLICIES[1:]:
        ask = partial(diagnostics, target=written_out(target), logging="plackett_luce(old)", samples=15)
        yield Part(f"sampled overlap of {target}", of_readable(ask), excuses=(SAMPLED,))


def methods() -> Iterator[Part]:
    """Every way to learn."""
    for name in some(given(METHODS, EPOCHS), 3):
        shape = "single" if getattr(METHODS[name], "one_slot", False) else "partial"
        excuses = (THIRDS, ADAGRAD) if shape == "single" or name == "regression" else (THIRDS,)
        yield Part(f"learn {name}", of_readable(partial(learnt, name)), shape, excuses, tolerance=1e-6)


def click_models() -> Iterator[Part]:
    """Every click model, learnt from the log: its file, and what it is worth there."""
    names = [name for name in given(CLICK_MODELS, CLICK_MODEL_SPELLINGS) if CLICK_MODEL_SPELLINGS[name]]
    for question, name in some([*product((judged, written), names)], 2):
        excuses = (BY_KEY,) if name in DRAWS_BY_KEY else ()
        ask = partial(question, CLICK_MODEL_SPELLINGS[name])
        yield Part(f"{question.__name__} {name}", ask, "partial", excuses, tolerance=1e-6)
    for method in ("all_pairs", "adjacent_chain", "pivot_one"):
        ask = partial(offrank.harvest_clicks, method=method)
        yield Part(f"harvest {method}", of_readable(ask), excuses=(BY_KEY,))
    yield Part("select clicks", selected, tolerance=1e-6)


def learnt(method: str, readable: Any, **options: Any) -> dict[str, Any]:
    """What a method learns: the settings that it tried, and how the learnt policy does on the test third."""
    arguments = {"epochs": EPOCHS[method], "bits": 5, **LEARNING.get(method, {}), **options}
    found = offrank.learn(readable, method, folder() / "learnt.npz", **arguments)
    assert found.tested is not None
    tried = [
        {"settings": dict(one.candidate.settings), "ips": one.ips, "snips": one.snips, "pi": one.pi}
        for one in found.tried
    ]
    return {"tried": tried, "features": found.features, "ignored": found.ignored, "tested": found.tested.to_dict()}


def judged(model: str, of: Given, **options: Any) -> Any:
    """A click model learnt from the log, and what it is worth there; the queries and grades are read too."""
    models = [click_model(model).fit(of.readable, **options)]
    return offrank.evaluate_clicks(of.readable, models, labels="grades", **options)


def selected(of: Given, **options: Any) -> Any:
    """The choice among click models that are learnt in closed form."""
    models = [click_model(name).fit(of.readable, **options) for name in ("gctr", "rctr", "rdctr")]
    how = {"strategy": "top-2 ppl: ndcg", **options}
    return offrank.select_clicks(of.readable, models, "grades", "plackett_luce(old)", **how)


def written(model: str, of: Given, **options: Any) -> dict[str, Any]:
    """The file that `clicks fit` writes, but for documents, which stand in the order of their keys."""
    fitted = offrank.fit_clicks(of.readable, model, folder() / "model.json", **options).fitted
    tables = {name: sorted(table.tolist()) for name, table in fitted.learnt.parameters.items()}
    return {"tables": tables, "examination": fitted.model.examination(fitted.learnt.parameters)}
