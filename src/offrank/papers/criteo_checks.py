"""The counterfactual test-bed (Lefortier and others): Tables 1 to 4, on a log of the user's own or a simulated one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks.mixtures import EPSILONS, Mixture, Mixtures, MixturesFold
from ..folds.estimate import Interval
from ..jobs import arguments
from ..log.source import Source
from ..policies.uniform import Uniform
from ..policies.written import Logged
from ..report.charts import Chart, Series
from ..report.sheet import Cell, Claim, Figures, Section, Sheet, Status
from ..running.executors import run
from ..simulation.adverts import AdvertWorld

_PER = 1e4  # click rates are shown times 10,000, as in the paper
_SHARPNESS = 2.2
_LOGS = 20
_LEAD = (
    "Large-scale validation of counterfactual learning methods: a test-bed (D. Lefortier and others). Its sanity "
    "checks of logged propensities: policies that are uniform with probability epsilon, else the logging one, judged "
    "by number of slots. Intervals are at 99 %, and every row is corrected once for the sub-sampling of banners "
    "without a click."
)
_CHECKS_HEADER = (
    "slots",
    "impressions",
    "before sub-sampling",
    "mean 1 / propensity, as read",
    "mean 1 / propensity, corrected",
    "slates that could be shown",
    "largest 1 / propensity",
)
_HEADER = (
    "epsilon",
    "mean weight",
    "+-",
    "IPS",
    "+- of IPS",
    "SNIPS",
    "+- of SNIPS",
    "truth",
    "effective sample size",
    "warnings",
)


def sheet(*, log: Any, scale: float, seed: int, say: Callable[[str], object]) -> Sheet:
    """The reproduction; see the module."""
    world = AdvertWorld(max(int(400_000 * scale), 5_000), seed, sharpness=_SHARPNESS) if log is None else None
    source: Source = arguments.source(log) if world is None else world.source()
    say(f"1. Reading {source.describe()} once")
    fold = MixturesFold(Logged())
    found = run(source.select(fold.needs()), fold)
    truths = {} if world is None else {slots: _truth(world, slots) for slots in found}
    parts = [_propensities(found), _policies(found, truths)]
    if world is not None:
        repeated = Repeated(AdvertWorld(_LOGS * _log_rows(scale), seed, sharpness=_SHARPNESS), _log_rows(scale))
        say(f"2. The same on {_LOGS} logs of {repeated.rows:,}: are the intervals right?")
        parts.append(_again(repeated))
    parts += [_table(slots, one, truths.get(slots)) for slots, one in found.items()]
    return Sheet("The counterfactual test-bed: checks", _LEAD, tuple(parts))


@dataclass(frozen=True)
class Truth:
    """Expected clicks per impression of the logging policy and of the uniform one."""

    logging: float
    uniform: float

    def of(self, epsilon: float) -> float:
        """Of the policy between them: its slates are drawn whole by one or the other."""
        return (1 - epsilon) * self.logging + epsilon * self.uniform


@dataclass(frozen=True)
class Repeated:
    """Logs of `rows` impressions each, cut from one that is as long as all of them."""

    world: AdvertWorld
    rows: int

    def logs(self) -> Iterator[dict[int, Mixtures]]:
        """Each log, reduced."""
        fold = MixturesFold(Logged())
        source = self.world.source().select(fold.needs())
        each = source.parts() // _LOGS
        for first in range(0, source.parts(), each):
            state = fold.empty()
            for part in range(first, first + each):
                for batch in source.batches(part):
                    state = fold.add(state, batch)
            yield fold.finish(state)


def _log_rows(scale: float) -> int:
    """Impressions of each of the repeated logs: whole parts of the simulated one."""
    return max(round(5 * scale), 1) * 10_000


def _truth(world: AdvertWorld, slots: int) -> Truth:
    return Truth(world.truth(world.logging, slots=slots), world.truth(Uniform(), slots=slots))


def _propensities(found: Mapping[int, Mixtures]) -> Section:
    """Table 1, and what can be read off it."""
    rows = tuple(
        (
            str(slots),
            one.impressions,
            one.estimated_impressions,
            one.mean_inverse_propensity,
            one.corrected_inverse_propensity,
            one.mean_slates,
            one.largest_inverse_propensity,
        )
        for slots, one in found.items()
    )
    large = [slots for slots, one in found.items() if one.largest_inverse_propensity > one.impressions]
    claim = Claim(
        "Where inverse propensities are very large relative to the number of samples, a normal interval is probably "
        "wrong.",
        "reproduced" if large else "not reproduced",
        f"The largest one exceeds the number of impressions at {_listed(large)} slots.",
    )
    prose = (
        "Corrected for the sub-sampling, the mean of 1 / propensity estimates how many slates could be shown, which "
        "the log says itself: the two columns beside each other are a check of the propensities. The paper's column "
        "is the one as read."
    )
    table = Figures("Table 1: propensities by number of slots", _CHECKS_HEADER, rows)
    return Section("Propensities (Table 1)", (prose,), (claim,), tables=(table,))


def _policies(found: Mapping[int, Mixtures], truths: Mapping[int, Truth]) -> Section:
    """What Tables 2 to 4 say, as pictures and claims."""
    uniform = {slots: one.at(1.0) for slots, one in found.items()}
    wider = [slots for slots, one in found.items() if _half(one.at(1.0)) > _half(one.at(0.0))]
    low = [slots for slots, one in uniform.items() if one.mean_weight.high < 1]
    doubted = [slots for slots, one in uniform.items() if one.cautions]
    claims = [
        Claim(
            "The more a policy differs from the logging one, the wider is its interval.",
            _status(len(wider) == len(found), bool(wider)),
            f"From epsilon 0 to 1 the interval of IPS widens at {_listed(wider)} slots.",
        ),
        Claim(
            "The mean weight is systematically under-estimated at many slots.",
            _status(bool(low), any(one.mean_weight.value < 1 for one in uniform.values())),
            f"The interval for the uniform policy ends below 1 at {_listed(low)} slots: {_means(uniform)}.",
        ),
        Claim(
            "A warning tells where an interval cannot be trusted.",
            "new",
            f"For the uniform policy there are warnings at {_listed(doubted)} slots.",
        ),
    ]
    if truths:
        missed = [
            slots for slots, one in uniform.items() if not one.plain.low <= truths[slots].uniform <= one.plain.high
        ]
        silent = [slots for slots in missed if slots not in doubted]
        claims.append(
            Claim(
                "In situations of very high variance the intervals are not reliable.",
                _status(bool(missed), True),
                f"For the uniform policy IPS misses the truth at {_listed(missed)} slots, without a warning at "
                f"{_listed(silent)}.",
            )
        )
    return Section("Between the logging policy and the uniform one", (), tuple(claims), _charts(found, truths))


def _charts(found: Mapping[int, Mixtures], truths: Mapping[int, Truth]) -> tuple[Chart, ...]:
    weights, rates = [], []
    for slots, one in found.items():
        mixed = [one.at(epsilon) for epsilon in EPSILONS[1:]]
        weights.append(Series(f"{slots} slots", list(EPSILONS[1:]), [m.mean_weight.value for m in mixed], line=True))
        rates.append(one.at(1.0))
    x = [float(slots) for slots in found]
    means = [one.mean_weight for one in rates]
    bars = Series("found", x, [m.value for m in means], [m.low for m in means], [m.high for m in means])
    one_line = Series("expected", x, [1.0] * len(x), line=True)
    value, low, high = (_times([getattr(one.plain, end) for one in rates]) for end in ("value", "low", "high"))
    series = [Series("IPS", x, value, low, high)]
    if truths:
        series.append(Series("truth", x, _times([truths[slots].uniform for slots in found]), line=True))
    return (
        Chart("Mean weight of the uniform policy", "slots", "mean weight", (bars, one_line)),
        Chart("Mean weight by epsilon", "epsilon", "mean weight", tuple(weights), log_x=True),
        Chart("Click rate of the uniform policy, times 10,000", "slots", "clicks", tuple(series)),
    )


_REPEATED_HEADER = (
    "slots",
    "mean of C",
    "median of C",
    "C ends below 1",
    "C holds 1",
    "IPS holds the truth",
    "SNIPS holds the truth",
    "logs without a warning",
    "IPS holds the truth on these",
)


def _again(repeated: Repeated) -> Section:
    """How often intervals for the uniform policy hold the truth."""
    made: dict[int, list[Mixture]] = {}
    for log in repeated.logs():
        for slots, one in log.items():
            made.setdefault(slots, []).append(one.at(1.0))
    rows = {slots: _coverage(made[slots], _truth(repeated.world, slots).uniform) for slots in sorted(made)}
    weights = [[one.mean_weight.value for one in made[slots]] for slots in rows]
    x, median = [float(slots) for slots in rows], [float(np.median(one)) for one in weights]
    points = Series("median and range", x, median, list(map(min, weights)), list(map(max, weights)))
    expected = Series("expected", x, [1.0] * len(x), line=True)
    chart = Chart(f"Mean weight of the uniform policy, {_LOGS} logs", "slots", "mean weight", (points, expected))
    least, most = min(rows), max(rows)
    claim = Claim(
        "Under-estimation is systematic, not an accident of one log.",
        _status(median[-1] < 0.9, median[-1] < 1),
        f"At {most} slots the median of C over {_LOGS} logs of {repeated.rows:,} is {median[-1]:.3g}; nominal 99 % "
        f"intervals of IPS hold the truth in {rows[most][4]:.0%} of them, at {least} slots in {rows[least][4]:.0%}.",
    )
    prose = (
        "The expectation of the mean weight is 1 at any number of slots. But where nearly all of it stands in weights "
        "too rare for the log to hold, nearly every log shows less, with a narrow interval around that."
    )
    cells = tuple((str(slots), *row) for slots, row in rows.items())
    table = Figures(f"The uniform policy on {_LOGS} logs of {repeated.rows:,}", _REPEATED_HEADER, cells)
    return Section("Why: the same log many times (beyond the paper)", (prose,), (claim,), (chart,), (table,))


def _coverage(made: list[Mixture], truth: float) -> tuple[float | None, ...]:
    """The cells of a row for one number of slots, from the same policy on many logs."""
    weights = [one.mean_weight.value for one in made]
    quiet = [one for one in made if not one.cautions]
    return (
        float(np.mean(weights)),
        float(np.median(weights)),
        _share([one.mean_weight.high < 1 for one in made]),
        _share([_holds(one.mean_weight, 1) for one in made]),
        _share([_holds(one.plain, truth) for one in made]),
        _share([_holds(one.normalised, truth) for one in made]),
        float(len(quiet)),
        _share([_holds(one.plain, truth) for one in quiet]),
    )


def _holds(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


def _table(slots: int, one: Mixtures, truth: Truth | None) -> Section:
    """Half of one of Tables 2 to 4."""
    rows = tuple(_row(one.at(epsilon), truth) for epsilon in EPSILONS)
    worst = {caution.code: caution for caution in one.at(1.0).cautions}
    prose = tuple(f"For the uniform policy, {caution}" for caution in worst.values())
    caption = f"Tables 2 to 4, {slots} slots: {one.impressions:,} impressions, click rates times 10,000"
    return Section(f"{slots} slot{'s' if slots > 1 else ''}", prose, tables=(Figures(caption, _HEADER, rows),))


def _row(made: Mixture, truth: Truth | None) -> tuple[Cell, ...]:
    weight = made.mean_weight
    return (
        "0" if not made.epsilon else "1" if made.epsilon == 1 else f"2^{np.log2(made.epsilon):.0f}",
        weight.value,
        weight.high - weight.value,
        *(_PER * number for one in (made.plain, made.normalised) for number in (one.value, one.high - one.value)),
        None if truth is None else _PER * truth.of(made.epsilon),
        made.ess,
        ", ".join(caution.code for caution in made.cautions) or None,
    )


def _half(made: Mixture) -> float:
    return made.plain.high - made.plain.value


def _means(uniform: Mapping[int, Mixture]) -> str:
    means = ((slots, one.mean_weight) for slots, one in uniform.items())
    return ", ".join(f"{mean.value:.3f} +- {mean.high - mean.value:.3f} at {slots}" for slots, mean in means)


def _times(numbers: list[float]) -> list[float]:
    return [_PER * number for number in numbers]


def _share(flags: list[bool]) -> float | None:
    return float(np.mean(flags)) if flags else None


def _status(found: bool, partly: bool = False) -> Status:
    return "reproduced" if found else "in part" if partly else "not reproduced"


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers)) or "no"
