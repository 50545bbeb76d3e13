"""The door for whoever serves: the laws of the policies, without a compiler or Arrow, and a log that can be judged."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import offrank
from offrank.errors import OffrankError, SpellingError, UsageError
from offrank.policies import policy
from offrank.policies.base import all_items
from offrank.propensities import draw
from offrank_testing.exact import World
from offrank_testing.laws import Situation

COLUMNS = {"a": (0.5, 3.0, 20.0, 3.0, 1.0), "b": (200.0, 4.0, 15.0, 1.0, 2.0), "s": (0.1, -0.4, 1.0, 0.1, 0.0)}
SERVED = (
    "uniform",
    "top(s)",
    "top(b)",
    "plackett_luce(a)",
    "plackett_luce(s, temperature=0.3, log=True)",
    "thompson(a, b)",
    "thompson(mean=s, sd=a)",
    "noisy(s, sd=0.4)",
    "noisy(s, sd=b, noise=gumbel)",
    "shuffled(top(s))",  # of which two are equal
    "shuffled(top(b), 3, method=top)",
    "shuffled(top(s), method=fair_pairs)",
    "mixture({shuffled(top(s), 3, method=window): 0.5, top(b): 0.3, thompson(a, b): 0.2})",
    "epsilon(thompson(a, b), 0.2)",
    "mixture({top(s): 0.9, noisy(s, sd=1, noise=gumbel): 0.1})",
)


@pytest.mark.parametrize("slots", [1, 3, 5])
@pytest.mark.parametrize("spelling", SERVED)
def test_propensities_are_those_of_the_policy(spelling: str, slots: int) -> None:
    here = World((Situation(5, slots, COLUMNS),), clicks=lambda _, slate: [0.0] * len(slate)).contexts(np.array([0]))
    rng, same = np.random.default_rng(3), policy(spelling)
    ranks = same.rank_probs(here, all_items(here))[0]  # type: ignore[union-attr]
    for _ in range(4):
        found = draw(spelling, slots, rng, **COLUMNS)
        slates = np.array([found.slate])
        assert np.log(found.propensity) == pytest.approx(same.log_prob(here, slates)[0], abs=1e-9)  # type: ignore[union-attr]
        assert found.slot_propensity == pytest.approx(same.slot_probs(here, slates)[0], rel=1e-9)  # type: ignore[union-attr]
        assert np.array(found.rank_propensity) == pytest.approx(ranks[found.slate], rel=1e-9, abs=1e-14)


def test_lists_come_as_often_as_they_say() -> None:
    rng, n = np.random.default_rng(8), 800
    drawn = [draw("thompson(a, b)", 2, rng, a=[1, 2, 5], b=[4, 4, 9]) for _ in range(n)]
    share = {tuple(one.slate): one.propensity for one in drawn}
    assert sum(share.values()) == pytest.approx(1)
    for slate, chance in share.items():
        count = sum(tuple(one.slate) == slate for one in drawn)
        assert count / n == pytest.approx(chance, abs=5 * np.sqrt(chance * (1 - chance) / n))


def test_the_same_counts_give_the_same_and_others_do_not() -> None:
    """What follows from the numbers of a request is kept for the next one."""
    shown = []
    for a in ([1.0, 2, 5], [1.0, 2, 5], [5.0, 2, 1]):
        found = [draw("thompson(a, b)", 1, np.random.default_rng(seed), a=a, b=[4.0, 4, 9]) for seed in range(40)]
        shown.append({one.slate[0]: one.propensity for one in found})
    assert shown[0] == shown[1]
    assert sum(shown[0].values()) == pytest.approx(1)
    assert shown[2][0] > 2 * shown[0][0]
    swapped = [
        draw("thompson(b, a)", 1, np.random.default_rng(seed), a=[4.0, 4, 9], b=[5.0, 2, 1]) for seed in range(40)
    ]
    assert {one.slate[0]: one.propensity for one in swapped} == shown[2]


def service(requests: int, seed: int) -> list[dict[str, object]]:
    """The log of a bandit that learns as it serves: two of four arms, clicks of known probability."""
    rng = np.random.default_rng(seed)
    arms, rate, seen, log = ["p", "q", "r", "s"], np.array([0.1, 0.2, 0.3, 0.5]), np.ones((2, 4)), []
    for _ in range(requests):
        served = draw("epsilon(thompson(alpha, beta), 0.2)", 2, rng, arms, alpha=seen[0], beta=seen[1])
        place = [arms.index(item) for item in served.slate]
        clicks = (rng.random(2) < rate[place] * [1.0, 0.6]).astype(int).tolist()
        for arm, click in zip(place, clicks, strict=True):
            seen[1 - click, arm] += 1
        log.append(json.loads(json.dumps({**served.log_row(), "clicks": clicks})))
    return log


def test_the_log_of_a_service_is_judged_without_bias() -> None:
    truth = np.mean([0.1, 0.2, 0.3, 0.5]) * 1.6  # of two arms at random, the second read 0.6 of the time
    errors = []
    for seed in range(5):
        log = service(120, seed)
        written = offrank.evaluate(log, "uniform", "logged", ["ips", "ipm", "rips"])
        derived = offrank.evaluate(log, "uniform", "epsilon(thompson(alpha, beta), 0.2)", ["ips", "ipm", "rips"])
        for name, found in written.estimates.items():
            assert found.value == pytest.approx(derived.estimates[name].value, rel=1e-9)
        errors.append([found.value - truth for found in written.estimates.values()])
    mean, spread = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1) / np.sqrt(len(errors))
    assert (np.abs(mean) < 4 * spread + 1e-3).all()
    assert (spread < 0.1).all()


ALONE = """
import sys
class Forbid:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"numba", "llvmlite", "pyarrow", "pandas", "scipy"}:
            raise ImportError(f"{name} is forbidden")
