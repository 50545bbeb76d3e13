"""Every estimator against the truth, by enumeration: no randomness, no tolerance but rounding.

Where an estimator's assumption about users holds, its expectation is the target's value. The same
table shows that it is not where the assumption fails, so that these tests could fail.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from offrank.estimators import estimator
from offrank.policies import policy
from offrank.verbs.estimate import estimate
from offrank.verbs.evaluate import evaluate
from offrank_testing.exact import World
from tests.exact.worlds import EXAMINATION, world
from tests.night import some

TARGETS = (
    "top(new)",
    "ranking(listed)",
    "plackett_luce(new)",
    "plackett_luce(logit, temperature=0.7, log=True)",
    "uniform",
    "epsilon(top(new), 0.25)",
    "swaps(ranking(listed), 0.7)",
)
EVERY_LOGGING = (
    "plackett_luce(old)",
    "plackett_luce(logit, log=True)",
    "uniform",
    "epsilon(top(old), 0.4)",
    "epsilon(plackett_luce(old, temperature=0.5), 0.1)",
    "swaps(top(old), 0.6)",
)
LOGGING = some(EVERY_LOGGING, 6)
#: estimator -> the users it is right for, and users it is wrong for
ESTIMATORS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "ips": (("position", "item", "cascade", "slate", "reward"), ()),
    "snips": (("position", "item", "cascade", "slate", "reward"), ()),
    "rips": (("position", "item", "cascade"), ("slate",)),
    "snrips": (("position", "item", "cascade"), ("slate",)),
    "ipm": (("position", "item"), ("cascade", "slate")),
    "snipm": (("position", "item"), ("cascade", "slate")),
    "interpol(window=0)": (("position", "item"), ("slate",)),
    "interpol(window=1)": (("position",), ("item", "slate")),
    "interpol(window=2)": (("position",), ("item", "slate")),
    "interpol(window=3)": (("position",), ("item", "slate")),
    'interpol(window=0, form="windowed")': (("position", "item"), ("slate",)),
    'interpol(window=1, form="windowed")': (("position",), ("item", "slate")),
    'interpol(window=4, form="windowed")': (("position",), ("item", "slate")),
    "sninterpol(window=1)": (("position",), ("item", "slate")),
    'sninterpol(window=2, form="windowed")': (("position",), ("item", "slate")),
    "pbm": (("position",), ("item", "slate")),
    "clip(ips, 1e9)": (("slate", "reward"), ()),
    "shrink(snrips, 1e30)": (("cascade",), ("slate",)),
    "switch(sninterpol(window=2), 1e9)": (("position",), ("item",)),
}
SHAPES = ("full", "top")
EXACT = 1e-9
SEES_ALL_ONLY = {"pbm"}  # counts what was not shown as earning nothing
BY_THE_LOG = [name for name in ESTIMATORS if "rips" not in name]  # the log has no slot propensities


def asked(shape: str, users: str) -> list[str]:
    """The estimators that are right for these users, and those that are wrong where that is looked at; or all."""
    looked = {name: right + (wrong if shape == "full" else ()) for name, (right, wrong) in ESTIMATORS.items()}
    return [name for name in ESTIMATORS if users in ("position", *looked[name])]


@cache
def found(shape: str, users: str, drawn: str, logging: str) -> Any:
    """The estimators for all targets, on the log of the policy `drawn`, read as if drawn by `logging`."""
    ask = evaluate if users == "position" else estimate  # of these weights are asked too, and findings
    return ask(
        world(shape, users).source(policy(drawn)),
        {target: target for target in TARGETS},
        logging,
        [name for name in asked(shape, users) if logging != "logged" or name in BY_THE_LOG],
        examination=EXAMINATION,
    )


def errors(result: Any, here: World, name: str) -> list[float]:
    """Relative error of an estimator for each target."""
    key = repr(estimator(name))
    return [result[target, key].value / here.value(policy(target)) - 1 for target in TARGETS]


def shared(*values: str, shape: str, logging: str) -> Any:
    """A case beside all others that ask the same logs: one process evaluates them once."""
    return pytest.param(*values, marks=pytest.mark.xdist_group(f"exact {shape} {logging}"))


CASES = [
    shared(name, shape, logging, shape=shape, logging=logging)
    for name in ESTIMATORS
    for shape in SHAPES
    for logging in (*LOGGING, "logged")
    if not (shape == "top" and name in SEES_ALL_ONLY) and not (logging == "logged" and name not in BY_THE_LOG)
]


@pytest.mark.parametrize(("name", "shape", "logging"), CASES)
def test_expectation_is_the_truth(name: str, shape: str, logging: str) -> None:
    drawn = "plackett_luce(old)" if logging == "logged" else logging
    for users in ESTIMATORS[name][0]:
        result = found(shape, users, drawn, logging)
        assert errors(result, world(shape, users), name) == pytest.approx([0.0] * len(TARGETS), abs=EXACT), users


@pytest.mark.parametrize(
    ("name", "logging"), [shared(name, one, shape="full", logging=one) for name in ESTIMATORS for one in LOGGING]
)
def test_expectation_is_off_where_the_assumption_fails(name: str, logging: str) -> None:
    for users in ESTIMATORS[name][1]:
        result = found("full", users, logging, logging)
        assert max(map(abs, errors(result, world("full", users), name))) > 1e-3, users


@pytest.mark.parametrize(
    ("name", "logging"), [shared(name, one, shape="top", logging=one) for name in SEES_ALL_ONLY for one in LOGGING]
)
def test_items_that_were_not_shown_are_missed(name: str, logging: str) -> None:
    result = found("top", "position", logging, logging)
    assert max(errors(result, world("top", "position"), name)) < -0.05
    assert "unseen-items" in [caution.code for caution in result["uniform", name].warnings]


COUNTING = ("ipm", "snipm", "interpol(window=1)", "sninterpol(window=2, form='windowed')")


@cache
def counted(shape: str, drawn: str) -> Any:
    """The estimators that ask for probabilities of ranks only, which are counted in the whole log."""
    here = world(shape, "position")
    return estimate(here.source(policy(drawn)), "plackett_luce(new)", "counted", COUNTING, examination=EXAMINATION)


@pytest.mark.parametrize(
    ("name", "shape", "drawn"),
    [shared(name, shape, one, shape=shape, logging=one) for name in COUNTING for shape in SHAPES for one in LOGGING],
)
def test_counting_a_whole_log_finds_its_rank_probabilities(name: str, shape: str, drawn: str) -> None:
    truth = world(shape, "position").value(policy("plackett_luce(new)"))
    assert counted(shape, drawn)[repr(estimator(name))].value == pytest.approx(truth, rel=EXACT)


@pytest.mark.parametrize("logging", LOGGING)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("users", ["slate", "reward"])
def test_the_logged_mean_is_what_logging_earns(shape: str, users: str, logging: str) -> None:
    here = world(shape, users)
    earned = estimate(here.source(policy(logging)), "uniform", logging, ["logged", "ips"])
    truth = here.value(policy(logging))
    assert earned["logged"].value == pytest.approx(truth, rel=EXACT)
    gain = here.value(policy("uniform")) - truth
    assert earned["ips"].difference is not None
    assert earned["ips"].difference.value == pytest.approx(gain, rel=EXACT, abs=EXACT)


@pytest.mark.parametrize(
    ("shape", "logging"),
    [shared(shape, one, shape=shape, logging=one) for shape in SHAPES for one in (*LOGGING, "logged")],
)
def test_weights_have_expectation_one(shape: str, logging: str) -> None:
    drawn = "plackett_luce(old)" if logging == "logged" else logging
    result = found(shape, "position", drawn, logging)
    for (target, name), one in result.estimates.given.items():
        assert (one.mean_weight is None) == (name == "pbm")
        if one.mean_weight is not None:
            assert one.mean_weight == pytest.approx(1, rel=EXACT), (target, name)


@pytest.mark.parametrize("name", ["snips", "ipm", "interpol(window=1)", "pbm", "snrips"])
def test_groups_are_right_one_by_one(name: str) -> None:
    here = world("full", "position")
    target, logging = policy("plackett_luce(new)"), policy("epsilon(top(old), 0.4)")
    result = estimate(here.source(logging), target, logging, [name], examination=EXAMINATION, by="situation")
    assert sorted(result.groups) == [str(index) for index in range(len(here.situations))]
    for group, estimates in result.groups.items():
        alone = World((here.situations[int(group)],), lambda _, slate, g=int(group): here.clicks(g, slate))
        assert estimates[name].value == pytest.approx(alone.value(target), rel=EXACT)
