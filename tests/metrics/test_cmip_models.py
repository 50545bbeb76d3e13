"""CMIP of fitted click models: right ones are not convicted, wrong ones are, and the floor is what arithmetic says."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from offrank.clicks import DCTR, GCTR, PBM, RDCTR
from offrank.clicks.fitted import Fitted
from offrank.errors import UsageError
from offrank.log.batch import Contexts
from offrank.metrics import Cmip, cmip_of
from offrank.metrics.cmip_floor import imagined
from offrank.metrics.cmip_methods import Binned
from offrank.simulation.judged_queries import mslr_like, stratified
from offrank.simulation.source import SimulatedSource
from offrank.simulation.worlds import JudgedWorld

QUICK = Binned(replicates=4)


class Judged(NamedTuple):
    """A world of PBM users, sessions of its noisy oracle, and what `cmip_of` takes."""

    source: SimulatedSource
    contexts: Contexts
    rank: np.ndarray
    grade: np.ndarray

    def of(self, fitted: Fitted, **how: object) -> Cmip:
        given = {"method": QUICK, "permutations": 0, **how}
        return cmip_of(fitted, self.contexts, self.rank, self.grade, **given)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def world() -> Judged:
    judged, _ = stratified(mslr_like(150, (10, 20)))
    made = JudgedWorld.of(judged)
    source = SimulatedSource(made, 40 * len(made))
    return Judged(source, made.contexts(), made.logging_relevance("noisy_oracle"), made.grade)


@pytest.fixture(scope="module")
def models(world: Judged) -> dict[str, Fitted]:
    return {one.name: one.fit(world.source) for one in (PBM(), DCTR(), RDCTR(), GCTR())}


def test_a_right_model_is_not_convicted_and_a_wrong_one_is(world: Judged, models: dict[str, Fitted]) -> None:
    right, wrong = (world.of(models[name], worlds=12) for name in ("pbm", "dctr"))
    for found in (right, wrong):
        assert found.draws == 8
        assert found.floor is not None
        assert found.floor.worlds == 12
    assert right.biased is False
    assert wrong.biased is True
    assert wrong.direction is not None
    assert wrong.direction.low > 0.2  # follows the policy
    assert "carries-policy" in {one.code for one in wrong.warnings}
    assert "the model carries the policy" in str(wrong)
    assert "indistinguishable from an unbiased model" in str(right)
    # What is above the floor tells them apart, and hides no doubt.
    assert right.excess is not None
    assert wrong.excess is not None
    assert right.excess.low < 0 < wrong.excess.low
    assert wrong.excess.value == pytest.approx(wrong.value - wrong.floor.value.value)  # type: ignore[union-attr]


def test_point_estimates_of_a_right_model_depend_on_the_policy_by_their_noise(
    world: Judged, models: dict[str, Fitted]
) -> None:
    """A p-value convicts it, and its floor does not: a right model would score as much."""
    found = world.of(models["pbm"], relevance="means", permutations=39, worlds=12)
    assert found.draws == 1
    assert found.p_value == 1 / 40
    assert found.value > 0.1
    assert found.floor is not None
    assert found.floor.value.value > 0.1
    assert found.biased is False
    assert world.of(models["dctr"], relevance="means", worlds=12).biased is True


def test_a_model_that_knows_no_document_has_nothing_to_measure(world: Judged, models: dict[str, Fitted]) -> None:
    found = world.of(models["gctr"])
    assert (found.value, found.floor, found.direction, found.biased) == (0, None, None, None)


def test_a_model_without_posterior_says_so(world: Judged, models: dict[str, Fitted]) -> None:
    dctr = models["dctr"]
    bare = replace(dctr, learnt=replace(dctr.learnt, strength={}, loadings={}))
    found = world.of(bare)
    assert (found.draws, found.floor, found.biased) == (1, None, None)
    assert "point-estimates" in [one.code for one in found.warnings]
    means = world.of(dctr, relevance="means", worlds=0)
    assert found.value == pytest.approx(means.value)
    assert "point-estimates" not in [one.code for one in means.warnings]


def test_the_seed_decides(world: Judged, models: dict[str, Fitted]) -> None:
    one, same, other = (world.of(models["pbm"], worlds=3, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.value != other.value
    with pytest.raises(UsageError, match="relevance is 'mean'"):
        world.of(models["pbm"], relevance="mean")


def test_worlds_of_the_floor_by_hand() -> None:
    """Click rates under Beta(1, 3): documents of a grade have its rate, and as many impressions as in the log."""
    shown, clicked = np.array([4, 20, 100, 6, 50]), np.array([1, 3, 20, 4, 30])
    grade = np.array([0.0, 0, 0, 1, 1])
    slates = np.repeat(np.arange(5), shown)
    clicks = np.concatenate([np.arange(n) < won for n, won in zip(shown, clicked, strict=True)])
    rows = zip(slates.tolist(), clicks.astype(int).tolist(), strict=True)
    fitted = DCTR(prior=(1, 3)).fit([{"slate": [item], "clicks": [click]} for item, click in rows])
    values = imagined(fitted, np.arange(5), np.arange(5.0), grade, 2_000, False, np.random.default_rng(0))
    # One observation of the prior mean keeps rates off 0: (clicks + 1/4) / (impressions + 1).
    rate = np.array([24.25 / 125] * 3 + [34.25 / 57] * 2)
    expected = (shown * rate + 1) / (shown + 4)
    deviation = np.sqrt(shown * rate * (1 - rate)) / (shown + 4)
    assert values.mean(axis=1) == pytest.approx(expected, abs=4 * deviation.max() / np.sqrt(2_000))
    assert values.std(axis=1) == pytest.approx(deviation, rel=0.06)
    assert np.abs(np.corrcoef(values) - np.eye(5)).max() < 0.1  # each by itself
    drawn = imagined(fitted, np.arange(5), np.arange(5.0), grade, 2_000, True, np.random.default_rng(0))
    # A draw adds the variance of a Beta: that of v (1 - v) / (strength + 1), averaged over v.
    spread = deviation**2 + (expected * (1 - expected) - deviation**2) / (shown + 5)
    assert drawn.std(axis=1) == pytest.approx(np.sqrt(spread), rel=0.06)


def test_documents_that_a_model_does_not_know_keep_their_relevance_in_all_worlds(world: Judged) -> None:
    few = DCTR().fit(SimulatedSource(world.source.world, 300))
    code = few.documents.codes(world.contexts)
    assert (code < 0).any()
    assert np.isfinite(world.of(few, worlds=2).floor.value.value)  # type: ignore[union-attr]
