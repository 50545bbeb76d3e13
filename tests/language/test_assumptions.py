"""What estimators assume: an order of sets, and in words."""

from __future__ import annotations

import pytest

from offrank.errors import UsageError
from offrank.estimators.named import ESTIMATORS, estimator
from offrank.language.assumptions import CLIPPED, FROM_TOP, ITEM_POSITION, assumption, clicks_as, in_words, window


def assumed(name: str) -> frozenset[str]:
    return estimator(name).kind.assumes


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("ips", "rips"),
        ("ips", "pi"),
        ("rips", "ipm"),
        ("pi", "ipm"),
        ("ipm", "interpol(window=1)"),
        ("interpol(window=1)", "interpol(window=2)"),
        ("interpol(window=9)", "pbm"),
        ("interpol(window=5000)", "pbm"),
        ("ips", "clip(ips, 3)"),
        ("ipm", "clip(snipm, 3)"),
    ],
)
def test_what_assumes_more(less: str, more: str) -> None:
    assert assumed(less) < assumed(more)


@pytest.mark.parametrize(("one_name", "other"), [("rips", "pi"), ("clip(ips, 3)", "rips"), ("logged", "pbm")])
def test_what_assumes_something_else(one_name: str, other: str) -> None:
    assert not assumed(one_name) <= assumed(other)
    assert not assumed(other) <= assumed(one_name)


@pytest.mark.parametrize(("one_name", "other"), [("ipm", "interpol(window=0)"), ("ips", "snips"), ("pi", "wpi")])
def test_what_assumes_the_same(one_name: str, other: str) -> None:
    assert assumed(one_name) == assumed(other)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ips", "nothing about users"),
        ("rips", "users read from the top"),
        ("pi", "a slate's reward is a sum over its items"),
        ("ipm", "a click depends on its own item and rank only"),
        (
            "interpol(window=1)",
            "a click depends on its own item and rank only and the examination curve is right within 1 rank",
        ),
        (
            "interpol(window=3)",
            "a click depends on its own item and rank only and the examination curve is right within 3 ranks",
        ),
        ("pbm", "a click depends on its own item and rank only and the examination curve is right at every rank"),
    ],
)
def test_assumptions_in_words(name: str, words: str) -> None:
    assert in_words(assumed(name)) == words


def test_every_estimator_says_what_it_assumes() -> None:
    arguments = dict.fromkeys(("clip", "switch", "shrink"), "(ips, 10)") | {
        "controlled": "(ips)",
        "judged": "('grades.csv')",
    }
    arguments |= dict.fromkeys(("interpol", "sninterpol"), "(window=2)")
    for name in sorted(set(ESTIMATORS) - {"direct", "dr", "weights"}):  # these need a model
        found = assumed(name + arguments.get(name, ""))
        assert isinstance(found, frozenset)
        assert bool(found) is (name not in {"ips", "snips", "controlled"})
        assert in_words(found)


def test_one_of_ones_own_is_said_after_those_of_offrank_and_without_what_follows_from_it() -> None:
    patient = assumption("tested: patient", "users look at every item", implies=ITEM_POSITION)
    assert patient > ITEM_POSITION
    assert patient - ITEM_POSITION == {"tested: patient"}
    assert in_words(patient | CLIPPED) == "the clipped weight contributes little and users look at every item"
    assert in_words(patient | window(2)).endswith("every item and the examination curve is right within 2 ranks")
    assert assumption("tested: patient", "users look at every item", implies=ITEM_POSITION) == patient


def test_a_click_model_needs_no_other_words() -> None:
    for own_item in (True, False):
        assumed = clicks_as("dbn", own_item=own_item)
        assert (assumed >= ITEM_POSITION) is own_item
        assert assumed >= FROM_TOP
        assert in_words(assumed | CLIPPED) == "users click as `dbn` says and the clipped weight contributes little"


def test_what_nobody_registered_is_refused_with_how_to_register_it() -> None:
    for use in (in_words, lambda some: assumption("tested: more", "more", implies=some)):
        with pytest.raises(UsageError, match=r"'typo' is no registered assumption.*\n.*assumption\('typo', "):
            use(frozenset({"typo"}))


@pytest.mark.parametrize("words", ["users click on what they like", "users read from the top "])
def test_a_name_has_one_meaning(words: str) -> None:
    with pytest.raises(UsageError, match="there is an assumption 'reads from the top' already"):
        assumption("reads from the top", words)
