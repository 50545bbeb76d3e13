"""The multiplicities of the Poisson bootstrap: law, independence, and what they depend on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.inference import Inference, IntervalSpec
from offrank.inference.mean_intervals import RowLines
from offrank.log.batch import Floats
from offrank.sums import BootstrapFold, MomentsFold, NamedColumns, Sample, Tee, ratio
from offrank.sums.base import total
from offrank.sums.clusters import Clusters
from offrank.sums.sampled import EQUAL, SAID
from tests.inference.numbered import numbered

ROWS, REPLICATES = 500, 1200


def multiplicities(keys: Floats, seed: int = 0, replicates: int = REPLICATES) -> Floats:
    """[replicates, n] how often each row is drawn, read off rows that each have a column of their own."""
    fold = BootstrapFold(replicates, seed)
    return fold.of(Sample.of(np.eye(len(keys)), np.asarray(keys, dtype=np.uint64)))


def each_row(values: Floats, replicates: Floats) -> RowLines:
    """Rows that are drawn, with these replicates."""
    return RowLines(Clusters("rows", values, np.ones(len(values)), math.inf, replicates))


@pytest.fixture(scope="module", params=["consecutive", "far apart", "hashes"])
def drawn(request: pytest.FixtureRequest) -> Floats:
    keys = np.arange(ROWS)
    if request.param == "far apart":
        keys = keys * 2**40
    if request.param == "hashes":
        keys = np.random.default_rng(0).integers(0, 2**63, ROWS)
    return multiplicities(keys)


def test_multiplicities_are_poisson(drawn: Floats) -> None:
    counts = np.bincount(drawn.astype(int).ravel(), minlength=12)
    law = np.array([math.exp(-1) / math.factorial(j) for j in range(8)])
    assert counts[:8] / drawn.size == pytest.approx(law, abs=5 * 0.5 / math.sqrt(drawn.size))
    assert drawn.mean() == pytest.approx(1, abs=5 / math.sqrt(drawn.size))
    assert drawn.var() == pytest.approx(1, abs=0.02)
    assert drawn.max() <= 9


def test_every_row_and_every_replicate_is_drawn_alike(drawn: Floats) -> None:
    for axis, size in ((0, REPLICATES), (1, ROWS)):
        assert drawn.mean(axis=axis) == pytest.approx(np.ones(drawn.shape[1 - axis]), abs=5 / math.sqrt(size))


@pytest.mark.parametrize("across", ["rows", "replicates"])
def test_multiplicities_are_independent(drawn: Floats, across: str) -> None:
    centred = (drawn if across == "rows" else drawn.T) - 1
    correlation = centred.T @ centred / len(centred)
    apart = correlation[~np.eye(len(correlation), dtype=bool)]
    assert abs(apart).max() < 6.5 / math.sqrt(len(centred))
    assert apart.mean() == pytest.approx(0, abs=0.005)
    assert apart.std() == pytest.approx(1 / math.sqrt(len(centred)), rel=0.1)


def test_equal_keys_are_drawn_together_and_others_apart() -> None:
    found = multiplicities(np.array([5, 9, 5, 2**63, 9]), replicates=400)
    assert (found[:, 0] == found[:, 2]).all()
    assert (found[:, 1] == found[:, 4]).all()
    assert (found[:, 0] != found[:, 1]).any()


def test_seeds_differ() -> None:
    keys = np.arange(50)
    one, other = multiplicities(keys, 0, 400), multiplicities(keys, 1, 400)
    correlation = np.corrcoef(one.ravel(), other.ravel())[0, 1]
    assert abs(correlation) < 5 / math.sqrt(one.size)


@pytest.mark.parametrize("replicates", [20, 21, 22, 23, 200])
def test_any_number_of_replicates(replicates: int) -> None:
    found = multiplicities(np.arange(20), replicates=replicates)
    assert found.shape == (replicates, 20)
    assert (found == multiplicities(np.arange(20), replicates=203)[:replicates]).all()


def test_the_interval_is_that_of_the_replicates() -> None:
    rng = np.random.default_rng(4)
    values = np.column_stack([np.ones(300), rng.random(300), rng.lognormal(0, 1, 300)])
    batch = Sample.of(values, np.arange(300, dtype=np.uint64))
    fold, moments = BootstrapFold(199), MomentsFold()
    sums_of_log = numbered(moments.of(batch))
    spread = Inference(sums_of_log, "bootstrap", 0.9, rows=each_row(values, fold.of(batch)))
    sums = multiplicities(np.arange(300), replicates=199) @ values
    ratios, plain = np.sort(sums[:, 2] / sums[:, 1]), sums[:, 1] / sums[:, 0]
    found = spread.interval(ratio(2, 1))
    assert (found.low, found.high) == pytest.approx((ratios[9], ratios[189]))  # the 10th and 190th of 199
    assert found.standard_error == pytest.approx(np.std(ratios, ddof=1))
    apart = spread.difference(ratio(1, 0), ratio(2, 0))
    assert apart.standard_error == pytest.approx(np.std(plain - sums[:, 2] / sums[:, 0], ddof=1))


def test_rows_that_are_drawn_together_count_as_if_each_were_drawn() -> None:
    """Pairs vary too much by the root of two, by which the interval is narrower around its value."""
    rng = np.random.default_rng(4)
    values = np.column_stack([np.ones(300), rng.random(300), rng.lognormal(0, 1, 300)])
    twice = np.concatenate([values, values])
    sums = numbered(MomentsFold().of(Sample.of(twice, np.arange(600, dtype=np.uint64))))
    replicates = multiplicities(np.arange(300), replicates=199) @ (2 * values)
    pairs = Clusters("rows", 2 * values, np.full(300, 2.0), math.inf, replicates)
    found = Inference(sums, "bootstrap", 0.9, rows=RowLines(pairs)).interval(ratio(2, 1))
    ratios = np.sort(replicates[:, 2] / replicates[:, 1])
    assert found.standard_error == pytest.approx(np.std(ratios, ddof=1) / math.sqrt(2))
    assert found.high - found.value == pytest.approx((ratios[189] - found.value) / math.sqrt(2))


def test_replicates_without_weight_do_not_count() -> None:
    values = np.array([[1.0, 1.0], [0.0, 0.0], [3.0, 2.0]])
    batch = Sample.of(values, np.arange(3, dtype=np.uint64))
    fold, moments = BootstrapFold(200), MomentsFold()
    replicates = fold.of(batch)
    assert (replicates[:, 1] == 0).any()
    sums = numbered(moments.of(batch))
    found = Inference(sums, "bootstrap", 0.9, rows=each_row(values, replicates)).interval(ratio(0, 1))
    assert np.isfinite([found.low, found.high, found.standard_error]).all()


MANY = 20_000
#: how many of so many rows say the same, and how many different values they have
COPIES = {"none": (1, MANY), "pairs": (2, MANY), "a few values": (MANY // 5, 5), "hardly any": (1.02, MANY)}


def resampled(said: Floats, values: Floats, order: Floats) -> list[float]:
    """The ends and the error of a bootstrap of rows in some order, in parts of 3,000, and its error by rows."""
    key = np.arange(len(said), dtype=np.uint64)
    spec = IntervalSpec("bootstrap")
    fold = Tee(spec.folds(NamedColumns((0, 1, 2))))
    told = said[order].astype(np.uint64)
    rows = Sample.of(values[order], key, {SAID: told, EQUAL: told ^ (values[order, 2] > 0)})
    part = None
    for first in range(0, len(said), 3_000):
        part = total(part, fold.of(rows.take(np.arange(first, min(first + 3_000, len(said))))))
    found = spec.inference(NamedColumns((0, 1, 2)), fold.result(part))
    mean = found.interval(ratio(2, 1))
    return [mean.low, mean.high, mean.standard_error, found._independent_error(found.sums.influence(ratio(2, 1)))]


@pytest.mark.parametrize("copies", COPIES)
def test_rows_are_drawn_by_what_they_say_and_those_that_say_the_same_apart(copies: str) -> None:
    each, different = COPIES[copies]
    rng = np.random.default_rng(8)
    of = np.arange(MANY) % different
    weight, reward = rng.lognormal(0, 1, different)[of], (rng.random(different) < 0.4)[of]
    values = np.column_stack([np.ones(MANY), weight, weight * reward])
    said = rng.integers(0, 2**63, MANY)[(np.arange(MANY) / each).astype(int) if different > 5 else of]
    first, second = (resampled(said, values, order) for order in (np.arange(MANY), rng.permutation(MANY)))
    assert first[2] == pytest.approx(first[3], rel=0.15)  # 200 draws; twice as large, if pairs were drawn together
    assert (first == pytest.approx(second, rel=1e-9)) is (copies != "pairs")  # too many to be counted: by number


def test_rows_that_say_and_earned_the_same_are_drawn_by_number_if_they_are_weighed_unlike() -> None:
    rng = np.random.default_rng(8)
    values = np.column_stack([np.ones(MANY), rng.lognormal(0, 1, MANY), np.ones(MANY)])
    first, second = (resampled(np.zeros(MANY), values, order) for order in (np.arange(MANY), rng.permutation(MANY)))
    assert first[2] == pytest.approx(first[3], rel=0.15)
    assert first[2] != pytest.approx(second[2], rel=1e-9)


LOGGED = 3_000


@pytest.mark.parametrize("logging", ["plackett_luce(old)", "logged"])
@pytest.mark.parametrize("repeating", [False, True], ids=["own scores", "few queries"])
def test_what_else_is_asked_changes_no_draw(logging: str, repeating: bool) -> None:
    """Nor does the order of the rows, but where many weights differ among rows that say and earned the same."""
    rng = np.random.default_rng(1)
    query = rng.integers(0, 6, LOGGED) if repeating else np.arange(LOGGED)
    old, new = (np.exp(rng.normal(size=(LOGGED, 4)) / 2)[query] for _ in range(2))
    slate = np.argsort(-np.log(old) - rng.gumbel(size=old.shape), axis=1)[:, :2]
    shown = np.take_along_axis(old, slate, axis=1)
    each = shown / np.column_stack([old.sum(axis=1), old.sum(axis=1) - shown[:, 0]])
    clicks = (rng.random(slate.shape) < 0.3).astype(int)
    made = {"slate": slate, "candidates": np.tile(np.arange(4), (LOGGED, 1)), "clicks": clicks, "old": old, "new": new}
    columns: dict[str, Any] = {name: [*values] for name, values in made.items()}
    table = pa.table({**columns, "propensity": each.prod(axis=1), "slot_propensity": [*each]})

    def ends(target: Any, *estimators: str, rows: pa.Table = table) -> list[tuple[float, float]]:
        found = offrank.estimate(rows, target, logging, list(estimators), interval="bootstrap", cluster=None)
        name = next(iter(found.estimates.found))[0]
        return [(found[name, one].low, found[name, one].high) for one in estimators]

    first, other = {"a": "plackett_luce(new)"}, {"a": "plackett_luce(new)", "b": "uniform"}
    together = dict(zip(every := ("logged", "snips", "rips"), ends(first, *every), strict=True))
    shuffled = table.take(pa.array(rng.permutation(LOGGED)))
    for estimator, expected in together.items():
        assert ends(first, estimator) == pytest.approx([expected], rel=1e-9)
        assert ends(other, estimator) == pytest.approx([expected], rel=1e-9)
        assert ends(first, estimator, rows=shuffled) == pytest.approx([expected], rel=1e-9)
