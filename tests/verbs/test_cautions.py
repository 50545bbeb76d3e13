"""Every warning fires on a log that is made to cause it, and stays silent on a good one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import offrank
from offrank import Counted, Ranking, Uniform
from tests.verbs.logs import ALL, CURVE, LOGGING, TARGET, coins, replaced, search

BEST = Ranking("best")
N = 4_000
KEPT = np.where(np.arange(N) % 2, 1.0, 0.1)


def judged(log: Any, estimators: Any = "ips", target: Any = BEST, logging: Any = "logged", **options: Any) -> Any:
    return offrank.evaluate(log, target, logging, estimators, **options)


def rare(rows: int, share: float) -> Any:
    """Item 1, which the target wants, was shown with this probability."""
    item = np.random.default_rng(1).random(rows) < share
    return coins(rows, slate=item.astype(int)[:, None].tolist(), propensity=np.where(item, share, 1 - share))


def pareto(rows: int, index: float) -> Any:
    """Weights u^-index: the tail index is the index."""
    u = (np.arange(rows) + 0.5) / rows
    return coins(rows, propensity=0.5 * np.random.default_rng(1).permutation(u) ** index)


CAUSES: dict[str, Callable[[], offrank.Result]] = {
    "no-overlap": lambda: judged(coins(N, slate=[[0]] * N), ["ips", "logged"]),
    "low-ess": lambda: judged(rare(2_000, 0.02)),
    "small-ess-share": lambda: judged(rare(60_000, 0.005)),
    "large-weight": lambda: judged(coins(N, propensity=np.where(np.arange(N) == 7, 1e-3, 0.5)), target=Uniform()),
    "heavy-tail": lambda: judged(pareto(N, 0.9), target=Uniform()),
    "mean-weight": lambda: judged(coins(N, propensity=np.full(N, 0.25))),
    "double-subsampling": lambda: judged(coins(N, propensity=0.5 * KEPT, inclusion=KEPT)),
    "clipped": lambda: judged(coins(N), "clip(ips, 1.5)"),
    "unseen-items": lambda: judged(coins(N), "pbm(examination=[1])"),
    "odd-examination": lambda: judged(search(), "pbm", TARGET, LOGGING, examination=[0.1, 5, 5]),
    "few-rewards": lambda: judged(coins(N, clicks=[[int(n < 20)] for n in range(N)])),
    "few-clusters": lambda: judged(coins(N, user=np.arange(N) % 10), cluster="user"),
    "observed-range": lambda: judged(coins(N), interval="bernstein"),
    "counted-propensities": lambda: judged(coins(N, query=np.arange(N) % 5), "ipm", logging=Counted()),
    "clicks-not-reward": lambda: judged(
        coins(N, reward=np.arange(N) % 7.0, query=np.arange(N) % 5), ["pbm(examination=[1])", "logged"]
    ),
}


def codes(result: offrank.Result) -> dict[str, str]:
    """Every code of every estimate with its severity, refusals too."""
    found = {caution.code: caution.severity for e in result.estimates.given.values() for caution in e.warnings}
    return found | {error.code: "serious" for error in result.estimates.refused.values()}


@pytest.mark.parametrize("code", CAUSES)
def test_a_warning_fires_where_it_should(code: str) -> None:
    result = CAUSES[code]()
    assert code in codes(result)
    row = next(one for one in result.to_dict()["estimates"] if code in str(one))
    said = [*row["warnings"], row["error"]]
    caution = next(one for one in said if one and one["code"] == code)
    assert caution["message"].endswith((".", "impressions"))
    assert caution["remedy"]


def test_a_good_log_gives_no_warning() -> None:
    estimators = ["ipm", "snipm", "interpol(window=1)", "rips"]
    result = judged(search(), estimators, Uniform(), LOGGING, examination=CURVE, cluster=None)
    assert codes(result) == {}
    assert result.trustworthy
    assert codes(judged(coins(N), ["ips", "snips", "clip(ips, 2)"])) == {}
    assert codes(judged(rare(N, 0.5), interval="bootstrap")) == {}
    assert codes(judged(coins(N, inclusion=KEPT))) == {}
    assert codes(judged(coins(N, user=np.arange(N)), cluster="user")) == {}
    assert codes(judged(pareto(N, 0.2), "snips", Uniform())).keys() <= {"mean-weight"}  # u^-.2 has mean 1.25


@pytest.mark.parametrize("seed", range(8))
def test_warnings_about_the_mean_weight_are_rare_where_it_is_right(seed: int) -> None:
    assert not codes(judged(coins(N, seed), ["ips", "snips"]))


def test_severity_grows() -> None:
    assert codes(judged(coins(N, propensity=np.where(np.arange(N) == 7, 1e-3, 0.5)), target=Uniform()))[
        "large-weight"
    ] == ("warning")
    huge = coins(N, propensity=np.where(np.arange(N) == 7, 1e-4, 0.5))
    assert codes(judged(huge, target=Uniform()))["large-weight"] == "serious"
    assert codes(judged(pareto(N, 0.6), target=Uniform()))["heavy-tail"] == "warning"
    assert codes(judged(pareto(N, 0.95), target=Uniform()))["heavy-tail"] == "serious"
    assert codes(judged(coins(N), "clip(ips, 1.8)"))["clipped"] == "note"
    assert codes(judged(coins(N), "clip(ips, 1)"))["clipped"] == "warning"
    assert codes(judged(coins(N, clicks=[[0]] * N)))["few-rewards"] == "serious"


@pytest.mark.parametrize(
    ("curve", "severity"),
    [
        ([1, 1 / 2, 1 / 3], None),
        ([100, 50, 33], None),  # per cent: ratios count alone
        ([1, 0.5, 0.599], None),  # 1.2 times the rank above is within the error of a harvested curve
        ([1, 0.5, 0.601], "warning"),
        ([1, 1.199, 1.199], None),
        ([1, 1.1, 1.201], "warning"),  # to the least of all ranks above
        ([0.5, 0.5, 0.999], "warning"),
        ([0.5, 0.5, 1.001], "serious"),
        ([0.1, 5, 5], "serious"),
        ([1, 0.1, 0.9], "warning"),
    ],
)
def test_an_examination_curve_that_rises(curve: list[float], severity: str | None) -> None:
    curved = ["pbm", "clip(interpol(window=1), 9)", "sninterpol(window=2)", "interpol(window=0)", "ips"]
    result = judged(search(), curved, TARGET, LOGGING, examination=curve)
    found = {
        name: next((c.severity for c in e.warnings if c.code == "odd-examination"), None)
        for (_, name), e in result.estimates.given.items()
    }
    assert found == dict.fromkeys(curved[:3], severity) | dict.fromkeys(curved[3:])


def test_what_is_said_of_a_curve_that_rises() -> None:
    result = judged(search(), "pbm", TARGET, LOGGING, examination=[0.1, 5, 4])
    caution = result["pbm"].warnings[0]
    assert "rank 2 is examined 50 times as often as rank 1 above it" in caution.message
    result = judged(search(), "pbm", TARGET, LOGGING, examination=[1, 0.2, 0.5])
    assert "rank 3 is examined 2.5 times as often as rank 2 above it" in str(result["pbm"].warnings)


def test_clipped_weights_have_no_heavy_tail() -> None:
    free = judged(pareto(N, 0.95), target=Uniform())
    assert "heavy-tail" in codes(free)
    clipped = codes(judged(pareto(N, 0.95), "clip(snips, 20)", Uniform()))
    assert "heavy-tail" not in clipped
    # Clipping makes a mean weight smaller, so one above 1 is as wrong as ever.
    assert clipped["mean-weight"] == "serious"


def test_rewards_that_cancel_are_not_none() -> None:
    assert "few-rewards" not in codes(judged(coins(N, reward=(-1.0) ** np.arange(N)), target=Uniform()))
    assert codes(judged(coins(N, reward=np.zeros(N)), target=Uniform()))["few-rewards"] == "serious"


def test_only_a_plain_clipped_estimate_is_called_a_lower_bound() -> None:
    found = judged(coins(N), ["clip(ips, 1.5)", "clip(snips, 1.5)", "controlled(clip(ips, 1.5))"]).estimates.given
    remedies = [next(one.remedy for one in e.warnings if one.code == "clipped") for e in found.values()]
    assert ["lower bound" in remedy for remedy in remedies] == [True, False, False]


def test_warnings_are_listed_worst_first() -> None:
    found = judged(rare(2_000, 0.005), interval="bernstein")["ips"].warnings
    order = ["serious", "warning", "note"]
    assert [order.index(one.severity) for one in found] == sorted(order.index(one.severity) for one in found)
    assert not judged(rare(2_000, 0.02)).trustworthy


def test_messages_name_the_fault() -> None:
    halved = judged(coins(N, propensity=np.full(N, 0.25)))["ips"].warnings[0]
    assert "2 times too small" in re.sub(r"(\d)\.\d+ times", r"\1 times", halved.message)
    doubled = judged(coins(N, propensity=np.full(N, 1.0)))["ips"].warnings[0]
    assert "times too large" in doubled.message
    [twice] = [one for one in CAUSES["double-subsampling"]()["ips"].warnings if one.code == "double-subsampling"]
    assert "sub-sampling" in twice.message
    assert "once" in twice.remedy


def test_all_estimators_at_once_keep_their_own_warnings() -> None:
    log = replaced(search(), reward=np.random.default_rng(0).random(4_000))
    result = judged(log, ALL, TARGET, LOGGING, examination=CURVE)
    warned = {name for (_, name), e in result.estimates.given.items() if "clicks-not-reward" in str(e.warnings)}
    assert set(ALL) - warned == {"ips", "snips", "clip(snips, 20)", "logged"}
