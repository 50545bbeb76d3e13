"""The rule that orders estimators by their estimated error, by arithmetic and on both sides of its thresholds."""

from __future__ import annotations

import itertools
import math

import pytest

from offrank.selection.estimators import (
    COARSE,
    Contrast,
    EstimatorCandidate,
    EstimatorRanking,
    ranking,
    squared_bias,
)

LESS, MORE, MOST = frozenset({"a"}), frozenset({"a", "b"}), frozenset({"a", "b", "c"})


def at(value: float, error: float = 1.0, distance: float = 1.0) -> Contrast:
    return Contrast("somewhere", value, error, distance)


def one(name: str, assumes: frozenset[str], error: float, **known: object) -> EstimatorCandidate:
    return EstimatorCandidate(name, assumes, 0.5, error, **known)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("target", "others", "expected"),
    [
        (at(3.0), [], 3**2 - 1),
        (at(0.9), [], 0.0),
        (at(0.0, 0.0), [], 0.0),  # the same estimate
        (None, [], 0.0),
        (None, [at(2.0), at(4.0)], (4 + 16) / 2 - 1),
        (None, [at(2.0, distance=0.5)], (2**2 - 1) / 0.5**2),
        (None, [at(7.0, distance=0.0)], 0.0),  # the logging policy itself
        # t^2 = (1 + 4 + 9) / 3 - 1 = 11 / 3, of which 11 / 14 is no noise
        (at(1.0), [at(2.0), at(3.0)], (11 / 14 * 1) ** 2 + 11 / 14),
        (at(2.0), [at(0.1), at(-0.2), at(0.3), at(-0.1)], 0.0),
    ],
)
def test_squared_bias_is_what_noise_does_not_explain(
    target: Contrast | None, others: list[Contrast], expected: float
) -> None:
    assert squared_bias(target, others) == pytest.approx(expected, abs=1e-9)


def test_precise_contrasts_count_for_more() -> None:
    """t^2 solves 9 / (4 + t^2) + 1 / (1/4 + t^2) = 2: 2 t^4 - 3/2 t^2 - 17/4 = 0."""
    expected = (1.5 + math.sqrt(1.5**2 + 4 * 2 * 17 / 4)) / 4
    assert 9 / (4 + expected) + 1 / (0.25 + expected) == pytest.approx(2)
    assert squared_bias(None, [at(3.0, 2.0), at(1.0, 0.5)]) == pytest.approx(expected)


def chosen(difference: float) -> EstimatorRanking:
    """`more` has a tenth of the standard error, and the contrast's variance is 1 - .01."""
    contrast = {"less": at(difference, math.sqrt(0.99))}
    return ranking([one("less", LESS, 1.0), one("more", MORE, 0.1, target=contrast)])


def test_the_bias_may_be_as_large_as_the_variance_that_is_saved() -> None:
    """It is selected if .01 + D^2 - .99 < 1."""
    threshold = math.sqrt(1.98)
    assert chosen(threshold - 1e-6).chosen == "more"
    assert chosen(threshold + 1e-6).chosen == "less"


def test_the_error_and_its_range() -> None:
    found = next(each for each in chosen(2.0).ranked if each.candidate.name == "more")
    error = math.sqrt(0.99)
    assert (found.against, found.bias) == ("less", pytest.approx(math.sqrt(4 - 0.99)))
    assert found.error == pytest.approx(math.sqrt(4 - 0.99 + 0.01))
    assert found.low == pytest.approx(math.hypot(2 - 2 * error, 0.1))
    assert found.high == pytest.approx(math.hypot(2 + 2 * error, 0.1))
    assert chosen(2.0).trusted == "less"


def test_refuted_is_what_is_off_by_more_than_its_error() -> None:
    refuted = {d: chosen(d).ranked[-1].refuted for d in (0.99, 1.5)}
    assert refuted == {0.99: False, 1.5: True}


def test_pseudo_targets_overturn_a_choice_by_the_target_alone() -> None:
    near, far = [at(0.05, 0.1, 0.3)] * 3, [at(0.9, 0.1, 0.3)] * 3
    for difference, others, expected in ((1.8, near, "more"), (0.5, far, "less")):
        contrast = at(difference, math.sqrt(0.99))
        more = one("more", MORE, 0.1, target={"less": contrast}, others={"less": others})
        assert ranking([one("less", LESS, 1.0), more]).chosen == expected
        assert chosen(difference).chosen != expected


