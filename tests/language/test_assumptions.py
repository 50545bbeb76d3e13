"""What estimators assume: an order of sets, and in words."""

from __future__ import annotations

import pytest

from offrank.estimators.named import ESTIMATORS, estimator
from offrank.estimators.wrappers import without_normalisation
from offrank.language.assumptions import in_words


def assumed(name: str) -> frozenset[str]:
    return without_normalisation(estimator(name)).assumptions


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
    arguments = dict.fromkeys(("clip", "switch", "shrink"), "(ips, 10)") | {"controlled": "(ips)"}
    arguments |= dict.fromkeys(("interpol", "sninterpol"), "(window=2)")
    for name in sorted(set(ESTIMATORS) - {"direct", "dr", "weights"}):  # these need a model
        found = assumed(name + arguments.get(name, ""))
        assert isinstance(found, frozenset)
        assert bool(found) is (name not in {"ips", "snips", "controlled"})
        assert in_words(found)
