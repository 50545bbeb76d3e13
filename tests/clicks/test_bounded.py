"""Learning always ends, and says so where the bound of its rounds ended it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.clicks.fit.em import climb

MOST = 500
"""Rounds of a climb."""


def sorted_log(sessions: int, temperature: float, *, queries: int = 3, ranks: int = 8, seed: int = 0) -> pa.Table:
    """Users with trust bias under a policy that nearly sorts by relevance."""
    rng = np.random.default_rng(seed)
    relevance = np.clip(rng.beta(1, 2, (queries, ranks)), 0.02, 0.95)
    score = np.log(relevance / (1 - relevance))
    query = rng.integers(0, queries, sessions)
    order = np.argsort(-(score[query] / temperature + rng.gumbel(size=(sessions, ranks))), axis=1, kind="stable")
    rank = np.arange(ranks)
    hit = (rank + 1.0) ** -0.7
    false = 0.25 * hit * (1 - rank / (ranks - 1))
    chance = false + (hit - false) * np.take_along_axis(relevance[query], order, axis=1)
    clicks = (rng.random(order.shape) < chance).astype(np.int8)
    return pa.table({"query": query, "slate": list(order), "clicks": list(clicks)})


@pytest.mark.turns(3)
@pytest.mark.parametrize("seed", range(3))
def test_trust_of_few_documents_seen_often_ends_by_its_tolerance(tmp_path: Path, seed: int) -> None:
    """Posteriors with a narrow peak and a long tail: their integrals hung on where they had been looked for before."""
    found = offrank.fit_clicks(sorted_log(200_000, 0.1, seed=seed), "trust", tmp_path / "trust.json").fitted
    assert found.learnt.rounds <= MOST
    assert found.learnt.converged
    assert "unsettled" not in {caution.code for caution in found.cautions}
    assert np.diff(found.learnt.trace).min() >= -1e-3  # of a log-likelihood of 600,000


@pytest.mark.parametrize(("most", "codes"), [(3, {"unsettled"}), (MOST, set())])
def test_a_bound_that_ends_learning_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, codes: set[str]
) -> None:
    bounded = lambda step, here, **how: climb(step, here, **{**how, "rounds": most})  # noqa: E731
    monkeypatch.setattr("offrank.clicks.fit.chain_em.climb", bounded)
    result = offrank.fit_clicks(sorted_log(300, 10.0), "dbn", tmp_path / "dbn.json")
    told = {caution["code"] for caution in result.to_dict()["cautions"]}
    assert told & {"unsettled"} == codes
    assert ("not converged" in str(result)) == bool(codes)