def test_what_is_refuted_refutes_nothing() -> None:
    wrong = one("wrong", MORE, 0.1, target={"less": at(9.0)})
    most = one("most", MOST, 0.05, target={"less": at(0.2), "wrong": at(9.0, 0.1)})
    found = ranking([one("less", LESS, 1.0), wrong, most])
    assert found.chosen == "most"
    assert [each.candidate.name for each in found.ranked if each.refuted] == ["wrong"]
    right = one("right", MORE, 0.1, target={"less": at(0.1)})
    most = one("most", MOST, 0.05, target={"less": at(0.2), "right": at(9.0, 0.1)})
    assert ranking([one("less", LESS, 1.0), right, most]).chosen == "right"


def test_what_must_not_be_used_still_tells_of_others() -> None:
    off = one("less", LESS, 0.1, doubt=math.inf)
    alone = ranking([off, one("more", MORE, 0.5)])
    assert (alone.chosen, alone.trusted, alone.ranked[0].against, alone.ranked[0].high) == (
        "more",
        "more",
        None,
        math.inf,
    )
    far = ranking([off, one("more", MORE, 0.5, others={"less": [at(2.0), at(3.0)]})])
    assert (far.chosen, far.trusted, far.ranked[0].against) == ("more", None, "less")
    assert far.ranked[0].bias == pytest.approx(math.sqrt((4 + 9) / 2 - 1))
    none = ranking([one("more", MORE, 0.1, doubt=math.inf), off])
    assert (none.chosen, none.trusted, none.ranked) == ("less", None, ())


def test_if_nothing_can_be_used_the_less_certain_of_the_least_assuming_is_taken() -> None:
    plain, normalised = one("ips", LESS, 0.01, doubt=math.inf), one("snips", LESS, 0.3, doubt=math.inf)
    assert ranking([plain, normalised, one("more", MORE, 0.5, doubt=math.inf)]).chosen == "snips"


def test_a_standard_error_from_few_rows_counts_twice() -> None:
    wrong = one("wrong", MORE, 0.1, others={"coarse": [at(2.0), at(2.0)]})  # off by sqrt(3)
    threshold = math.sqrt(3 + 0.1**2) / COARSE
    for error, expected in ((threshold - 1e-6, "coarse"), (threshold + 1e-6, "wrong")):
        found = ranking([one("coarse", LESS, error, doubt=COARSE), wrong])
        assert (found.chosen, found.trusted) == (expected, None)


def test_of_equal_assumptions_the_less_uncertain_is_the_reference() -> None:
    more = one("more", MORE, 0.1, target={"coarse": at(9.0), "fine": at(0.1)})
    found = ranking([one("coarse", LESS, 2.0), one("fine", LESS, 1.0), more])
    assert (found.chosen, found.ranked[0].against, found.trusted) == ("more", "fine", "fine")


def test_of_equal_errors_the_less_assuming_is_chosen() -> None:
    more = one("more", MORE, 1.0, target={"less": at(0.0, 0.1)})
    assert ranking([more, one("less", LESS, 1.0)]).chosen == "less"
    assert ranking([one("more", MORE, 1.0 - 1e-6, target=more.target), one("less", LESS, 1.0)]).chosen == "more"


def test_the_order_of_candidates_changes_nothing() -> None:
    more = one("more", MORE, 0.4, target={"less": at(0.8), "twin": at(0.7)})
    most = one("most", MOST, 0.3, target={"less": at(0.9), "twin": at(1.0), "more": at(0.4, 0.2)})
    every = [one("less", LESS, 1.0), one("twin", LESS, 1.0), more, most, one("off", LESS, 0.1, doubt=math.inf)]
    found = {repr(ranking(order)) for order in itertools.permutations(every)}
    assert len(found) == 1


def test_nothing_to_choose_from() -> None:
    with pytest.raises(ValueError, match="no candidates"):
        ranking([])
