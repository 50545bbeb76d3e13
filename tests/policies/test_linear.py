"""Linear policies: their law against enumeration, ties, hashing, crossings, and the file that they are kept in."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import offrank
from offrank.errors import UsageError
from offrank.log.arrays import save_arrays
from offrank.log.batch import Contexts, SparseFeatures
from offrank.policies import policy
from offrank.policies.base import all_items
from offrank.policies.linear import Encoding, Linear, Model

LINES = [[[0, 3], [1, 3], [2, 3], [2, 3]], [[1], [0, 0], [2]]]
WEIGHTS = np.array([0.7, -0.4, 0.2, 5.0] + [0.0] * 12)


def contexts(rows: list[list[list[int]]] = LINES, slots: int = 2) -> Contexts:
    size = np.array([len(row) for row in rows])
    flat = [line for row in rows for line in row]
    offsets = np.concatenate([[0], np.cumsum([len(line) for line in flat])])
    indices = np.array([f for line in flat for f in line], dtype=np.int64)
    first = np.cumsum(size) - size
    candidates = np.where(np.arange(size.max()) < size[:, None], np.arange(size.max()), 0)
    features = SparseFeatures(first, offsets, indices, np.ones(len(indices)))
    return Contexts(candidates, size, np.minimum(size, slots), features=features)


def saved(folder: Path, encoding: Encoding | None = None, weights: np.ndarray = WEIGHTS) -> str:
    path = folder / "policy.npz"
    Model(encoding or Encoding.plain(4), weights, {"method": "test"}).save(path)
    return str(path)


@pytest.mark.parametrize("greedy", [False, True])
def test_law_is_that_of_every_slate(tmp_path: Path, greedy: bool) -> None:
    given, found = contexts(), Linear(saved(tmp_path), temperature=0.5, greedy=greedy)
    ranks = found.rank_probs(given, all_items(given))
    for row, m in enumerate(given.size):
        slates = np.array(list(itertools.permutations(range(m), 2)))
        rows = given.take(np.full(len(slates), row))
        probs = np.exp(found.log_prob(rows, slates))
        assert probs.sum() == pytest.approx(1)
        assert found.slot_probs(rows, slates).prod(axis=1) == pytest.approx(probs)
        for item, rank in itertools.product(range(m), range(2)):
            assert ranks[row, item, rank] == pytest.approx(probs[slates[:, rank] == item].sum())


@pytest.mark.parametrize("greedy", [False, True])
def test_draws_follow_the_law(tmp_path: Path, greedy: bool) -> None:
    found, rows = Linear(saved(tmp_path), greedy=greedy), contexts().take(np.zeros(20_000, dtype=np.int64))
    slates = found.sample(rows, np.random.default_rng(0))
    expected = found.rank_probs(contexts(), all_items(contexts()))[0]
    for rank in range(2):
        share = np.bincount(slates[:, rank], minlength=4) / len(slates)
        assert share == pytest.approx(expected[:, rank], abs=0.015)


def test_scores_are_sums_of_weights_and_repeated_features_add_up(tmp_path: Path) -> None:
    scores = Linear(saved(tmp_path), temperature=2.0).log_scores(contexts())
    assert scores == pytest.approx(np.array([[5.7, 4.6, 5.2, 5.2], [-0.4, 1.4, 0.2, 0]]) / 2)


def test_ties_share_their_ranks_whatever_the_order_of_the_candidates(tmp_path: Path) -> None:
    found = Linear(saved(tmp_path, weights=np.zeros(16)), greedy=True)
    probs = np.exp(found.log_prob(contexts(), np.array([[0, 1], [0, 1]])))
    assert probs == pytest.approx([1 / 12, 1 / 6])


def test_file_holds_everything(tmp_path: Path) -> None:
    encoding = Encoding(4, np.arange(16) == 3, np.where(np.arange(16) == 1, 0.5, 1.0), cross=True)
    again = Model.load(saved(tmp_path, encoding))
    assert again.encoding.cross
    assert (again.encoding.context == encoding.context).all()
    assert (again.encoding.scale == encoding.scale).all()
    assert (again.weights == WEIGHTS).all()
    assert again.facts == {"method": "test"}


def test_crossings_let_the_context_matter(tmp_path: Path) -> None:
    encoding = Encoding(4, np.isin(np.arange(16), [3, 4]), np.ones(16), cross=True)
    weights = np.random.default_rng(0).normal(size=16)
    found = Linear(saved(tmp_path, encoding, weights))
    scores = found.log_scores(contexts([[[0, 3], [1, 3]], [[0, 4], [1, 4]]]))
    assert scores[0, 0] - scores[0, 1] != pytest.approx(scores[1, 0] - scores[1, 1])


def test_large_indices_are_hashed(tmp_path: Path) -> None:
    lines = Encoding.plain(4).lines(contexts([[[16], [10**12], [3]]]))
    assert ((lines.indices >= 0) & (lines.indices < 16)).all()
    assert lines.indices[2] == 3


def test_spelling(tmp_path: Path) -> None:
    found = policy(f"linear({saved(tmp_path)!r}, greedy=True)")
    assert found == offrank.Linear(saved(tmp_path), greedy=True)
    assert policy(repr(found)) == found


def test_what_is_no_policy_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no")
    np.savez(tmp_path / "other.npz", a=np.zeros(1))
    for name in ("absent.npz", "text.npz", "other.npz"):
        with pytest.raises(UsageError, match=name):
            _ = Linear(str(tmp_path / name)).model
    with pytest.raises(UsageError, match="temperature"):
        Linear("policy.npz", temperature=0)
    with pytest.raises(UsageError, match="bits"):
        Encoding.plain(40)
    without = Contexts(np.zeros((1, 2), dtype=np.int64), np.array([2]), np.array([1]))
    with pytest.raises(UsageError, match="features"):
        Linear(saved(tmp_path)).log_scores(without)


MALFORMED = {
    "no such version": {"format": np.array([np.inf, 1, 0])},
    "a table of 2^34 numbers": {"format": np.array([1, 34, 0])},
    "texts": {"weights": np.array(["1", "2"])},
    "no number": {"weights": np.array([np.nan])},
    "too many": {"weights": np.zeros(99)},
    "outside": {"indices": np.array([10**9])},
    "facts": {"facts": np.zeros(3, np.uint8)},
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_file_is_refused_by_name(case: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    saved(tmp_path)
    with np.load(path) as found:
        arrays = dict(found)
    save_arrays(path, arrays | MALFORMED[case])
    with pytest.raises(UsageError, match=r"policy\.npz"):
        _ = Linear(str(path)).model


def test_any_byte_that_is_another_is_told(tmp_path: Path) -> None:
    path, rng = Path(saved(tmp_path)), np.random.default_rng(0)
    whole, weights = path.read_bytes(), Linear(str(path)).model.weights
    for place in range(len(whole)):
        broken = bytearray(whole)
        broken[place] ^= int(rng.integers(1, 256))
        path.write_bytes(broken)
        with pytest.raises(UsageError, match=r"policy\.npz' is not a learnt policy"):
            Model.load(path)
    path.write_bytes(whole)
    assert np.array_equal(Model.load(path).weights, weights)


def test_a_file_of_earlier_releases_has_no_checksum(tmp_path: Path) -> None:
    path = saved(tmp_path)
    weights = Model.load(path).weights
    with np.load(path) as found:
        arrays = dict(found)
    np.savez(path, **arrays)
    with pytest.raises(UsageError, match="its checksum is missing"):
        Model.load(path)
    arrays["format"][0] = 1
    np.savez(path, **arrays)
    assert np.array_equal(Model.load(path).weights, weights)


def test_a_file_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(tmp_path)
    with np.load(path) as found:
        save_arrays(path, {"zeros": np.zeros(300_000, np.uint8), **found})
    assert Linear(path).model.weights.any()  # some zeros more are nothing to refuse
    monkeypatch.setattr("offrank.language.files._UNPACKED", 100_000)
    with pytest.raises(UsageError, match=r"policy\.npz.* is not a learnt policy"):
        _ = Linear(path).model
