"""Documents learnt some queries after others, in narrow numbers, are what they are when learnt all at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from offrank.clicks import CCM, CM, DBN, DCM, SDBN
from offrank.clicks import chain as chain_module
from offrank.clicks.chain import Chain
from offrank.clicks.fit import compressed_sessions
from offrank.clicks.fit.chain_em import EM
from offrank.clicks.fit.compressed_sessions import ManyTails, SessionTails
from offrank.clicks.fit.continuation import continuation_trials
from offrank.clicks.fit.design import PriorDesign
from offrank.clicks.fit.priors import Beta, PriorRegression
from offrank.clicks.sessions import Sessions, collapsed

every = pytest.mark.parametrize("model", [CM(), DCM(), CCM(), DBN(), SDBN()], ids=str)


def sessions(documents: int, n: int, seed: int, *, by_query: bool) -> Sessions:
    """Some of four documents of a query in four slots, with holes, empty slates, and weights."""
    rng = np.random.default_rng(seed)
    query = np.arange(documents) // 4
    number = np.arange(documents) if by_query else rng.permutation(documents)
    shown = 4 * rng.integers(documents // 4, size=n)[:, None] + rng.random((n, 4)).argsort(axis=1)
    document = np.where(rng.random((n, 4)) < 0.2, -1, number[shown]).astype(np.int32)
    click = (rng.random((n, 4)) < [0.5, 0.3, 0.2, 0.1]) & (document >= 0)
    known = np.empty(documents, np.int64)
    known[number] = query
    found = Sessions(document, click.astype(np.uint8), rng.choice([1.0, 2.5], n), documents)
    return replace(found, query=known)


@every
def test_parts_make_up_the_whole(model: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed_sessions, "_DOCUMENTS", 13)
    data, _ = model.readable(sessions(80, 900, 1, by_query=True))
    rng, prior = np.random.default_rng(2), Beta(0.3, 0.7)
    many = ManyTails.of(data, by_rank=model.by_rank)
    assert [(rows.start, rows.stop) for rows, _ in many.each] == [
        (0, 12),
        (12, 24),
        (24, 36),
        (36, 52),
        (52, 64),
        (64, 76),
        (76, 81),
    ]
    assert {tails.document.dtype for _, tails in many.each} == {np.dtype(np.int16)}
    tails = SessionTails.of(data, by_rank=model.by_rank)
    apart, whole = (EM(model, one, dict.fromkeys(model.tables, prior), len) for one in (many, tails))
    here = {**whole.initial()[0], **{name: rng.uniform(0.1, 0.9, 81) for name in model.tables}}
    for name, table in apart.initial()[0].items():
        assert table == pytest.approx(whole.initial()[0][name], rel=1e-12)
    for name, known in apart.known(here).items():
        assert known == pytest.approx(whole.known(here)[name], rel=1e-9, abs=1e-9)
    if model.begin:
        for mine, theirs in zip(continuation_trials(apart, here), continuation_trials(whole, here), strict=True):
            assert mine == pytest.approx(theirs, rel=1e-12)
    mine, theirs = (em.climbed(here, {}, 1e-6, 30) for em in (apart, whole))
    assert mine.trace == pytest.approx(theirs.trace, rel=1e-12)
    for name, table in mine.parameters.items():
        assert table == pytest.approx(theirs.parameters[name], rel=1e-9)


@every
@pytest.mark.parametrize("prior", ["fit", "common", (1, 3)], ids=str)
def test_documents_keep_their_numbers(model: Chain, prior: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents of a query are not next to each other: they are learnt in another order than they are numbered in.

    Sums in another order differ in their last digits, which many rounds enlarge, as an order of sessions does.
    """
    monkeypatch.setattr(chain_module, "MOST_FOR_PRIORS", 700)
    monkeypatch.setattr(compressed_sessions, "_DOCUMENTS", 200)
    model, data = replace(model, prior=prior, tolerance=1e-3), collapsed(sessions(900, 3_000, 3, by_query=False))
    parts = model.learn(data)
    monkeypatch.setattr(chain_module, "_by_query", lambda _: None)
    whole = model.learn(data)
    for name, table in whole.parameters.items():
        assert parts.parameters[name] == pytest.approx(table, rel=1e-5, abs=1e-7)
    for name, strength in whole.strength.items():
        assert parts.strength[name] == pytest.approx(strength, rel=1e-5)
    for name, loadings in whole.loadings.items():
        assert parts.loadings[name] == pytest.approx(loadings, rel=1e-4, abs=1e-6)
    assert parts.cautions == whole.cautions


def test_priors_of_documents_at_one_place_are_there_once() -> None:
    rng = np.random.default_rng(0)
    plain = PriorDesign.of_ranks(rng.integers(1, 9, 500) / 2)
    shared, prior = plain.shared(), PriorRegression(rng.standard_normal(plain.curve), rng.standard_normal(plain.curve))
    assert len(shared.place) == len(np.unique(plain.place)) < 10
    betas, expected = prior.betas(shared), prior.betas(plain)
    assert len(np.asarray(betas.a)) == len(shared.place) + 1
    for rows in (slice(None), slice(3, 90), np.array([4, 500, 0])):
        mine, theirs = betas.of(rows), expected.of(rows)
        assert mine.table == pytest.approx(theirs.table, rel=1e-12)
    assert betas.of_unseen.table == pytest.approx(expected.of_unseen.table, rel=1e-12)
    more = plain.with_covariates(rng.standard_normal((500, 1)))
    assert more.shared() is more
