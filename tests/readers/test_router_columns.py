"""Router logs with rows that were thinned out, and with a new router beside the old one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import AbilityError, ColumnError

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


def test_a_choice_under_names_that_nobody_knows_is_told_by_the_object_of_its_options() -> None:
    rows = [{"tenant": row["id"] % 7, "routed_to": row["model"], "routing": row["probs"]} for row in LOG]
    rows = [{**one, "judge_score": row["reward"], "cost": 0.1} for one, row in zip(rows, LOG, strict=True)]
    log = offrank.read_log(rows)
    assert log.description.format == "router(chosen=routed_to, reward=judge_score, probs=routing)"
    said = "router(chosen=routed_to, reward=judge_score, propensity=routing)"
    law = "plackett_luce(probs)"
    either = [offrank.evaluate(offrank.read_log(rows, format=how), law, "logged", "ips") for how in (None, said)]
    assert either[0]["ips"].value == either[1]["ips"].value == pytest.approx(np.mean([row["reward"] for row in LOG]))


def test_what_a_choice_earned_may_be_a_flag_and_is_asked_for_where_it_is_unclear() -> None:
    rows = [{"routed_to": row["model"], "routing": row["probs"], "cost_usd": 0.1 * row["id"]} for row in LOG]
    flags = [{**one, "thumbs_up": row["id"] % 3 // 2} for one, row in zip(rows, LOG, strict=True)]
    assert offrank.inspect(flags).format == "router(chosen=routed_to, reward=thumbs_up, probs=routing)"
    unclear = offrank.inspect([{**one, "zufrieden": row["id"] % 2} for one, row in zip(rows, LOG, strict=True)])
    assert "format='router(chosen=routed_to, reward=NAME, probs=routing)'" in unclear.why


@pytest.mark.parametrize("other", [{"judge_rating": 1}, {"position": 1}])
def test_what_may_be_another_reward_or_a_list_is_no_choice(other: dict[str, int]) -> None:
    rows = [{"routed_to": row["model"], "routing": row["probs"], "judge_score": row["reward"], **other} for row in LOG]
    assert offrank.inspect(rows).logging is None


def test_rewards_in_words() -> None:
    words = [{**row, "reward": "YN"[row["reward"] == 0]} for row in plain()]
    form = FORM.format(", inclusion=keep")
    assert value(words, "ranking(new_model)", form) == value(plain(), "ranking(new_model)", form)
    words[5]["reward"] = "perhaps"
    with pytest.raises(ColumnError, match="not numbers"):
        value(words, "ranking(new_model)", form)


def test_a_format_that_was_said_and_does_not_fit_is_what_inspect_tells() -> None:
    assert "has no column 'rate'" in str(offrank.inspect(LOG, format="router(propensity=rate)").why)


def test_without_probabilities_they_are_counted() -> None:
    """Of three rows of a query two chose a, which earned 1 and 4, and one b, which earned 7: b earns 7."""
    chosen, earned = ["a", "a", "b"] * 40, [1.0, 4.0, 7.0] * 40
    rows = [{"query": "q", "model": one, "reward": each, "new": "b"} for one, each in zip(chosen, earned, strict=True)]
    log = offrank.read_log(rows, format="router(propensity='')")
    counted = offrank.evaluate(log, "ranking(new)", "counted(by=query)", ["ips", "snips"], cluster=None)
    assert [counted[name].value for name in ("ips", "snips")] == pytest.approx([7, 7])
    assert counted["ips"].mean_weight == pytest.approx(1)


def test_of_longer_slates_counting_tells_no_probability() -> None:
    rows = [{"query": "q", "slate": ["a", "b"], "clicks": [1, 0]}] * 30
    with pytest.raises(AbilityError, match="cannot give the probability of a slate"):
        offrank.evaluate(rows, "uniform", "counted(by=query)", "snips")
