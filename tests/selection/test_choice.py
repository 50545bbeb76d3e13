"""`interpol(window=slope)` through the whole library: what is chosen, said and promised."""

from __future__ import annotations

import json

import pytest

import offrank
from offrank.errors import NoOverlapError, UsageError
from offrank.estimators import Interpol, estimator
from offrank.estimators.family import InterpolWindows, family
from offrank.selection import slope
from offrank.simulation import SearchWorld
from offrank_papers.toy import EXAMINATION, ToyWorld

TARGET = "ranking(target)"
SPELLINGS = (
    "interpol(window={})",
    "interpol(window={}, form=windowed)",
    "sninterpol(window={})",
    "clip(interpol(window={}), 100)",
    "controlled(interpol(window={}))",
)


def judged(power: float, estimators: list[str], n: int = 5_000, **options: object) -> offrank.Result:
    world = ToyWorld(n)
    return offrank.evaluate(world, TARGET, world.logging, estimators, examination=EXAMINATION**power, **options)  # type: ignore[arg-type]


@pytest.mark.turns(3)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_it_answers_as_the_window_that_it_chose(spelling: str) -> None:
    key, fixed = spelling.format("slope"), [spelling.format(window) for window in range(10)]
    result = judged(1.8, [key, *fixed])
    one, several = result[key], [result[name] for name in fixed]
    choice = slope([e.value for e in several], [e.standard_error for e in several])
    assert one.chosen == fixed[choice.index]
    chosen, first = several[choice.index], several[0]
    same = (chosen.value, chosen.standard_error, chosen.ess, min(chosen.low, first.low), max(chosen.high, first.high))
    assert (one.value, one.standard_error, one.ess, one.low, one.high) == pytest.approx(same, rel=1e-12)
    assert one.difference is not None
    assert chosen.difference is not None
    assert first.difference is not None
    assert one.difference.value == pytest.approx(chosen.difference.value, rel=1e-12)
    assert one.difference.low == pytest.approx(min(chosen.difference.low, first.difference.low), rel=1e-12)
    assert choice.refuted is not None
    why = next(caution for caution in one.warnings if caution.code == "chosen")
    assert f"`{fixed[choice.index]}`" in why.message
    assert f"`{fixed[choice.refuted]}`" in why.message


def test_the_right_curve_gives_a_wide_window_and_a_wrong_one_a_narrow_window() -> None:
    right, wrong = (judged(power, ["interpol(window=slope)"])["interpol(window=slope)"] for power in (1.0, 1.8))
    assert right.chosen in {f"interpol(window={window})" for window in (7, 8, 9)}
    assert wrong.chosen in {f"interpol(window={window})" for window in range(7)}
    assert right.low <= 2 <= right.high
    assert wrong.low <= 2 <= wrong.high


def test_every_form_of_the_result_says_what_was_chosen() -> None:
    result = judged(1.0, ["interpol(window=slope)", "ipm"])
    chosen = result["interpol(window=slope)"].chosen
    assert chosen is not None
    rows = {row["estimator"]: row for row in json.loads(result.to_json())["estimates"]}
    assert rows["interpol(window=slope)"]["chosen"] == chosen
    assert rows["ipm"]["chosen"] is None
    assert result.to_arrow().column("chosen").to_pylist() == [chosen, None]
    assert f"This is {chosen}" in " ".join(str(result).split())
    histograms = [row["estimator"] for row in result.to_dict()["weights"]]
    assert histograms == ["interpol(window=slope)", "ipm"]


def test_targets_and_groups_choose_for_themselves() -> None:
    world = SearchWorld(queries=50)
    log, fixed = world.table(30_000, 0), [f"sninterpol(window={window})" for window in range(4)]
    result = offrank.evaluate(
        log,
        {"good": "top(new_score)", "poor": "top(naive_score)"},
        "plackett_luce(old_score)",
        ["sninterpol(window=slope)", *fixed],
        examination=world.examination**3,
        by="device",
    )
    assert set(result.groups) == {"desktop", "phone"}
    for estimates in (result.estimates, *result.groups.values()):
        for target in ("good", "poor"):
            several = [estimates[target, name] for name in fixed]
            found = slope([e.value for e in several], [e.standard_error for e in several])
            assert estimates[target, "sninterpol(window=slope)"].chosen == fixed[found.index]


