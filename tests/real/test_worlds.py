"""Real judged queries as worlds: a user clicks, estimators and click models are held against the exact truth."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import offrank
from offrank.readers.svmlight import read_svmlight
from offrank.simulation import JudgedWorld, SimulatedSource, stratified
from offrank.simulation.users import user

SETS = {
    "mq2008": ("mq2008/S1.txt", 157, 2),
    "clueweb09": ("clueweb09-ltr/fold1.txt", 12, 4),
    "trec-news": ("trec-news-2018/trec_news_2018.train", 45, 4),
}


def world(shared_data: Path, name: str, spelling: str, documents: int = 8, temperature: float = 1.0) -> JudgedWorld:
    path, queries, highest = SETS[name]
    judged, dropped = stratified(read_svmlight(shared_data / path), documents)
    assert len(judged) + dropped == queries
    return JudgedWorld.of(judged, user(spelling, highest=highest), temperature=temperature)


@pytest.mark.parametrize("name", SETS)
def test_item_level_estimates_hit_the_truth(shared_data: Path, name: str) -> None:
    found = world(shared_data, name, "pbm")
    source, curve = SimulatedSource(found, 60_000), 1 / np.arange(1, 9)
    result = offrank.evaluate(source, "top(grade)", found.policy("noisy_oracle"), ["ipm", "pbm"], examination=curve)
    truth = found.truth(offrank.Top("grade"))
    assert truth.exact
    assert truth.value > found.truth(found.policy("noisy_oracle")).value
    for estimator in ("ipm", "pbm"):
        assert abs(result[estimator].value - truth.value) < 4 * result[estimator].standard_error, estimator


@pytest.mark.parametrize("spelling", ["dbn", "trust"])
def test_what_the_log_earns_is_the_truth(shared_data: Path, spelling: str) -> None:
    found = world(shared_data, "mq2008", spelling)
    logged = offrank.evaluate(SimulatedSource(found, 60_000), "uniform", "logged", ["logged"])["logged"]
    truth = found.truth(found.policy("noisy_oracle"))
    assert abs(logged.value - truth.value) < 4 * math.hypot(logged.standard_error, truth.standard_error)


@pytest.mark.parametrize("name", ["mq2008", "clueweb09"])
def test_sorting_by_grade_is_best_for_who_reads_from_the_top(shared_data: Path, name: str) -> None:
    found = world(shared_data, name, "pbm")
    best = found.truth(offrank.Top("grade")).value
    assert best > found.truth(offrank.Top("noisy_oracle")).value > found.truth(offrank.Uniform()).value
