"""Router logs with rows that were thinned out, and with a new router beside the old one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import ColumnError

FORM = "router(chosen=model, reward=reward, propensity=propensity{})"


def world() -> list[dict[str, Any]]:
    rng = np.random.default_rng(8)
    rows = []
    for number in range(3000):
        team = number % 3
        law = np.roll([0.5, 0.3, 0.2], team)
        chosen = int(rng.choice(3, p=law))
        reward = int(rng.random() < (0.2, 0.4, 0.6)[chosen])
        row = {"id": number, "model": "abc"[chosen], "propensity": float(law[chosen]), "reward": reward}
        row |= {"new_model": "cab"[team], "probs": dict(zip("abc", map(float, law), strict=True))}
        row |= {"new_probs": {"c": 0.6, "a": 0.1, "b": 0.3}, "keep": 1.0 if reward else 0.25}
        if rng.random() < row["keep"]:
            rows.append(row)
    return rows


LOG = world()


def snips(new: list[float]) -> float:
    weight = np.array(new) / [row["propensity"] * row["keep"] for row in LOG]
    return float(np.average([row["reward"] for row in LOG], weights=weight))


def plain(**more: str) -> list[dict[str, Any]]:
    """The rows without objects. more: other names of columns."""
    kept = ("id", "model", "propensity", "reward", "new_model", "keep")
    return [{more.get(name, name): row[name] for name in kept} for row in LOG]


def value(log: Any, target: str, form: str | None) -> float:
    return offrank.evaluate(offrank.read_log(log, format=form), target, "logged", "snips")["snips"].value


SAME = [float(row["model"] == row["new_model"]) for row in LOG]


def test_the_rate_of_kept_rows_and_the_new_choice_are_columns() -> None:
    assert value(plain(), "ranking(new_model)", FORM.format(", inclusion=keep")) == pytest.approx(snips(SAME))


@pytest.mark.parametrize("name", ["keep_prob", "keep_rate", "sample_rate"])
def test_a_rate_is_known_by_its_name(name: str) -> None:
    assert value(plain(keep=name), "ranking(new_model)", None) == pytest.approx(snips(SAME))


def test_the_probability_of_dropping_a_row() -> None:
    log = [{**row, "pdrop": 1 - row["keep"]} for row in plain()]
    log = [{name: one for name, one in row.items() if name != "keep"} for row in log]
    assert value(log, "ranking(new_model)", None) == pytest.approx(snips(SAME))


def test_a_new_router_as_an_object_of_probabilities() -> None:
    new = [row["new_probs"][row["model"]] for row in LOG]
    form = "router(probs=probs, inclusion=keep)"
    assert value(LOG, "plackett_luce(new_probs)", form) == pytest.approx(snips(new))
    written = [{name: one for name, one in row.items() if name != "probs"} for row in LOG]
    assert value(written, "plackett_luce(new_probs)", FORM.format(", inclusion=keep")) == pytest.approx(snips(new))


def test_an_object_of_probabilities_tells_the_choice_whatever_it_is_called() -> None:
    log = [{"request": row["id"], "creative": row["model"], "success": row["reward"]} for row in LOG]
    log = [{**row, "probs": each["probs"], "new_probs": each["new_probs"]} for row, each in zip(log, LOG, strict=True)]
    form = "router(chosen=creative, reward=success, probs=probs)"
    assert offrank.inspect(log).format == form
    named = [{"weights" if name == "probs" else name: one for name, one in row.items()} for row in log]
    with pytest.raises(ColumnError):  # two objects, neither called the one by which it was chosen
        offrank.read_log(named)
    alone = [{name: one for name, one in row.items() if name != "new_probs"} for row in named]
    assert offrank.inspect(alone).format == form.replace("probs=probs", "probs=weights")
    halved = [{**row, "weights": {name: one / 2 for name, one in row["weights"].items()}} for row in alone]
    with pytest.raises(ColumnError):
        offrank.read_log(halved)
