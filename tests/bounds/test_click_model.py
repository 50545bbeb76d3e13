"""Bounds by a fitted click model, beside a grid of all that an unseen item can be."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import UsageError

GRID = [0.0, 0.5, 1.0]
OLD, NEW, OTHER = (0, 1, 2), (3, 1, 4), (1, 4, 3)
"""What was shown, and what two targets would show: items 3 and 4 were never shown."""


def table(rows: int = 400) -> pa.Table:
    rng = np.random.default_rng(5)
    clicks = rng.random((rows, 3)) < [0.6, 0.4, 0.3]

    def score(slate: tuple[int, ...]) -> list[float]:
        return [float(3 - slate.index(item)) if item in slate else 0.0 for item in range(5)]

    shared = {"query": "q", "slate": list(OLD), "candidates": list(range(5))}
    scores = {"new": score(NEW), "other": score(OTHER)}
    return pa.Table.from_pylist([{**shared, **scores, "clicks": each.astype(int).tolist()} for each in clicks])


def clicked(slate: tuple[int, ...], attraction: list[float], after_click: list[float], after_skip: float) -> float:
    """The clicks of users who read from the top, by arithmetic."""
    reached, total = 1.0, 0.0
    for item in slate:
        total += reached * attraction[item]
        reached *= attraction[item] * after_click[item] + (1 - attraction[item]) * after_skip
    return total


@pytest.mark.turns(3)
def test_a_call_does_not_name_a_model_in_memory_as_if_it_were_a_file(tmp_path: Path) -> None:
    log = table()
    model = offrank.clicks.click_model("dbn").fit(log)
    model.save(tmp_path / "dbn.json")
    for given, said in ((model, "<fitted dbn>"), (str(tmp_path / "dbn.json"), f"'{tmp_path}/dbn.json'")):
        found = offrank.evaluate(log, "top(new)", bounds=True, click_model=given)
        assert found.metadata.command.endswith(f"bounds=True, click_model={said})")


@pytest.mark.parametrize("name", ["dbn", "sdbn", "cascade"])
def test_both_ends_are_those_of_a_grid(name: str) -> None:
    log = table()
    model = offrank.clicks.click_model(name).fit(log)
    known = model.learnt.parameters
    going = {"dbn": lambda: float(known["continuation"][0]), "sdbn": lambda: 1.0, "cascade": lambda: 1.0}[name]()
    seen = [list(known[one][:3]) if one in known else [1.0] * 3 for one in ("attraction", "satisfaction")]
    worlds = []
    for a3, a4, s3, s4 in itertools.product(GRID, repeat=4):
        attraction, satisfaction = [*seen[0], a3, a4], [*seen[1], s3, s4]
        after = [0.0 if name == "cascade" else going * (1 - s) for s in satisfaction]
        worlds.append([clicked(slate, attraction, after, going) for slate in (NEW, OTHER)])
    one, other = np.array(worlds).T
    found = offrank.evaluate(log, "top(new)", bounds=True, click_model=model).bounds["top(new)"][-1]
    assert (found.lower.value, found.upper.value) == pytest.approx((one.min(), one.max()))
    assert found.shown == pytest.approx(1 / 3)
    assert found.assumes_in_words == f"that rows of one query are alike and users click as `{name}` says"
    assert found.trust == "with care"
    pair = offrank.compare(log, ["top(other)", "top(new)"], bounds=True, click_model=model).bounds["top(new)"][-1]
    apart = one - other  # items 3 and 4 are one item each, whoever shows them
    assert (pair.difference_lower.value, pair.difference_upper.value) == pytest.approx((apart.min(), apart.max()))
    if name != "cascade":
        assert found.upper.high > found.upper.value  # the doubt of the model itself: all rows are alike


def test_what_was_shown_is_one_number() -> None:
    log = table()
    model = offrank.clicks.PBM().fit(log)
    found = offrank.evaluate(log, "top(new)", bounds=True, click_model=model).bounds["top(new)"][-1]
    looked, known = model.learnt.parameters["examination"], model.learnt.parameters["attraction"]
    sure = looked[1] * known[1]
    assert (found.lower.value, found.upper.value) == pytest.approx((sure, sure + looked[0] + looked[2]))


def test_models_without_known_ends_are_refused() -> None:
    log = table(60)
    for name in ("ccm", "ubm"):
        model = offrank.clicks.click_model(name).fit(log)
        with pytest.raises(UsageError, match="fit pbm, trust, cascade"):
            offrank.evaluate(log, "top(new)", bounds=True, click_model=model)
    with pytest.raises(UsageError, match="no fitted click model"):
        offrank.evaluate(log, "top(new)", bounds=True, click_model=3)
