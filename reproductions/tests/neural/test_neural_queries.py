"""Neural click models know the query, and say where they lose to `ubm`."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from offrank.clicks import UBM, Fitted, click_model, load
from offrank.clicks.laws import log_probs
from offrank.clicks.model import CLICK_MODELS
from offrank.clicks.sessions import Sessions
from offrank.errors import UsageError
from offrank.readers.log import read_log
from offrank_papers.neural import CACM, NCM
from offrank_papers.neural.models import RecurrentModel, behind_ubm
from offrank_papers.neural.training import hold_out
from reproductions.tests.neural.networks import BESIDE, learnt, quick, slots
from tests.clicks import test_storage, test_summary
from tests.clicks.aged import aged
from tests.clicks.readers import log

# One worker: what these tests share is made once.
pytestmark = [pytest.mark.xdist_group("neural"), pytest.mark.turns(6)]

__all__ = ["quick"]

# Queries --------------------------------------------------------------------------------------------------------------

KINDS: dict[str, RecurrentModel] = {
    "ncm": NCM(hidden=4, embedding=4, batch=64, rate=0.1, prior=1.0, dropped=0.2, epochs=40, validation=0.0),
    "cacm": CACM(hidden=4, batch=64, rate=0.2, dropped=0.2, epochs=40, validation=0.0),
}


@pytest.fixture(scope="module", params=KINDS)
def by_query(request: pytest.FixtureRequest) -> Fitted:
    """Learnt from lists of one document: those of the first query are nearly always clicked, of the second never."""
    pytest.importorskip("jax")
    pytest.importorskip("optax")
    rows = [
        (query, item, int(query == "good" and i < 9))
        for query in ("good", "bad")
        for item in (1, 2, 3)
        for i in range(10)
    ]
    query, item, click = zip(*rows, strict=True)
    made = log([[one] for one in item], [[one] for one in click], query=list(query))
    return KINDS[request.param].fit(made)


def top_chance(fitted: Fitted, query: str, slate: list[int]) -> tuple[float, float]:
    """(click at the top, relevance of the first item)."""
    batch = next(iter(read_log(log([slate], [[0] * len(slate)], query=[query])).select(fitted.needs()).batches(0)))
    return float(fitted.click_probs(batch.contexts, batch.slates)[0, 0]), float(fitted.relevance(batch.contexts)[0, 0])


def test_new_documents_of_a_known_query_are_like_its_own(by_query: Fitted) -> None:
    good, unknown, bad = (top_chance(by_query, query, [7, 8]) for query in ("good", "new", "bad"))
    for quantity in (0, 1):
        assert good[quantity] > 0.6
        assert bad[quantity] < 0.2
        assert unknown[quantity] not in (good[quantity], bad[quantity])


def test_queries_outlive_a_file(by_query: Fitted, tmp_path: Path) -> None:
    by_query.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    for query, slate in (("good", [7, 8]), ("bad", [7]), ("new", [7]), ("good", [1, 8]), ("new", [1])):
        assert top_chance(again, query, slate) == top_chance(by_query, query, slate)
    assert by_query.learnt.info["queries"] == 2
    earlier = aged(tmp_path / "m.json")
    earlier["parameters"]["query_of"] = earlier["parameters"].pop("query")
    (tmp_path / "m.json").write_text(json.dumps(earlier))
    with pytest.raises(UsageError, match=r"query, query_of[\s\S]*fit the model again"):
        load(tmp_path / "m.json")


def test_without_queries_none_is_read() -> None:
    pytest.importorskip("jax")
    pytest.importorskip("optax")
    fitted = replace(KINDS["ncm"], epochs=1).fit(log())
    assert fitted.learnt.parameters["query_embedding"].shape[0] == 1
    assert "queries: skipped" in str(fitted)
    assert fitted.examination() is None


@pytest.mark.slow
def test_a_neural_model_is_kept_too(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    pytest.importorskip("optax")
    kept = test_storage.fitted("ncm(epochs=1)")
    kept.save(tmp_path / "m.json")
    test_storage.assert_same(load(tmp_path / "m.json"), kept)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["ncm", "cacm"])
def test_recurrent_models_declare_their_tables(text: str) -> None:
    pytest.importorskip("jax")
    model = click_model(f"{text}(hidden=2, epochs=1)")
    fitted = model.fit(test_summary.log(6, 3, 60))
    assert set(model.roles()) == set(fitted.learnt.parameters)
    told = str(fitted)
    assert "of an unseen document" not in told
    assert "document_embedding (7 x " in told


def test_offrank_says_where_they_are() -> None:
    for name in KINDS:
        message, remedy = CLICK_MODELS.gone[name]
        assert "offrank-papers" in message
        assert f"`import {NCM.__module__.rpartition('.')[0]}`" in remedy


# Beside ubm -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ahead", "severity"), [(-0.0197, "warning"), (-0.0195, "note")])
def test_1_96_standard_errors_are_clear(ahead: float, severity: str) -> None:
    assert behind_ubm("ncm", ahead, 0.01, 1000).severity == severity


def test_a_network_behind_ubm_says_so() -> None:
    rng = np.random.default_rng(3)
    document = rng.permuted(np.tile(np.arange(8), (2000, 1)), axis=1)[:, :3]
    click = rng.random(document.shape) < np.linspace(0.05, 0.95, 8)[document]
    data = Sessions(document.astype(np.int32), click.astype(np.uint8), np.ones(2000), 8)
    found = learnt(NCM(hidden=4, embedding=4, rate=1e-4, epochs=1), data)
    (caution,) = found.cautions
    assert (caution.code, caution.severity) == ("behind-ubm", "warning")
    (ahead, error) = (float(word) for word in re.findall(r"[-+]?[.\d]+", found.info[BESIDE])[:2])
    assert ahead < -5 * error < 0

    # The figures, from both models' laws on the sessions that the same seed holds out.
    known, held = hold_out(data.weight, 0.1, np.random.default_rng(0))
    ubm = UBM()
    other = ubm.learn(ubm.from_sessions(replace(data, weight=np.maximum(known, 1e-12)))).parameters
    laws = NCM(hidden=4, embedding=4).law(found.parameters, slots(document)), ubm.law(other, slots(document))
    mine, theirs = (log_probs(law, click.astype(float))[held > 0] for law in laws)
    assert ahead == pytest.approx((mine - theirs).mean(), abs=5e-3)  # as it is said, by its error
    assert error == pytest.approx((mine - theirs).std() / math.sqrt(len(mine)), abs=5e-3)
    assert f"On {len(mine):,} held-out sessions, the log-likelihood of ncm is {-ahead:.3f}" in caution.message
