"""Click models on real search sessions: learnt from four of every five, judged on the fifth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import offrank
from offrank.clicks import Evaluations, click_model
from offrank.log.batch import LogBatch
from offrank.log.source import needs
from offrank.readers import yandex
from offrank_testing import take
from offrank_testing.exact import MemorySource

MODELS = ["gctr", "rctr", "dctr", "rdctr", "pbm", "ubm", "dbn", "trust"]


@pytest.fixture(scope="module")
def batches(shared_data: Path) -> list[LogBatch]:
    source = yandex(shared_data / "yandex-relpred" / "trainSample").select(needs("clicks", keys="query"))
    return [batch for part in range(source.parts()) for batch in source.batches(part)]


def part(batches: list[LogBatch], *, held_out: bool) -> MemorySource:
    """Every fifth session, or the others."""
    return MemorySource(
        tuple(take(batch, np.flatnonzero((batch.row % 5 == 0) == held_out)) for batch in batches),
    )


@pytest.fixture(scope="module")
def found(batches: list[LogBatch]) -> Evaluations:
    learnt = {name: click_model(name).fit(part(batches, held_out=False), by="query") for name in MODELS}
    return offrank.evaluate_clicks(part(batches, held_out=True), learnt).here


EXPECTED = {
    "gctr": 1.460,
    "rctr": 1.419,
    "dctr": 1.384,
    "rdctr": 1.379,
    "pbm": 1.378,
    "ubm": 1.379,
    "dbn": 1.378,
    "trust": 1.378,
}


def test_perplexities(found: Evaluations) -> None:
    assert found["pbm"].sessions == 7013
    for name, expected in EXPECTED.items():
        assert found[name].perplexity.value == pytest.approx(expected, abs=0.002), name
    for name, expected in {"ubm": 1.354, "dbn": 1.355}.items():
        assert found[name].conditional_perplexity.value == pytest.approx(expected, abs=0.002), name


def test_models_beat_rates(found: Evaluations) -> None:
    for better, worse in (("rctr", "gctr"), ("dctr", "rctr"), ("pbm", "dctr"), ("dbn", "rctr")):
        assert found.difference(better, worse).high < 0, (better, worse)
    assert found.difference("ubm", "pbm", "conditional_perplexity").high < 0
