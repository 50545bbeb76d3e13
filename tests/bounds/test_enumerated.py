"""Bounds beside every world that a small log allows: both ends are reached, for targets and for differences."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import offrank
from offrank.bounds.ends import Bounds
from offrank.errors import RowError, UsageError
from tests.cli.commands import call

SLATES = list(itertools.permutations(range(3), 2))
SHOWN = {0: [(0, 1), (2, 1)], 1: [(1, 0)]}
EARNED = {(0, (0, 1)): 0.25, (0, (2, 1)): 1.0, (1, (1, 0)): 0.5}
NEW = {0: [1.0, 0.0, 2.0], 1: [3.0, 1.0, 2.0]}
"""Query 0: items 2, 0, and query 1: items 0, 2; neither was shown."""
OTHER = {0: [0.0, 1.0, 2.0], 1: [3.0, 1.0, 2.0]}
"""Query 0: items 2, 1, which was shown; query 1 as NEW."""


def rewards(**more: Any) -> pa.Table:
    """Two queries of equally many rows; each slate earns what EARNED says, by two rewards or four."""
    rows = []
    for query, slates in SHOWN.items():
        for slate in slates * (2 // len(slates)):
            mean = EARNED[query, slate]
            for reward in (mean, mean) if mean in (0.0, 1.0) else (0.0, 2 * mean):
                row = {"query": query, "slate": list(slate), "reward": reward, "candidates": [0, 1, 2]}
                rows.append({**row, "new": NEW[query], "other": OTHER[query], "side": "ab"[query], **more})
    return pa.Table.from_pylist(rows)


def law(name: str, query: int) -> np.ndarray:
    """The probability of each of SLATES."""
    if name == "uniform":
        return np.full(len(SLATES), 1 / len(SLATES))
    scores = np.array((NEW if "new" in name else OTHER)[query])
    if name.startswith("top"):
        return np.array([float(slate == tuple(np.argsort(-scores)[:2])) for slate in SLATES])
    return np.array([scores[a] / scores.sum() * scores[b] / (scores.sum() - scores[a]) for a, b in SLATES])


def ends(coefficients: dict[int, np.ndarray]) -> tuple[float, float]:
    """The least and the largest of the mean over queries of coefficients times rewards, each reward 0 or 1 or known."""
    worlds = {
        query: [
            sum(c * EARNED.get((query, slate), bit) for c, slate, bit in zip(each, SLATES, bits, strict=True))
            for bits in itertools.product([0, 1], repeat=len(SLATES))
        ]
        for query, each in coefficients.items()
    }
    return tuple(float(np.mean([pick(one) for one in worlds.values()])) for pick in (min, max))  # type: ignore[return-value]


def values(found: Bounds) -> list[float]:
    return [found.lower.value, found.upper.value, found.difference_lower.value, found.difference_upper.value]


@pytest.mark.parametrize("target", ["top(new)", "top(other)", "uniform", "plackett_luce(new)"])
def test_both_ends_of_whole_slates_are_reached(target: str) -> None:
    (found,) = offrank.evaluate(rewards(), target, bounds=True, reward_range=[0, 1]).bounds[target]
    of_target = {query: law(target, query) for query in SHOWN}
    low, high = ends(of_target)
    logged = np.mean([np.mean([EARNED[query, slate] for slate in slates]) for query, slates in SHOWN.items()])
    assert values(found) == pytest.approx([low, high, low - logged, high - logged])
    shown = np.mean([sum(of_target[q][SLATES.index(slate)] for slate in slates) for q, slates in SHOWN.items()])
    assert found.shown == pytest.approx(shown)
    assert found.assumes_in_words == "that rows of one query are alike and a slate earns from 0 to 1"


@pytest.mark.parametrize(
    "pair", [("top(new)", "top(other)"), ("uniform", "top(new)"), ("top(other)", "plackett_luce(new)")]
)
def test_both_ends_of_a_difference_of_whole_slates_are_reached(pair: tuple[str, str]) -> None:
    """A slate that both targets may show, and the log never did, earns the same for both."""
    one, other = pair
    asked = offrank.compare(rewards(), {"one": one, "other": other}, bounds=True, reward_range=[0, 1], baseline="other")
    (found,) = asked.bounds["one"]
    assert list(asked.bounds) == ["one"]
    assert found.part.against == "other"
    low, high = ends({query: law(one, query) - law(other, query) for query in SHOWN})
    assert values(found)[2:] == pytest.approx([low, high])
    apart = [ends({query: law(name, query) for query in SHOWN}) for name in pair]
    assert high - low < apart[0][1] - apart[1][0] - (apart[0][0] - apart[1][1]) - 0.1  # sharper than both alone


def test_a_target_beside_itself() -> None:
    for policy in ("uniform", "top(new)"):
        asked = offrank.compare(rewards(), {"a": policy, "b": policy}, bounds=True, reward_range=[0, 1])
        assert values(asked.bounds["b"][0])[2:] == [0, 0]


def clicks(curve: list[float]) -> pa.Table:
    """One query, whose list is 0, 1, 2 of five items; clicks at the first rank always, at the third in half."""
    rows = [
        {
            "query": "q",
            "slate": [0, 1, 2],
            "clicks": [1, 0, one],
            "candidates": list(range(5)),
            "new": [1.0, 0.0, 2.0, 4.0, 3.0],
            "other": [3.0, 0.0, 1.0, 4.0, 2.0],
            "side": "ab"[one],
        }
        for one in (0, 1) * 3
    ]
    return pa.Table.from_pylist(rows)


CURVE = [1.0, 0.5, 0.4]
ONE, OTHER_ONE = (3, 4, 2), (3, 0, 4)  # what `new` and `other` show; items 3 and 4 were never shown


def test_a_difference_of_clicks_counts_what_both_show_once() -> None:
    asked = offrank.compare(
        clicks(CURVE), ["top(new)", "top(other)"], bounds=True, examination=CURVE, baseline="top(new)"
    )
    plain, curved = asked.bounds["top(other)"]
    seen = {(0, 0): 1.0, (1, 1): 0.0, (2, 2): 0.5}
    unknown = sorted({(item, rank) for slate in (ONE, OTHER_ONE) for rank, item in enumerate(slate)} - set(seen))
    found = []
    for bits in itertools.product([0.0, 1.0], repeat=len(unknown)):
        chance = {**seen, **dict(zip(unknown, bits, strict=True))}
        found.append(sum(chance[i, k] for k, i in enumerate(OTHER_ONE)) - sum(chance[i, k] for k, i in enumerate(ONE)))
    assert values(plain)[2:] == pytest.approx([min(found), max(found)])
    found = []
    for three, four in itertools.product([0.0, 1.0], repeat=2):
        relevance = [1.0, 0.0, 0.5 / CURVE[2], three, four]
        found.append(sum((relevance[i] - relevance[j]) * p for i, j, p in zip(OTHER_ONE, ONE, CURVE, strict=True)))
    assert values(curved)[2:] == pytest.approx([min(found), max(found)])


def test_a_curve_that_peaks_below_the_first_rank() -> None:
    """No rank is clicked more often than always, so that an item clicks at most 1 / 1.25 at the first."""
    curve = [1.0, 1.25, 0.5]
    _, found = offrank.evaluate(clicks(curve), "top(new)", bounds=True, examination=curve).bounds["top(new)"]
    known = 0.5
    assert found.upper.value == pytest.approx(known + 1.0 / 1.25 + 1.25 / 1.25)


def test_groups_are_as_logs_of_their_own() -> None:
    whole = rewards()
    result = offrank.evaluate(whole, "top(new)", bounds=True, reward_range=[0, 1], by="side")
    assert set(result.group_bounds) == {"a", "b"}
    for side, found in result.group_bounds.items():
        alone = whole.filter(pa.compute.equal(whole["side"], side))
        (wanted,) = offrank.evaluate(alone, "top(new)", bounds=True, reward_range=[0, 1]).bounds["top(new)"]
        assert values(found["top(new)"][0]) == pytest.approx(values(wanted))
        assert found["top(new)"][0].part.group == side
    said = " ".join(str(result).split())
    assert "Between what values, by side: top(new)" in said
    assert [row["group"] for row in result.to_dict()["bounds"]] == [None, "a", "b"]


def test_printed_by_compare(tmp_path: Any) -> None:
    path = tmp_path / "log.parquet"
    pa.parquet.write_table(rewards(), path)
    how = ["--bounds", "--reward-range", "0,1", "--json", str(tmp_path / "out.json")]
    found = call("compare", str(path), "--target", "a=top(new)", "--target", "b=top(other)", *how)
    said = " ".join(found.output.split())
    assert "Unknown. b minus a is between 0 and +0.50 per impression" in said
    assert "assuming that rows of one query are alike and a slate earns from 0 to 1." in said
    assert "b alone would have earned between " in said
    (saved,) = json.loads((tmp_path / "out.json").read_text())["bounds"]
    assert (saved["target"], saved["against"]) == ("b", "a")
    assert not offrank.compare(path, {"a": "top(new)", "b": "top(other)"}, bounds=True, reward_range=[0, 1]).meets(
        "better"
    )


def test_several_differences_hold_together() -> None:
    how: dict[str, Any] = {"bounds": True, "reward_range": [0, 1]}
    two = offrank.compare(rewards(), ["top(other)", "top(new)", "uniform"], **how, confidence=0.9)
    one = offrank.compare(rewards(), ["top(other)", "top(new)"], **how, confidence=0.95)
    both = (each.bounds["top(new)"][0].difference_lower.low for each in (two, one))
    assert next(both) == pytest.approx(next(both))  # .95 each
    again = one.at(0.9).at(0.95).bounds["top(new)"][0]
    assert again.difference_upper.high == one.bounds["top(new)"][0].difference_upper.high


def test_refusals_of_ranges() -> None:
    with pytest.raises(UsageError, match="need the range"):
        offrank.evaluate(rewards(), "top(new)", bounds=True)
    with pytest.raises(RowError, match=r"row 1 .*'reward'.*0.5 is outside of the range from 0 to 0.4"):
        offrank.evaluate(rewards(), "top(new)", bounds=True, reward_range=[0, 0.4])
    for wrong in ([1, 0], [0], "0", [0, np.inf], 3):
        with pytest.raises(UsageError, match="smallest and the largest"):
            offrank.evaluate(rewards(), "top(new)", bounds=True, reward_range=wrong)
    with pytest.raises(UsageError, match="for bounds only"):
        offrank.evaluate(rewards(), "top(new)", reward_range=[0, 1])
