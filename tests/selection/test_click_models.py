"""Choosing a click model: each strategy written out by hand, and averages against every subset one by one."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from offrank.errors import UsageError
from offrank.selection.click_models import BEST, STRATEGIES, MeasuredModel, choose, select
from offrank.selection.strategies import Keep, Strategy, strategy
from offrank.sums.estimate import Interval
from offrank_papers.cmip.regret import average_regret, average_regrets, regret

MODELS = [
    MeasuredModel("A", perplexity=1.20, ndcg=0.90, cmip=0.30),
    MeasuredModel("B", perplexity=1.21, ndcg=0.85, cmip=0.20),
    MeasuredModel("C", perplexity=1.22, ndcg=0.80, cmip=0.10),
    MeasuredModel("D", perplexity=1.23, ndcg=0.95, cmip=0.05),
    MeasuredModel("E", perplexity=1.24, ndcg=0.70, cmip=0.01),
    MeasuredModel("F", perplexity=1.25, ndcg=0.99, cmip=0.40),
]


@pytest.mark.parametrize(
    ("by", "kept", "name"),
    [
        ("ppl", "ABCDEF", "A"),
        ("ndcg", "ABCDEF", "F"),
        ("cmip", "ABCDEF", "E"),
        ("top-4 ndcg: ppl", "ABDF", "A"),
        ("top-4 ppl: ndcg", "ABCD", "D"),
        ("top-4 cmip: ppl", "BCDE", "B"),
        ("top-4 cmip: ndcg", "BCDE", "D"),
        ("top-4 cmip, top-4 ndcg: ppl", "BD", "B"),
        ("top-4 cmip, top-4 ppl: ndcg", "BCD", "D"),
        ("top-2 ppl: cmip", "AB", "B"),
        ("top-3 cmip: ppl", "CDE", "C"),
        ("top-1 ndcg, top-5 cmip, top-6 ppl: ndcg", "ABCDEF", "F"),  # F is in no top-5 by CMIP: all remain
    ],
)
def test_strategies_by_hand(by: str, kept: str, name: str) -> None:
    choice = choose(MODELS, by)
    assert ("".join(choice.kept), choice.name, choice.strategy) == (kept, name, by)


def test_the_nine_of_the_paper() -> None:
    assert len(set(STRATEGIES)) == 9
    assert [str(strategy(name)) for name in STRATEGIES] == list(STRATEGIES)
    assert BEST in STRATEGIES
    assert strategy("top-4 CMIP, top-4 PPL: nDCG↑") == Strategy((Keep(4, "cmip"), Keep(4, "ppl")), "ndcg")
    assert strategy("Perplexity↓") == Strategy((), "ppl")


@pytest.mark.parametrize("by", ["", "auc", "top-4: ppl", "top-0 cmip: ppl", "top-4 cmip", "cmip: ppl", "a: b: c"])
def test_other_spellings_are_refused(by: str) -> None:
    with pytest.raises(UsageError, match="cannot read strategy"):
        strategy(by)


def test_an_empty_intersection_in_both_presets() -> None:
    by = "top-2 cmip, top-2 ppl: ndcg"  # D, E and A, B
    assert choose(MODELS, by).name == "F"
    assert choose(MODELS, by, preset="published-code").name == "D"
    assert "no model is in every top, so all remain" in choose(MODELS, by).reasons
    assert "no model is in every top, so D, E remain" in choose(MODELS, by, "published-code").reasons
    with pytest.raises(UsageError, match="preset is 'code'"):
        choose(MODELS, by, "code")  # type: ignore[arg-type]


def test_ties_stay_in_the_top_and_the_first_wins_the_last_step() -> None:
    models = [MeasuredModel(name, 1.2, 0.5, cmip) for name, cmip in zip("ABCD", [0.1, 0.2, 0.2, 0.3], strict=True)]
    choice = choose(models, "top-2 cmip: ppl")
    assert choice.kept == ("A", "B", "C")
    assert choice.name == "A"
    assert any(doubt == "perplexity does not separate A from B, C" for doubt in choice.doubts)


def test_reasons_and_doubts_in_words() -> None:
    models = [*MODELS[:4], MeasuredModel("E", 1.24, 0.70, Interval(0.08, 0.0, 0.16, 0.04))]
    choice = choose(models, "top-2 cmip: ndcg")
    assert choice.reasons == ("kept by CMIP: D, E", "of those D has the highest nDCG 0.9500")
    assert choice.doubts == ("C was dropped, although its CMIP does not differ clearly from that of E",)
    assert str(choice).splitlines() == [
        "D by `top-2 cmip: ndcg`: kept by CMIP: D, E; of those D has the highest nDCG 0.9500",
        "  but: C was dropped, although its CMIP does not differ clearly from that of E",
    ]
    assert choose(MODELS, "top-1 cmip: ndcg").reasons[-1] == "only E is left (nDCG 0.7000)"
    assert choose(MODELS, "ppl").doubts == ()
    assert "knows nothing" in choose(MODELS, "cmip").doubts[0]
    assert "keeps all 6 models" in choose(MODELS, "top-7 cmip: ppl").doubts[0]


def convicted(names: str) -> list[MeasuredModel]:
    return [replace(one, convicted=("carries-policy",) if one.name in names else ()) for one in MODELS]


def test_a_strategy_asked_for_by_name_chooses_as_published_and_says_what_convicts_its_choice() -> None:
    choice = choose(convicted("D"), "top-2 cmip: ndcg")
    assert choice.name == "D"
    assert choice.doubts[0] == "D must not be chosen (carries-policy); among the others, the choice is C"
    found = select(convicted("D"), "top-2 cmip: ndcg")
    assert "**But** D must not be chosen (carries-policy)" in found.answer().text
    assert found.to_dict()["choice"] == "D"
    assert choose(convicted("ABCDEF"), "ndcg").doubts[0] == "F must not be chosen (carries-policy)"
    assert not any("chosen" in doubt for doubt in choose(convicted("D"), "ppl").doubts)


def test_by_default_no_strategy_chooses_what_is_convicted() -> None:
    found = select(convicted("DF"))
    free = [one for one in MODELS if one.name not in "DF"]
    assert {name: one.name for name, one in found.choices.items()} == {
        name: choose(free, name).name for name in STRATEGIES
    }
    assert found.choice is not None
    assert found.to_dict()["choice"] == found.choice.name == choose(free, BEST).name
    assert found.to_dict()["excluded"] == {"D": ["carries-policy"], "F": ["carries-policy"]}
    assert "Must not be chosen: `D` (carries-policy) and `F` (carries-policy)" in found.answer().text
    assert len(found.records()) == 3 * len(MODELS)  # what was measured of them is not hidden
    assert "Must not be chosen" not in select(MODELS).answer().text


def test_where_every_model_is_convicted_there_is_no_choice() -> None:
    found = select(convicted("ABCDEF"))
    assert found.choice is None
    assert found.choices == {}
    assert found.to_dict()["choice"] is None
    assert found.answer().severity == "serious"
    assert "No model is chosen" in str(found)
    assert len(found.records()) == 3 * len(MODELS)


def test_point_estimates_are_not_ranked_against_draws_in_silence() -> None:
    models = [replace(one, points=one.name in "BC") for one in MODELS]
    said = "CMIP of B, C is computed from point estimates and contains their noise; that of the others is computed "
    said += "from posterior draws"
    assert said in choose(models, "top-2 cmip: ndcg").doubts
    assert said in choose(models, "cmip").doubts
    assert said not in choose(models, "ppl").doubts
    assert choose([replace(one, points=True) for one in MODELS], "top-2 cmip: ndcg").doubts == ()


def test_selection_of_all_nine() -> None:
    found = select(MODELS)
    assert {name: found[name].name for name in STRATEGIES} == dict(
        zip(STRATEGIES, "AFADEBDBD", strict=True)  # as by hand above
    )
    assert found.choice is not None
    assert found.choice.name == "D"
    assert found.votes == {"D": 3, "A": 2, "B": 2, "E": 1, "F": 1}
    lines = [line.split() for line in str(found).splitlines()]
    assert ["model", "perplexity", "nDCG", "CMIP"] in lines
    assert ["A", "1.2000", "0.9000", "0.3000"] in lines
    assert any(line[:6] == [*["top-4", "cmip,", "top-4", "ppl:", "ndcg"], "D"] for line in lines)
    assert "3 of 9 strategies choose it" in str(found)


def test_tables_of_rows_and_what_is_missing() -> None:
    rows = [
        {"name": "A", "perplexity": 1.2, "cmip": 0.1, "cmip_low": 0.05, "cmip_high": 0.15},
        {"name": "B", "perplexity": 1.3, "cmip": 0.2, "cmip_low": 0.1, "cmip_high": 0.3},
    ]
    found = select(pa.Table.from_pylist(rows))
    assert found == select(rows)
    assert list(found.choices) == ["ppl", "cmip", "top-4 cmip: ppl"]
    assert found.left_out["ndcg"] == "no nDCG of A, B"
    assert "0.10 (0.05 to 0.15)" in str(found)
    assert "not used: ndcg (no nDCG of A, B)" in str(found)
    assert found["cmip"].doubts[-1] == "CMIP does not separate A from B"
    assert select(rows, by="ppl").choice.name == "A"
    with pytest.raises(UsageError, match="A has no nDCG"):
        select(rows, by="ndcg")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], "no candidates"),
        ([{"perplexity": 1.2}], "has no name"),
        ([{"name": "A"}, {"name": "A"}], "several candidates are called A"),
        ([{"name": "A", "perplexity": "low"}], "perplexity of A is 'low'"),
        ([{"name": "A", "perplexity": math.nan}], "perplexity of A is nan"),
        ([{"name": "A", "perplexity": 0.7}], "perplexity of A is 0.7"),
        ([{"name": "A"}], "no strategy can be used"),
        (["A"], "'A' is not a candidate"),
    ],
)
def test_bad_tables_are_refused(rows: list[object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        select(rows)


# Regret ----------------------------------------------------------------------------------------------------------

OUTCOME = {"A": 1.30, "B": 1.25, "C": 1.26, "D": 1.22, "E": 1.40, "F": 1.35}


def test_regret_by_hand() -> None:
    assert regret(MODELS, OUTCOME, "ppl") == pytest.approx(1.30 - 1.22)
    assert regret(MODELS, OUTCOME, BEST) == 0
    assert regret(MODELS[:3], OUTCOME, "ndcg") == pytest.approx(1.30 - 1.25)
    with pytest.raises(UsageError, match="F has no out-of-distribution perplexity"):
        regret(MODELS, {name: OUTCOME[name] for name in "ABCDE"}, "ppl")
    with pytest.raises(UsageError, match="no choice"):
        average_regret(MODELS, OUTCOME, "ppl", sizes=[7])


@pytest.mark.turns(3)
@pytest.mark.parametrize("preset", ["paper", "published-code"])
@pytest.mark.parametrize("by", [*STRATEGIES, "top-1 cmip, top-2 ppl: ndcg", "top-9 ppl: cmip"])
def test_averages_are_those_of_every_subset(by: str, preset: str) -> None:
    rng = np.random.default_rng(len(by))
    tables = {metric: rng.integers(1, 6, size=(3, 7)) / 4 + 1 for metric in ("ppl", "ndcg", "cmip")}  # with ties
    outcome = rng.random((3, 7)) + 1
    found = average_regrets(tables, outcome, by, preset=preset)  # type: ignore[arg-type]
    for table in range(3):
        models = [
            MeasuredModel(name, *(float(tables[metric][table, place]) for metric in ("ppl", "ndcg", "cmip")))
            for place, name in enumerate("ABCDEFG")
        ]
        known = dict(zip("ABCDEFG", outcome[table].tolist(), strict=True))
        subsets = [list(some) for size in (5, 6, 7) for some in combinations(models, size)]
        assert len(subsets) == 29
        each = [regret(some, known, by, preset) for some in subsets]  # type: ignore[arg-type]
        assert found[table] == pytest.approx(sum(each) / 29)
        assert average_regret(models, known, by, preset=preset) == pytest.approx(found[table])  # type: ignore[arg-type]


def test_many_tables_are_fast_and_a_missing_metric_is_told() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((500, 7)) + 1
    for by in STRATEGIES:
        assert average_regrets({"ppl": values, "ndcg": values, "cmip": values}, values, by).shape == (500,)
    # Judged by the outcome itself, nothing is lost.
    assert average_regrets({"ppl": values}, values, "ppl").max() == 0
    with pytest.raises(UsageError, match="needs cmip"):
        average_regrets({"ppl": values}, values, "cmip")
