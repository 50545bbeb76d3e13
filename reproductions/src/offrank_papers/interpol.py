"""Paper interpol (Buchholz, London, Di Benedetto, Joachims): its toy world, Figures 1 to 4 and every claim.

Bias and variance are exact expectations over all outcomes in the toy world; intervals and the choice of a
window come from simulated logs, read by `evaluate` like any other. Both forms of the estimator are tested: the
published one (Eq. 5), and the later `windowed` one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from offrank.log.batch import Floats
from offrank.report.charts import Chart, Series
from offrank.report.document import Cell, Figures, Section

from . import toy
from .expectations import Expectations, Facts, Run
from .interpol_numbers import IMPRESSIONS, POWERS, SIZES, STAYS, WINDOWS, Exact, SimulatedLogs, curve

STEEP, USUAL_STAY = 1.8, 0.95
NORMAL = 1.959964
"""Half-width of a 95 % interval, in standard errors."""
PAPER = Expectations.of("interpol")
CASES = {"wrong PBM": (10, STEEP), "IPM": (0, STEEP), "right PBM": (10, 1.0)}
"""Window and power of the curves of Figure 3."""


@PAPER.page
def document(asked: Run) -> Iterator[Section]:
    """Return the reproduction; see the module."""
    asked.say("1. Exact bias and variance of every window, in both forms")
    published, windowed = Exact("paper"), Exact("windowed")
    yield _curves()
    yield from (PAPER.section(name, facts, [_chart(name, published)]) for name, facts in _facts(published).items())
    simulated = SimulatedLogs(asked.size(200, 20), asked.seed)
    asked.say(f"2. {simulated.logs} simulated logs of {IMPRESSIONS:,} impressions")
    yield from (_sizes(simulated), _interpolation(simulated, published), _slope(simulated, published))
    yield from (_windowed(windowed), _numbers(published), _numbers(windowed))


def _curves() -> Section:
    ranks = [float(rank) for rank in range(toy.ITEMS)]
    lines = tuple(Series(f"{power:g}", ranks, curve(power), line=True) for power in POWERS)
    chart = Chart("Figure 2: position bias curves, by power", "rank", "examination", lines)
    reward, base = (
        float(toy.EXAMINATION[[shown.index(item) for item in toy.RELEVANT]].sum()) for shown in (toy.TARGET, toy.BASE)
    )
    return PAPER.section("curves", {"expected reward": reward, "reward of the base": base}, [chart])


def _windowed(exact: Exact) -> Section:
    """Check the claims again for the later form."""
    claims = [one for name, facts in _facts(exact).items() for one in PAPER.claims(name, facts, "windowed")]
    charts = [_chart(name, exact) for name in ("powers", "randomness")]
    return replace(PAPER.section("windowed", charts=charts), claims=tuple(claims))


def _facts(exact: Exact) -> dict[str, Facts]:
    """Return the facts of Figures 1a to 1c."""
    return {"powers": _powers(exact), "randomness": _randomness(exact), "decomposition": _decomposition(exact)}


def _powers(exact: Exact) -> Facts:
    best = {power: exact.best(USUAL_STAY, power) for power in POWERS}
    errors = {power: 1e4 * exact.squared_error(USUAL_STAY, power) for power in POWERS}
    wrong, low = [power for power in POWERS if power != 1], [power for power in POWERS if power < 1]
    inside = [power for power in wrong if 0 < best[power] < len(WINDOWS) - 1]
    ends = {f"{power:g}:": float(exact.bias(USUAL_STAY, power)[-1]) for power in wrong}
    right, jump, variance = errors[1.0], exact.bias(USUAL_STAY, STEEP), exact.variance(USUAL_STAY, 1.0)
    return {
        "largest bias": max(float(np.abs(exact.bias(stay, 1.0)).max()) for stay in STAYS),
        "windows": len(WINDOWS),
        "stays": len(STAYS),
        "powers": len(POWERS),
        "powers with a best window inside": len(inside),
        "wrong powers": len(wrong),
        "inside": inside,
        "wrong": wrong,
        "bias of the PBM": ends,
        "least bias of the PBM": min(map(abs, ends.values())),
        "cases that beat the right curve": sum(int((errors[power] < right)[1:7].sum()) for power in low),
        "cases that beat the IPM": sum(int((errors[power] < errors[power][0])[1:7].sum()) for power in low),
        "example": errors[0.2][6],
        "example with the right curve": right[6],
        "powers with a best window in the region": sum(1 <= window <= 6 for window in best.values()),
        "best windows": {f"{power:g}:": window for power, window in best.items()},
        "best window": best[1.0],
        "error of windows to 8 over the PBM's": right[:9].min() / right[-1],
        "least error": right[best[1.0]],
        "error of the PBM": right[-1],
        "error of the IPM": right[0],
        "bias at 6": jump[6],
        "bias at 7": jump[7],
        "fall of the variance": variance[6] / variance[7],
    }


def _randomness(exact: Exact) -> Facts:
    best = {stay: exact.best(stay, STEEP) for stay in STAYS}
    weak, strong = [stay for stay in STAYS if stay > 0.9], [stay for stay in STAYS if stay <= 0.9]
    won = [stay for stay in strong if best[stay] == 0]
    return {
        "weak stays": len(weak),
        "weak stays with a best window of 2 to 6": sum(2 <= best[stay] <= 6 for stay in weak),
        "best windows": {f"{stay:g}:": window for stay, window in best.items()},
        "strong stays": len(strong),
        "strong stays where the IPM is best": len(won),
        "best": won,
        "strong": strong,
    }


def _decomposition(exact: Exact) -> Facts:
    squared, variance = exact.bias(USUAL_STAY, STEEP) ** 2, exact.variance(USUAL_STAY, STEEP)
    return {
        "first window where it dominates": int(np.flatnonzero(squared > variance)[0]),
        "least squared bias over variance from window 3": (squared / variance)[3:].min(),
        "impressions at 2": IMPRESSIONS * variance[2] / squared[2],
        "impressions at 3": IMPRESSIONS * variance[3] / squared[3],
    }


def _chart(name: str, exact: Exact) -> Chart:
    squared, variance = exact.bias(USUAL_STAY, STEEP) ** 2, exact.variance(USUAL_STAY, STEEP)
    title, lines = {
        "powers": (
            f"Figure 1a: mean squared error, by power; stay {USUAL_STAY:g}",
            {f"{power:g}": exact.squared_error(USUAL_STAY, power) for power in POWERS},
        ),
        "randomness": (
            f"Figure 1b: mean squared error, by stay; power {STEEP:g}",
            {f"{stay:g}": exact.squared_error(stay, STEEP) for stay in STAYS},
        ),
        "decomposition": (
            f"Figure 1c: bias and variance; power {STEEP:g}, stay {USUAL_STAY:g}",
            {"squared bias": squared, "variance": variance, "mean squared error": squared + variance},
        ),
    }[name]
    return _by_window(title + ("" if exact.form == "paper" else f", {exact.form} form"), lines)


def _sizes(simulated: SimulatedLogs) -> Section:
    """Return the facts of Figure 3."""
    facts = {"logs": simulated.logs, ".95 less three errors": 0.95 - 3 * float(np.sqrt(0.95 * 0.05 / simulated.logs))}
    charts, rows = [], list[tuple[Cell, ...]]()
    for name, (window, power) in CASES.items():
        value, error = simulated.of(window, power)
        facts[f"coverage of the {name}"] = float((np.abs(value - toy.TRUTH) <= NORMAL * error).mean())
        facts[f"deviation of the {name}"] = float(value.std(ddof=1))
        facts[f"mean of the {name}"] = float(value.mean())
        value, error = (each[:, simulated.powers.index(power), window] for each in simulated.by_size)
        charts.append(_with_truth(f"Figure 3: {name}, 95 % intervals", "impressions", name, SIZES, value, error))
        ends = zip(value.tolist(), (value - NORMAL * error).tolist(), (value + NORMAL * error).tolist(), strict=True)
        rows += [(name, size, *each) for size, each in zip(SIZES, ends, strict=True)]
        facts[f"interval of the {name} with 25,000 impressions over that with 2,500"] = float(error[-1] / error[3])
    table = Figures("Estimates by size of the log", ("estimator", "impressions", "value", "low", "high"), tuple(rows))
    return PAPER.section("sizes", facts, charts, [table])


def _interpolation(simulated: SimulatedLogs, exact: Exact) -> Section:
    """Return Figure 4, and whether simulation and exact expectation agree."""
    bias, variance = (
        np.array([moment(USUAL_STAY, power) for power in simulated.powers]) for moment in (exact.bias, exact.variance)
    )
    value, error = (each[0, simulated.powers.index(STEEP)] for each in simulated.estimates)
    away = simulated.estimates[0].mean(axis=0) - toy.TRUTH - bias
    far = float(np.abs(away / np.sqrt(variance / simulated.logs)).max())
    facts = {"largest deviation in standard errors": far, "cases": away.size, "logs": simulated.logs}
    expected = (toy.TRUTH + exact.bias(USUAL_STAY, STEEP)).tolist()
    title = f"Figure 4: one log of {IMPRESSIONS:,}, power {STEEP:g}"
    chart = _with_truth(title, "window", "estimate", WINDOWS, value, error, expected)
    return PAPER.section("interpolation", facts, [chart])


def _slope(simulated: SimulatedLogs, exact: Exact) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for power in simulated.powers:
        fixed = exact.squared_error(USUAL_STAY, power)
        errors = (simulated.slope_error(power), float(fixed.min()), float(fixed[0]), float(fixed[-1]))
        rows.append((f"{power:g}", *(1e4 * error for error in errors), f"{exact.best(USUAL_STAY, power)}"))
    facts = {name: {f"{row[0]}:": row[place] for row in rows} for place, name in ((1, "errors"), (2, "best errors"))}
    header = ("power", "slope", "best window", "IPM", "PBM", "which is best")
    return PAPER.section("slope", facts, tables=[Figures("Mean squared error, times 1e-4", header, tuple(rows))])


def _numbers(exact: Exact) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for stay, power in [*((USUAL_STAY, p) for p in POWERS), *((s, STEEP) for s in STAYS if s != USUAL_STAY)]:
        bias, variance = exact.bias(stay, power), exact.variance(stay, power)
        for w in WINDOWS:
            numbers = (bias[w], 1e4 * variance[w], 1e4 * (bias[w] ** 2 + variance[w]))
            rows.append((f"{stay:g}", f"{power:g}", w, *map(float, numbers)))
    header = ("stay", "power", "window", "bias", "variance, 1e-4", "squared error, 1e-4")
    table = Figures(f"Exact, {IMPRESSIONS:,} impressions, form={exact.form}", header, tuple(rows))
    return PAPER.section("numbers", {"form": exact.form}, tables=[table])


def _by_window(title: str, lines: Mapping[str, Floats]) -> Chart:
    """Plot lines over the windows on a logarithmic axis, which omits zeros, such as the squared bias of the IPM."""
    series = []
    for name, values in lines.items():
        windows = np.flatnonzero(values > 1e-12)
        series.append(Series(name, windows.astype(float).tolist(), values[windows].tolist(), line=True))
    return Chart(title, "window", "mean squared error", tuple(series), log_y=True)


def _with_truth(
    title: str, label: str, name: str, x: Sequence[float], value: Floats, error: Floats, expected: Sequence[float] = ()
) -> Chart:
    """Plot estimates with 95 % intervals, beside the truth."""
    ends = (value - NORMAL * error).tolist(), (value + NORMAL * error).tolist()
    series = [Series(name, x, value.tolist(), *ends), Series("truth", x, [toy.TRUTH] * len(x), line=True)]
    series += [Series("expectation", x, expected, line=True)] if expected else []
    return Chart(title, label, "estimated reward", tuple(series), log_x=label == "impressions")
