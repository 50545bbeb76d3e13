"""Boosted policies: trees as LightGBM reads them, slates from scores by slot, their law where items tie, the file."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import offrank
from offrank.errors import UsageError
from offrank.learning.trees import TreeSettings, fit, last, ranking_rounds
from offrank.log.arrays import save_arrays
from offrank.log.batch import Contexts, LogBatch, Shown
from offrank.policies import policy
from offrank.policies.base import all_items
from offrank.policies.boosted import Assigned, Boosted, BoostedModel, best_slates, with_slots
from offrank.policies.learnt import policies_of
from offrank.policies.linear import Encoding, Linear
from tests.policies.stumps import forest, saved
from tests.policies.test_linear import contexts
from tests.policies.test_linear import saved as saved_linear

WEIGHTS = np.array([0.7, -0.4, 0.2, 5.0])
BY_SLOT = np.array([[0.7, 0.1], [0.3, 0.9], [0.2, 0.2], [0.0, 0.5]])

#: scores [candidates, slots] -> the slate of the greedy rule, and that with the largest sum
SLATES = {
    "both the same": ([[3.0, 1.0], [1.0, 3.0], [0.0, 0.0]], [0, 1], [0, 1]),
    "greedy takes 5 + 1, exact 4 + 4": ([[5.0, 4.0], [4.0, 1.0]], [0, 1], [1, 0]),
    "the highest pair is in the last slot": ([[1.0, 9.0], [2.0, 8.0], [3.0, 0.0]], [2, 0], [2, 0]),
    "greedy takes 9 + 0, exact 8 + 7": ([[7.0, 9.0], [0.0, 8.0]], [1, 0], [0, 1]),
    "the same in every slot: sorted": ([[1.0, 1.0], [3.0, 3.0], [2.0, 2.0]], [1, 2], None),
    "the upper slot first, then the larger scores": ([[2.0, 0.0], [2.0, 1.0], [0.0, 2.0]], [1, 2], None),
}


@pytest.mark.parametrize("case", SLATES)
def test_slates_written_out(case: str) -> None:
    scores, greedy, exact = SLATES[case]
    given = np.array([scores]), np.array([len(scores)]), np.array([2])
    assert best_slates(*given).tolist() == [greedy]
    if exact is not None:
        assert best_slates(*given, "exact").tolist() == [exact]


@pytest.mark.parametrize("assignment", ["greedy", "exact"])
def test_the_order_of_candidates_never_decides_and_exact_is_the_best(assignment: str) -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 3, (60, 5, 3)).astype(float)  # many ties
    size, length = rng.integers(3, 6, 60), rng.integers(1, 4, 60)
    order = np.array([np.concatenate([rng.permutation(m), np.arange(m, 5)]) for m in size])
    law = Assigned(scores, size, length, assignment)
    moved = Assigned(np.take_along_axis(scores, order[:, :, None], axis=1), size, length, assignment)
    items = np.where(np.arange(5) < size[:, None], np.arange(5), -1)
    assert moved.rank_probs(items) == pytest.approx(
        np.take_along_axis(law.rank_probs(items), order[:, :, None], axis=1)
    )
    assert (moved.tied == law.tied).all()
    assert 0 < law.tied.sum() < 60
    slates = law.sample(rng)
    for row, (m, k) in enumerate(zip(size, length, strict=True)):
        sums = [scores[row, list(s), range(k)].sum() for s in itertools.permutations(range(m), int(k))]
        found = scores[row, slates[row, :k], range(k)].sum()
        assert found == max(sums) if assignment == "exact" else found <= max(sums)
        assert (slates[row, k:] == -1).all()


def test_tied_candidates_share_their_slots() -> None:
    scores = np.array([[[1.0, 0.0, 3.0], [2.0, 1.0, 0.0], [2.0, 1.0, 0.0], [2.0, 1.0, 0.0]]])
    law = Assigned(scores, np.array([4]), np.array([3]))  # two of the three alike, then candidate 0
    probs = {s: float(np.exp(law.log_prob(np.array([s]))[0])) for s in itertools.permutations(range(4), 3)}
    assert probs == pytest.approx({s: 1 / 6 if s[2] == 0 else 0.0 for s in probs})
    expected = np.array([[0, 0, 1], *[[1 / 3, 1 / 3, 0]] * 3])
    assert law.rank_probs(np.arange(4)[None])[0] == pytest.approx(expected)
    assert law.slot_probs(np.array([[1, 3, 0]]))[0] == pytest.approx([1 / 3, 1 / 2, 1])
    many = Assigned(*(np.repeat(part, 6000, axis=0) for part in (scores, [4], [3])))
    drawn = many.sample(np.random.default_rng(0))
    assert np.bincount(drawn[:, 0] * 4 + drawn[:, 1], minlength=16)[[6, 7, 9, 11, 13, 14]] / 6000 == pytest.approx(
        np.full(6, 1 / 6), abs=0.03
    )


def test_a_slate_longer_than_the_candidates_is_refused() -> None:
    with pytest.raises(UsageError, match="3 slots for 2 candidates"):
        best_slates(np.zeros((1, 2, 3)), np.array([2]), np.array([3]))


def shown(given: Contexts) -> LogBatch:
    """A batch of these contexts; what was shown is of no matter."""
    n = len(given)
    nothing = Shown(np.full((n, given.slots), -1))
    return LogBatch(given, nothing, None, None, np.ones(n), np.arange(n, dtype=np.uint64))


@pytest.mark.parametrize("spelling", ["boosted('{}', greedy=True)", "boosted('{}', temperature=0.5)"])
def test_scores_per_candidate_are_those_of_the_same_linear_policy(tmp_path: Path, spelling: str) -> None:
    given = contexts([[[0, 3], [1, 3], [2, 3], [2, 3]], [[1], [0], [2]]])
    found = policy(spelling.format(saved(tmp_path / "b.npz", WEIGHTS)))
    linear = saved_linear(tmp_path, Encoding.plain(4), np.append(WEIGHTS, np.zeros(12)))
    same = policy(spelling.replace("boosted", "linear").format(linear))
    slates = np.array([[0, 1], [2, 0]])
    assert found.rank_probs(given, all_items(given)) == pytest.approx(same.rank_probs(given, all_items(given)))
    assert found.log_prob(given, slates) == pytest.approx(same.log_prob(given, slates))
    assert found.slot_probs(given, slates) == pytest.approx(same.slot_probs(given, slates))
    assert (found.tied(shown(given)) == same.tied(shown(given))).all()
    drawn = found.sample(given, np.random.default_rng(1))
    assert (drawn == same.sample(given, np.random.default_rng(1))).all()
    assert found.model.log_prob(found.model.encoding.lines(given), slates, True) == pytest.approx(
        policy(f"linear({linear!r}, greedy=True)").log_prob(given, slates)
    )


def test_scores_per_slot_give_one_slate(tmp_path: Path) -> None:
    given, path = contexts([[[0], [1], [2]], [[1, 3], [0], [1]]]), saved(tmp_path / "b.npz", BY_SLOT)
    # 0: .7 .1 / .3 .9 / .2 .2, so (0, 1). 1: .3 1.4 / .7 .1 / .3 .9, so (1, 0).
    assert Boosted(path).sample(given, np.random.default_rng(0)).tolist() == [[0, 1], [1, 0]]
    assert Boosted(path).log_prob(given, np.array([[0, 1], [0, 1]])).tolist() == [0.0, -np.inf]
    assert not Boosted(path).tied(shown(given)).any()
    one = contexts([[[0], [1], [2]]], slots=1)
    assert Boosted(path, assignment="exact").sample(one, np.random.default_rng(0)).tolist() == [[0]]
    with pytest.raises(UsageError, match="slates of 2 slots, but this log has 3"):
        Boosted(path).sample(contexts([[[0], [1], [2]]], slots=3), np.random.default_rng(0))


def test_trees_are_read_as_lightgbm_reads_them() -> None:
    library = pytest.importorskip("lightgbm")
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 3)) * (rng.random((200, 3)) < 0.7)
    by_slot = np.stack([features[:, 0], features[:, 1] * 2], axis=1)
    for targets in (by_slot, by_slot[:, 0]):
        found = fit(features, targets, np.ones_like(targets), TreeSettings(9, leaves=7, subsample=0.5))
        given = with_slots(features, 2) if targets.ndim == 2 else features
        expected = library.Booster(model_str=found.text).predict(given).reshape(targets.shape)
        for one in (features, csr_matrix(features)):
            assert found.scores(one) == pytest.approx(expected, rel=1e-12)
        sparse = fit(csr_matrix(features), targets, np.ones_like(targets), TreeSettings(9, leaves=7, subsample=0.5))
        assert sparse.scores(features) == pytest.approx(expected, rel=1e-9)
        assert np.corrcoef(expected.ravel(), targets.ravel())[0, 1] > 0.8
    grades = np.clip(np.round(features[:, 0] + 1), 0, 4)
    ranked = last(ranking_rounds(features, grades, np.full(20, 10), TreeSettings(9)))
    assert np.corrcoef(ranked.scores(features), grades)[0, 1] > 0.7
    with pytest.raises(UsageError, match="whole grades"):
        last(ranking_rounds(features, grades + 0.5, np.full(20, 10), TreeSettings(1)))


def test_file_holds_everything(tmp_path: Path) -> None:
    path = saved(tmp_path / "b.npz", BY_SLOT)
    again = BoostedModel.load(path)
    assert again.forest == forest(BY_SLOT)
    assert again.facts == {"method": "test"}
    assert again.training is None
    assert policies_of(path) == {"sorted": Boosted(path), "exact": Boosted(path, assignment="exact")}
    alone = saved(tmp_path / "a.npz", WEIGHTS)
    assert policies_of(alone) == {"drawn": Boosted(alone), "sorted": Boosted(alone, greedy=True)}
    linear = saved_linear(tmp_path)
    assert policies_of(linear) == {"drawn": Linear(linear), "sorted": Linear(linear, greedy=True)}
    found = offrank.Boosted(path, assignment="exact")
    assert policy(repr(found)) == found


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no")
    (tmp_path / "folder.npz").mkdir()
    whole = bytearray(Path(saved(tmp_path / "whole.npz", BY_SLOT)).read_bytes())
    for place in range(60, len(whole) // 2, 3):
        whole[place] ^= 0xFF
    (tmp_path / "damaged.npz").write_bytes(whole)
    for name in ("absent.npz", "text.npz", "folder.npz", "damaged.npz", Path(saved_linear(tmp_path)).name):
        with pytest.raises(UsageError, match=name):
            _ = Boosted(str(tmp_path / name)).model
    text = forest(BY_SLOT).text
    wrong = {
        "cut": text[: len(text) // 2],
        "empty": "",
        "endless": text.replace("right_child=1", "right_child=0", 1),
        "other feature": text.replace("split_feature=4", "split_feature=9", 1),
        "no number": text.replace("leaf_value=0 0", "leaf_value=0 x", 1),
        "too few": text.replace("threshold=0.25 0.25", "threshold=0.25", 1),
    }
    for name, trees in wrong.items():
        model = BoostedModel.load(saved(tmp_path / "right.npz", BY_SLOT))
        forged = BoostedModel(model.encoding, model.columns, type(model.forest)(trees, 4, 2))
        forged.save(tmp_path / f"{name}.npz")
        with pytest.raises(UsageError, match="trees of a policy cannot be read"):
            _ = Boosted(str(tmp_path / f"{name}.npz")).model


def test_a_file_that_tells_more_slots_apart_than_any_slate_has_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "forged.npz", BY_SLOT)
    with np.load(path) as found:
        arrays = dict(found)
    save_arrays(path, arrays | {"slots": np.array(10**9)})
    with pytest.raises(UsageError, match=r"forged\.npz' is not a learnt policy"):
        _ = Boosted(str(path)).model


def test_options_that_a_file_does_not_have_are_refused(tmp_path: Path) -> None:
    slots, alone = saved(tmp_path / "b.npz", BY_SLOT), saved(tmp_path / "a.npz", WEIGHTS)
    for wrong in (Boosted(slots, temperature=2.0), Boosted(slots, greedy=True)):
        with pytest.raises(UsageError, match="its slate is fixed"):
            _ = wrong.model
    with pytest.raises(UsageError, match="the same in every slot"):
        _ = Boosted(alone, assignment="exact").model
    for name, value in {"temperature": 0.0, "assignment": "best"}.items():
        with pytest.raises(UsageError, match=name):
            Boosted(slots, **{name: value})
