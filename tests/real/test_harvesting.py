"""Examination of a search engine's ranks, from documents that it showed at several of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import offrank
from offrank.clicks import PBM
from offrank.readers import yandex


def test_the_curve_of_a_search_engine(shared_data: Path) -> None:
    log = yandex(shared_data / "yandex-relpred" / "trainSample")
    found = offrank.harvest_clicks(log).found
    print(found)
    assert found.impressions == 35_064
    assert found.cautions == ()
    assert (np.diff(found.curve[:8]) < 0).all()
    assert found.curve[[1, 4, 9]] == pytest.approx([0.73, 0.37, 0.24], abs=0.03)
    assert (found.high - found.low)[1:].max() < 0.2
    # Each way compares other pairs of ranks, and documents count differently: they agree within their intervals.
    for method, weigh in (("adjacent_chain", "views"), ("pivot_one", "views"), ("all_pairs", "equal")):
        other = offrank.harvest_clicks(log, method, weigh=weigh).found  # type: ignore[arg-type]
        assert ((other.low <= found.high) & (found.low <= other.high)).all()
    model = PBM().fit(log).examination()
    assert model is not None
    print(np.round(model, 3))
    assert model == pytest.approx(found.curve, abs=0.02)