@pytest.mark.turns(3)
@pytest.mark.parametrize("options", [{"interval": "bootstrap"}, {"interval": "bernstein"}, {"confidence": 0.5}])
def test_the_level_of_the_interval_does_not_change_the_choice(options: dict[str, object]) -> None:
    plain = judged(1.8, ["interpol(window=slope)"])["interpol(window=slope)"]
    other = judged(1.8, ["interpol(window=slope)"], **options)["interpol(window=slope)"]
    assert plain.chosen == other.chosen or "bootstrap" in options.values()


def test_the_choice_contradicts_what_assumes_more_and_is_not_contradicted_itself() -> None:
    found = judged(1.8, ["interpol(window=slope)", "pbm"])
    assert {caution.code for caution in found["interpol(window=slope)"].warnings} == {"chosen", "low-ess"}
    caution = next(caution for caution in found["pbm"].warnings if caution.code == "disagreement")
    assert "`interpol(window=slope)`" in caution.message


def shown(slates: list[str], target: str) -> list[dict[str, object]]:
    """A log of two slots, every slate clicked at the top."""
    return [
        {"slate": list(slate), "clicks": [1, 0], "candidates": list("abc"), "new": list(target)} for slate in slates
    ]


def test_windows_without_overlap_are_not_chosen_from() -> None:
    found = offrank.evaluate(
        shown(["ab", "ab", "ac"] * 20, "ba"), "ranking(new)", "uniform", "interpol(window=slope)", examination=[1, 0.5]
    )
    assert found["interpol(window=slope)"].chosen == "interpol(window=1)"
    with pytest.raises(NoOverlapError):
        offrank.evaluate(shown(["ab"], "c"), "ranking(new)", "uniform", "interpol(window=slope)", examination=[1, 0.5])


def test_where_no_window_can_be_trusted_the_first_answers() -> None:
    found = offrank.evaluate(
        shown(["ab", "ba", "ca"], "ab"), "ranking(new)", "uniform", "interpol(window=slope)", examination=[1, 0.5]
    )["interpol(window=slope)"]
    assert found.chosen == "interpol(window=0)"
    assert not found.trustworthy
    assert "none of the 2 estimates can be trusted" in found.warnings[-1].message


def weighted(estimate: offrank.Estimate) -> float:
    """(sum of mean weights)^2 / sum of their squares."""
    mean = estimate.mean_weight_interval
    assert mean is not None
    n = estimate.n
    return n / (1 + (n - 1) * (mean.standard_error / mean.value) ** 2)


def test_the_interval_spans_that_of_the_first_that_can_be_trusted() -> None:
    # Of 800 impressions some 40 have a weight for window 0.
    fixed = [f"interpol(window={window})" for window in range(10)]
    result = judged(1.0, ["interpol(window=slope)", *fixed], n=800)
    one, several = result["interpol(window=slope)"], [result[name] for name in fixed]
    sound = [all(w.severity != "serious" or w.code == "low-ess" for w in estimate.warnings) for estimate in several]
    anchor = next(place for place, e in enumerate(several) if weighted(e) >= 100 and sound[place])
    assert anchor > 0
    assert one.chosen is not None
    chosen = result[one.chosen]
    spanned = min(several[anchor].low, chosen.low), max(several[anchor].high, chosen.high)
    assert (one.low, one.high) == pytest.approx(spanned, rel=1e-12)
    assert one.warnings[-1].severity == "warning"
    assert f"No estimate before `interpol(window={anchor})` can be trusted" in one.warnings[-1].message


def test_it_is_spelled_as_it_is_built() -> None:
    made = estimator("interpol(window='slope', form=windowed)")
    assert made == InterpolWindows(window="slope", form="windowed")
    assert repr(made) == "interpol(window=slope, form=windowed)"
    members = family(estimator("clip(sninterpol(window=slope), 10)"), (1.0, 0.5, 0.25))
    assert list(members) == [f"clip(sninterpol(window={window}), 10)" for window in range(3)]
    assert list(family(Interpol(window=2), (1.0, 0.5))) == ["interpol(window=2)"]


def test_mistakes_are_named() -> None:
    with pytest.raises(UsageError, match="examination curve"):
        judged_without_a_curve()
    with pytest.raises(UsageError, match="window is 'wide'"):
        estimator("interpol(window=wide)")
    with pytest.raises(TypeError, match="a family of estimators"):
        InterpolWindows(window="slope").weigh(None, None, None)  # type: ignore[arg-type]


def judged_without_a_curve() -> offrank.Result:
    world = ToyWorld(100)
    return offrank.evaluate(world, TARGET, world.logging, "interpol(window=slope)")