sys.meta_path.insert(0, Forbid())
import numpy
import offrank.propensities
rng = numpy.random.default_rng(1)
columns = {"a": [1, 2, 3], "b": [4, 5, 6]}
for spelling in sys.argv[1:]:
    print(offrank.propensities.draw(spelling, 2, rng, **columns, s=[0, 1, 2]).propensity)
print(*sorted(name for name in sys.modules if name.startswith("offrank.")))
"""


def test_it_needs_neither_a_compiler_nor_arrow() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE, *SERVED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *found, loaded = done.stdout.splitlines()
    assert len(found) == len(SERVED)
    assert all(0 < float(one) <= 1 for one in found)
    assert "offrank.races.keys" in loaded
    assert "offrank.policies" not in loaded


@pytest.mark.parametrize(
    ("spelling", "slots", "columns", "what"),
    [
        ("thompson(a, b)", 1, {"a": [1, 0], "b": [1, 1]}, "'a' of candidate 1 is 0.0"),
        ("thompson(a, b)", 1, {"a": [1, 1], "b": [float("nan"), 1]}, "'b' of candidate 0 is nan"),
        ("thompson(mean=a, sd=b)", 1, {"a": [-1, 1], "b": [-1, 1]}, "'b' of candidate 0 is -1.0"),
        ("noisy(a, sd=1)", 1, {"a": [1, float("inf")]}, "'a' of candidate 1 is inf"),
        ("noisy(a, sd=0)", 1, {"a": [1, 2]}, "sd=0"),
        ("plackett_luce(a, temperature=0)", 1, {"a": [1, 2]}, "temperature is 0"),
        ("top(a)", 1, {"b": [1, 2]}, "no numbers for the column 'a'"),
        ("thompson(a, b)", 1, {"a": [1, 2], "b": [1, 2, 3]}, "'b' has shape"),
        ("top(a)", 3, {"a": [1, 2]}, "3 slots for 2 candidates"),
        ("mixture({top(a): 0.9, uniform: 0.2})", 1, {"a": [1, 2]}, "add up to 1.1"),
        ("shuffled(uniform)", 1, {"a": [1, 2]}, "does not sort"),
        ("shuffled(top(a), 1)", 1, {"a": [1, 2]}, "block is 1"),
        ("shuffled(top(a), method=all)", 1, {"a": [1, 2]}, "unknown method 'all'"),
        ("epsilon(top(a), 2)", 1, {"a": [1, 2]}, "epsilon is 2"),
        ("thompson(a)", 1, {"a": [1, 2]}, "thompson is given alpha"),
    ],
)
def test_what_cannot_be_served_is_refused(
    spelling: str, slots: int, columns: dict[str, list[float]], what: str
) -> None:
    with pytest.raises(UsageError, match=what):
        draw(spelling, slots, np.random.default_rng(1), **columns)


def test_a_policy_that_is_not_here_is_named() -> None:
    with pytest.raises(SpellingError, match="unknown policy 'counted'"):
        draw("counted", 1, np.random.default_rng(1))
    for spelling in ("mixture({counted: 1})", "epsilon(counted, 0.1)"):
        with pytest.raises(OffrankError, match="is not a policy"):
            draw(spelling, 1, np.random.default_rng(1))


def test_weights_too_far_apart_for_floats() -> None:
    """The weights of the other items are 0 beside the first: their order is certain all the same."""
    for spelling in ("plackett_luce(s, log=True)", "noisy(s, sd=1, noise=gumbel)"):
        found = draw(spelling, 3, np.random.default_rng(0), s=[0, 1000, 2000])
        assert found.slate == [2, 1, 0]
        assert found.propensity == pytest.approx(1)
        assert found.slot_propensity == pytest.approx([1, 1, 1])
        assert np.array(found.rank_propensity) == pytest.approx(np.eye(3))
