"""The format of a log by name, or as a reader, in every verb that takes a log."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import offrank
from offrank.errors import OffrankError, UsageError
from offrank.readers import Reader
from tests.verbs.test_outcomes import LAW, TARGET, logged

VERBS: dict[str, tuple[Any, ...]] = {
    "evaluate": (TARGET, LAW),
    "compare": (TARGET, LAW),
    "convert": ("out.parquet",),
    "estimate": (TARGET, LAW),
    "check": (None, LAW),
    "select_estimators": (TARGET, LAW, ["snips", "ips"]),
    "measure": ("weight", LAW),
    "learn": ("ips", "policy.npz"),
    "harvest_clicks": (),
    "fit_clicks": ("pbm", "model.json"),
    "evaluate_clicks": (offrank.clicks.GCTR().fit([{"slate": ["a", "b"], "clicks": [1, 0]}]),),
    "select_clicks": (offrank.clicks.GCTR().fit([{"slate": ["a", "b"], "clicks": [1, 0]}]), "weight"),
    "predict_clicks": (offrank.clicks.GCTR().fit([{"slate": ["a", "b"], "clicks": [1, 0]}]), "predicted.parquet"),
}


def test_every_verb_with_a_log_is_asked() -> None:
    verbs = {name: getattr(offrank, name) for name in offrank.__all__}
    taking = {name: inspect.signature(one).parameters for name, one in verbs.items() if inspect.isfunction(one)}
    logs = {name for name, parameters in taking.items() if {"log", "columns"} <= parameters.keys()}
    assert logs - {"inspect"} == VERBS.keys()
    assert all("format" in taking[name] for name in logs)


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_reads_by_the_format(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.parquet").touch()
    with pytest.raises(OffrankError, match="no_such"):
        getattr(offrank, verb)("log.parquet", *VERBS[verb], format="no_such")
    with pytest.raises(UsageError, match="a format is named when a log is opened"):
        getattr(offrank, verb)(offrank.read_log(pa.table(logged(20))), *VERBS[verb], format="parquet")


def test_an_answer_is_that_of_the_log_that_is_opened_so(tmp_path: Path) -> None:
    @Reader
    def mine(path: Any, *, rows: int = 300, invalid: str = "raise") -> Any:
        return offrank.read_log(pa.table(logged(rows)))

    found = offrank.evaluate("log.mine", TARGET, LAW, "snips", cluster=None, format=mine(rows=200))
    assert found.estimates == offrank.evaluate(pa.table(logged(200)), TARGET, LAW, "snips", cluster=None).estimates
    assert found.metadata.command.startswith("offrank.evaluate('log.mine', format='mine(rows=200)', target=")
    checked = offrank.check("log.mine", None, LAW, format=mine)
    assert checked.metadata.command.startswith("offrank.check('log.mine', format='mine', target=None, logging=")
