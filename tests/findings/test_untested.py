"""At most three assumptions are named, what fits the log first; what the log tested is not among them."""

from __future__ import annotations

from typing import Any

import pytest

from offrank.estimators.named import estimator
from offrank.findings.reasons import AS_DRAWN, CLICKS_LOGGED, FROM_ELSEWHERE, ROWS_KEPT, Facts, untested

USUAL = ["every-click-logged", "rows-kept-blindly", "same-users"]


def codes(*tested: Any, assumes: str = "ips", drawn: bool = False, **facts: Any) -> list[str]:
    """The codes that are named, of an estimator of the policy that drew the log, if `drawn`."""
    users = estimator(assumes).kind.assumes
    found = untested(users, Facts(tested=frozenset(tested), **facts), requires_logging=drawn)
    return [one.code for one in found]


@pytest.mark.parametrize(
    ("fact", "first"),
    [
        ({"sampled": True}, ["right-rates", "every-click-logged", "same-users"]),
        ({"drawn": True}, ["propensities-as-drawn", *USUAL[:2]]),
        ({"assumes": "interpol(window=2, examination=[1, 0.5])"}, ["right-curve", *USUAL[:2]]),
        ({"rewards": True}, ["every-reward-logged", *USUAL[1:]]),
        ({"scored": True}, ["target-from-elsewhere", *USUAL[:2]]),
        ({"recurs": True}, ["no-interference", *USUAL[:2]]),
        ({"days": True}, ["one-look", *USUAL[:2]]),
        ({"rare": True, "scored": True}, ["every-click-logged", "target-from-elsewhere", "rows-kept-blindly"]),
        ({"sampled": True, "drawn": True}, ["right-rates", "propensities-as-drawn", "every-click-logged"]),
        (
            {"recurs": True, "days": True, "scored": True, "rare": True},
            ["every-click-logged", "target-from-elsewhere", "no-interference"],
        ),
    ],
)
def test_what_fits_the_log_is_named_first(fact: dict[str, Any], first: list[str]) -> None:
    assert codes() == USUAL
    assert codes(**fact) == first


def test_what_was_tested_is_not_named() -> None:
    assert codes(CLICKS_LOGGED) == [*USUAL[1:], "target-from-elsewhere"]
    assert codes(AS_DRAWN, drawn=True) == USUAL
    assert codes(ROWS_KEPT, sampled=True) == ["every-click-logged", "same-users", "target-from-elsewhere"]
    assert codes(FROM_ELSEWHERE, scored=True) == USUAL


def test_each_says_which_number_rests_on_it() -> None:
    found = untested(frozenset(), Facts(sampled=True, scored=True))
    assert [(one.code, one.concerns) for one in found] == [
        ("right-rates", "level"),
        ("target-from-elsewhere", "change"),
        ("every-click-logged", "level"),
    ]
    assert found[0].in_words == "the rates in `inclusion` are right (level)"
    assert found[0].to_dict() == {
        "code": "right-rates",
        "text": "the rates in `inclusion` are right",
        "concerns": "level",
    }
    assert untested(frozenset(), Facts(recurs=True))[0].in_words == "no impression affects the next (level and change)"
