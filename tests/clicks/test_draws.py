"""Draws and intervals of the posterior against integrals written out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import betaincinv

from offrank.clicks import PBM, Fitted, load
from offrank.clicks.base import FitResult
from offrank.clicks.documents import Documents
from offrank.clicks.sessions import Tally


def model(**more: Any) -> Fitted:
    tables = {
        "attraction": np.array([0.3, 0.6, 0.1]),
        "examination": np.array([1.0, 0.5]),
        "attraction_prior": np.ones(2),
    }
    strength = {"attraction": np.array([20.0, 50.0, 5.0])}
    return Fitted(PBM(), Documents(np.array([3, 7])), FitResult(tables, strength, **more), Tally(ranks=2))


def drawn(fitted: Fitted, table: str, seed: int = 0, n: int = 4000) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([fitted.draw(rng).learnt.parameters[table] for _ in range(n)])


def test_without_loadings_a_draw_is_the_beta_of_its_strength() -> None:
    found = drawn(model(), "attraction")
    value, strength = np.array([0.3, 0.6, 0.1]), np.array([20.0, 50.0, 5.0])
    assert np.allclose(found.mean(axis=0), value, atol=0.015)
    assert np.allclose(found.var(axis=0), value * (1 - value) / (strength + 1), rtol=0.1)
    assert (drawn(model(), "examination", n=3) == [1.0, 0.5]).all()  # no doubt is known of it


def test_loadings_are_shared_between_tables() -> None:
    loadings = {"attraction": np.full((3, 1), -0.5), "examination": np.array([[0.0], [0.5]])}
    fitted = model(loadings=loadings)
    rng = np.random.default_rng(1)
    each = [fitted.draw(rng).learnt.parameters for _ in range(4000)]
    a, e = (np.stack([one[name] for one in each]) for name in ("attraction", "examination"))
    assert (e[:, 0] == 1).all()  # a convention has no doubt
    logits = np.log(e[:, 1] / (1 - e[:, 1]))
    assert abs(logits.std() - 0.5) < 0.02
    # What moves the curve up moves every document down: corr = -sqrt(shared / all) of the variance.
    shared = (0.5 * 0.6 * 0.4) ** 2
    own = 0.6 * 0.4 / 51
    expected = -np.sqrt(shared / (shared + own))
    assert abs(np.corrcoef(logits, a[:, 1])[0, 1] - expected) < 0.03


def test_the_interval_has_both_parts() -> None:
    low, high = model().interval("attraction")
    assert np.allclose(low, betaincinv([6, 30, 0.5], [14, 20, 4.5], 0.025))
    loadings = {"attraction": np.array([[0.5], [0.0], [0.0]]), "examination": np.array([[0.0], [0.5]])}
    fitted = model(loadings=loadings)
    wide, wide_high = fitted.interval("attraction")
    found = drawn(fitted, "attraction", seed=2)
    assert wide[0] < low[0]
    assert wide_high[0] > high[0]
    assert np.allclose(wide[1:], low[1:])
    assert np.allclose([wide[0], wide_high[0]], np.quantile(found[:, 0], [0.025, 0.975]), atol=0.02)
    low, high = fitted.interval("examination")
    assert low[0] == high[0] == 1.0
    assert low[1] < 0.3
    assert high[1] > 0.7


def test_saved_with_its_loadings(tmp_path: Path) -> None:
    fitted = model(loadings={"attraction": np.array([[0.5], [0.1], [0.0]])})
    fitted.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert (again.learnt.loadings["attraction"] == fitted.learnt.loadings["attraction"]).all()
    one, two = (each.draw(np.random.default_rng(3)).learnt.parameters["attraction"] for each in (fitted, again))
    assert (one == two).all()
