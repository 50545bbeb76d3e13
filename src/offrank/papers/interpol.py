"""Paper interpol (Buchholz, London, Di Benedetto, Joachims): its toy world, Figures 1 to 4 and every claim.

Bias and variance are exact expectations over all that can happen in the toy world; intervals and the choice of a
window come from simulated logs, read by `evaluate` like any other. Both forms of the estimator are judged: the
published one (Eq. 5), and the later `windowed` one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..log.batch import Floats
from ..report.charts import Chart, Series
from ..report.sheet import Cell, Claim, Figures, Section, Sheet, Status
from ..simulation import toy
from .interpol_numbers import IMPRESSIONS, POWERS, STAYS, WINDOWS, Exact, Simulated, curve

STEEP, USUAL_STAY = 1.8, 0.95

_LEAD = (
    "Off-policy evaluation for learning-to-rank via interpolating the item-position model and the position-based model "
    "(A. Buchholz, B. London, G. Di Benedetto, T. Joachims), reproduced: bias and variance are exact expectations, "
    "intervals are from simulated logs. Claims are quoted with what was found here."
)
_LAW = (
    "The paper gives the probability that an item stays, and those of other ranks alike, but no law of permutations. "
    "Here the base ranking is shown, or a uniform permutation, with the probabilities that give these marginals. The "
    "bias depends on the marginals only; the variance differs by at most 17 % between such laws."
)


def sheet(*, scale: float, seed: int, say: Callable[[str], object]) -> Sheet:
    """The reproduction; see the module."""
    say("1. Exact bias and variance of every window, in both forms")
    published, windowed = Exact("paper"), Exact("windowed")
    parts = [_curves(), _powers(published), _randomness(published), _decomposition(published)]
    simulated = Simulated(max(int(200 * scale), 20), seed)
    say(f"2. {simulated.logs} simulated logs of {IMPRESSIONS:,} impressions")
    parts += [_sizes(simulated), _interpolation(simulated, published), _beyond(simulated, published)]
    parts += [_windowed(windowed), _table(published), _table(windowed)]
    return Sheet("INTERPOL between the item-position and the position-based model", _LEAD, tuple(parts))


def _curves() -> Section:
    ranks = [float(rank) for rank in range(toy.ITEMS)]
    lines = tuple(Series(f"{power:g}", ranks, curve(power), line=True) for power in POWERS)
    chart = Chart("Figure 2: position bias curves, by power", "rank", "examination", lines)
    earned = float(toy.EXAMINATION[[toy.TARGET.index(item) for item in toy.RELEVANT]].sum())
    base = float(toy.EXAMINATION[[toy.BASE.index(item) for item in toy.RELEVANT]].sum())
    claim = Claim(
        "The expected reward of the target policy is 2.",
        _status(abs(earned - toy.TRUTH) < 1e-12),
        f"It is {earned:g}; the base ranking without swaps earns {base:g}.",
    )
    return Section("The toy world and its curves (Figure 2)", (_LAW,), (claim,), (chart,))


def _powers(exact: Exact) -> Section:
    """Figure 1a and what is said of it."""
    errors = {power: exact.squared_error(USUAL_STAY, power) for power in POWERS}
    chart = _by_window(f"Figure 1a: mean squared error, by power; stay {USUAL_STAY:g}", errors)
    claims = (_unbiased(exact), *_power_claims(exact))
    return Section("Wrong position bias curves (Figure 1a)", claims=claims, charts=(chart,))


def _unbiased(exact: Exact) -> Claim:
    worst = max(float(np.abs(exact.bias(stay, 1.0)).max()) for stay in STAYS)
    return Claim(
        "Proposition 4.1: unbiased for all windows under the position-based model with the right curve.",
        _status(worst < 1e-9),
        f"The largest bias over {len(WINDOWS)} windows and {len(STAYS)} logging policies is {worst:.0e}.",
    )


def _power_claims(exact: Exact) -> Iterator[Claim]:
    best = {power: exact.best(USUAL_STAY, power) for power in POWERS}
    errors = {power: exact.squared_error(USUAL_STAY, power) for power in POWERS}
    inner = [power for power in POWERS if power != 1 and 0 < best[power] < len(WINDOWS) - 1]
    wrong = [power for power in POWERS if power != 1]
    yield Claim(
        "As the window grows, the error first falls with the variance and then rises with the bias.",
        _status(inner == wrong, bool(inner)),
        f"So it is for the powers {_listed(inner)} of {_listed(wrong)}; elsewhere it rises from the first window on.",
    )
    ends = {power: float(exact.bias(USUAL_STAY, power)[-1]) for power in wrong}
    yield Claim(
        "For all levels of misspecification we eventually end at a clearly biased PBM estimator.",
        _status(min(map(abs, ends.values())) > 0.05),
        "Its bias is " + ", ".join(f"{bias:+.3f} (power {power:g})" for power, bias in ends.items()) + ".",
    )
    helped = [(p, w) for p in POWERS if p < 1 for w in WINDOWS[1:7] if errors[p][w] < errors[1.0][w]]
    beats = all((errors[p][1:7] < errors[p][0]).all() for p in POWERS if p < 1)
    yield Claim(
        "Powers below 1 act as weight clipping, which is beneficial for small windows.",
        _status(2 * len(helped) > 18, bool(helped) and beats),
        f"Windows 1 to 6 {'all' if beats else 'do not all'} beat the IPM then, but they beat the same windows with the "
        f"right curve in {len(helped)} of 18 cases only, such as {1e4 * errors[0.2][6]:.1f} against "
        f"{1e4 * errors[1.0][6]:.1f} (times 1e-4, window 6, power 0.2).",
    )
    within = [power for power in POWERS if 1 <= best[power] <= 6]
    yield Claim(
        "There is a region around windows 1 to 6 where the error is lowest.",
        _status(len(within) == len(POWERS), bool(within)),
        "The best windows are " + ", ".join(f"{window} (power {power:g})" for power, window in best.items()) + ".",
    )
    right = errors[1.0]
    yield Claim(
        "Even with the right curve INTERPOL can reduce the variance: a window of 8 is favourable.",
        _status(best[1.0] == 8, float(right[:9].min()) < 0.999 * float(right[-1])),
        f"The best window is {best[1.0]}: {1e4 * right[best[1.0]]:.3f} against {1e4 * right[-1]:.3f} for the PBM and "
        f"{1e4 * right[0]:.1f} for the IPM (times 1e-4).",
    )
    jump = exact.bias(USUAL_STAY, STEEP)
    yield Claim(
        "The paper does not mention a cliff between windows 6 and 7.",
        "new",
        f"From window 6 to 7 the bias jumps from {jump[6]:+.3f} to {jump[7]:+.3f} (power {STEEP:g}) and the variance "
        f"falls {exact.variance(USUAL_STAY, 1.0)[6] / exact.variance(USUAL_STAY, 1.0)[7]:.0f}-fold (right curve): item "
        "7, which the target moves from rank 7 to the top, is then within the window at its usual place.",
    )


def _randomness(exact: Exact) -> Section:
    """Figure 1b."""
    errors = {stay: exact.squared_error(stay, STEEP) for stay in STAYS}
    best = {stay: exact.best(stay, STEEP) for stay in STAYS}
    weak, strong = [stay for stay in STAYS if stay > 0.9], [stay for stay in STAYS if stay <= 0.9]
    favourable = [stay for stay in weak if 2 <= best[stay] <= 6]
    chosen = ", ".join(f"{window} (stay {stay:g})" for stay, window in best.items())
    claims = (
        Claim(
            "A window between 2 and 6 is favourable where the randomisation is weak (stay above 0.9).",
            _status(favourable == weak, bool(favourable)),
            f"The best windows are {chosen}.",
        ),
        Claim(
            "For stronger randomisation the IPM has a lower error.",
            _status(all(best[stay] == 0 for stay in strong), any(best[stay] == 0 for stay in strong)),
            f"It is best for the stays {_listed([stay for stay in strong if best[stay] == 0])} of {_listed(strong)}.",
        ),
    )
    chart = _by_window(f"Figure 1b: mean squared error, by stay; power {STEEP:g}", errors)
    return Section("Randomness of the logging (Figure 1b)", claims=claims, charts=(chart,))


def _decomposition(exact: Exact) -> Section:
    """Figure 1c."""
    squared, variance = exact.bias(USUAL_STAY, STEEP) ** 2, exact.variance(USUAL_STAY, STEEP)
    lines = {"squared bias": squared, "variance": variance, "mean squared error": squared + variance}
    first = int(np.flatnonzero(squared > variance)[0])
    dominated = bool((squared > variance)[3:].all())
    one = exact.variance(USUAL_STAY, STEEP) * IMPRESSIONS
    claim = Claim(
        "For a window larger than 2 the bias dominates the error.",
        _status(dominated and first in {2, 3}, dominated),
        f"The squared bias exceeds the variance from window {first} on. Windows 2 and 3 would be where both are equal "
        f"with {one[2] / squared[2]:,.0f} and {one[3] / squared[3]:,.0f} impressions instead of {IMPRESSIONS:,}.",
    )
    chart = _by_window(f"Figure 1c: bias and variance; power {STEEP:g}, stay {USUAL_STAY:g}", lines)
    return Section("Bias and variance (Figure 1c)", claims=(claim,), charts=(chart,))


def _sizes(simulated: Simulated) -> Section:
    """Figure 3."""
    named = {"wrong PBM": (10, STEEP), "IPM": (0, STEEP), "right PBM": (10, 1.0)}
    charts: list[Chart] = []
    rows: list[tuple[Cell, ...]] = []
    for name, (window, power) in named.items():
        found = simulated.by_size(window, power)
        charts.append(_with_truth(f"Figure 3: {name}, 95 % intervals", "impressions", name, found, log_x=True))
        rows += [(name, int(size), *numbers) for size, *numbers in found]
    covered = {name: simulated.coverage(*case) for name, case in named.items()}
    deviation = {name: simulated.deviation(*case) for name, case in named.items()}
    widths = [high - low for _, _, low, high in simulated.by_size(0, STEEP)]
    enough = 0.95 - 3 * float(np.sqrt(0.95 * 0.05 / simulated.logs))
    claims = (
        Claim(
            "With a misspecified curve the PBM is severely biased.",
            _status(covered["wrong PBM"] == 0),
            f"Of {simulated.logs} intervals {covered['wrong PBM']:.0%} hold the truth; the mean estimate is "
            f"{simulated.mean(10, STEEP):.2f} instead of {toy.TRUTH:g}.",
        ),
        Claim(
            "The IPM has a higher variance, but the truth lies inside its 95 % interval; intervals shrink around it.",
            _status(
                covered["IPM"] > enough and deviation["IPM"] > deviation["wrong PBM"] and widths[-1] < widths[0] / 3
            ),
            f"{covered['IPM']:.0%} of its intervals hold the truth; its standard deviation is {deviation['IPM']:.3f}, "
            f"that of the wrong PBM {deviation['wrong PBM']:.3f}.",
        ),
        Claim(
            "The PBM with the right curve is correct and less variable than the IPM.",
            _status(covered["right PBM"] > enough and deviation["right PBM"] < deviation["IPM"]),
            f"{covered['right PBM']:.0%} of its intervals hold the truth; its standard deviation is "
            f"{deviation['right PBM']:.3f}.",
        ),
    )
    table = Figures("Estimates by size of the log", ("estimator", "impressions", "value", "low", "high"), tuple(rows))
    return Section("Size of the log (Figure 3)", claims=claims, charts=tuple(charts), tables=(table,))


def _interpolation(simulated: Simulated, exact: Exact) -> Section:
    """Figure 4, and whether simulation and exact expectation agree."""
    found = simulated.by_window(STEEP)
    expected = (toy.TRUTH + exact.bias(USUAL_STAY, STEEP)).tolist()
    chart = _with_truth(
        f"Figure 4: one log of {IMPRESSIONS:,}, power {STEEP:g}", "window", "estimate", found, expected=expected
    )
    cases = [(window, power) for power in simulated.powers for window in WINDOWS]
    errors = [np.sqrt(exact.variance(USUAL_STAY, power)[window] / simulated.logs) for window, power in cases]
    away = [simulated.mean(w, p) - toy.TRUTH - exact.bias(USUAL_STAY, p)[w] for w, p in cases]
    far = float(np.abs(np.array(away) / np.array(errors)).max())
    claim = Claim(
        "The simulated estimates have the exact expectations.",
        _status(far < 4),
        f"Over {len(cases)} windows and powers the means of {simulated.logs} logs are at most {far:.1f} standard "
        "errors from them.",
    )
    table = Figures("One log, by window", ("window", "value", "low", "high"), tuple((int(w), *r) for w, *r in found))
    return Section("Between the two models (Figure 4)", claims=(claim,), charts=(chart,), tables=(table,))


def _beyond(simulated: Simulated, exact: Exact) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for power in simulated.powers:
        fixed = exact.squared_error(USUAL_STAY, power)
        errors = (simulated.slope_error(power), float(fixed.min()), float(fixed[0]), float(fixed[-1]))
        rows.append((f"{power:g}", *(1e4 * error for error in errors), f"{exact.best(USUAL_STAY, power)}"))
    said = "; ".join(f"power {row[0]}: {row[1]:.3g} against {row[2]:.3g}" for row in rows)
    claim = Claim(
        "Methods for choosing the best window are future work.",
        "new",
        f"`interpol(window=slope)` chooses it from the log by SLOPE. Its error (times 1e-4) and that of the best fixed "
        f"window, which nobody knows beforehand: {said}.",
    )
    header = ("power", "slope", "best window", "IPM", "PBM", "which is best")
    table = Figures("Mean squared error, times 1e-4", header, tuple(rows))
    return Section("A window chosen from the data (beyond the paper)", claims=(claim,), tables=(table,))


def _windowed(exact: Exact) -> Section:
    """The claims once more for the later form."""
    charts = (
        _by_window("Figure 1a, windowed form", {power: exact.squared_error(USUAL_STAY, power) for power in POWERS}),
        _by_window("Figure 1b, windowed form", {stay: exact.squared_error(stay, STEEP) for stay in STAYS}),
    )
    parts = (_powers(exact), _randomness(exact), _decomposition(exact))
    claims = tuple(Claim(f"Windowed: {c.text}", c.status, c.evidence) for part in parts for c in part.claims)
    prose = "Later code of the authors divides by the expected examination inside the window: form=windowed."
    return Section("The windowed form", (prose,), claims, charts)


def _table(exact: Exact) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for stay, power in [*((USUAL_STAY, p) for p in POWERS), *((s, STEEP) for s in STAYS if s != USUAL_STAY)]:
        bias, variance = exact.bias(stay, power), exact.variance(stay, power)
        for w in WINDOWS:
            numbers = (bias[w], 1e4 * variance[w], 1e4 * (bias[w] ** 2 + variance[w]))
            rows.append((f"{stay:g}", f"{power:g}", w, *map(float, numbers)))
    header = ("stay", "power", "window", "bias", "variance, 1e-4", "squared error, 1e-4")
    table = Figures(f"Exact, {IMPRESSIONS:,} impressions, form={exact.form}", header, tuple(rows))
    return Section(f"All numbers, form={exact.form}", tables=(table,))


def _by_window(title: str, lines: dict[float, Floats] | dict[str, Floats]) -> Chart:
    """Lines over the windows, by powers of ten: what is zero, as the squared bias of the IPM, has no place there."""
    series = []
    for name, values in lines.items():
        windows = np.flatnonzero(values > 1e-12)
        series.append(Series(f"{name}", windows.astype(float).tolist(), values[windows].tolist(), line=True))
    return Chart(title, "window", "mean squared error", tuple(series), log_y=True)


def _with_truth(
    title: str,
    x_label: str,
    name: str,
    found: list[tuple[float, float, float, float]],
    log_x: bool = False,
    expected: list[float] | None = None,
) -> Chart:
    """Estimates (x, value, low, high) with their intervals, beside the truth."""
    x, value, low, high = (list(column) for column in zip(*found, strict=True))
    series = [Series(name, x, value, low, high), Series("truth", x, [toy.TRUTH] * len(x), line=True)]
    series += [] if expected is None else [Series("expectation", x, expected, line=True)]
    return Chart(title, x_label, "estimated reward", tuple(series), log_x=log_x)


def _status(found: bool, partly: bool = False) -> Status:
    return "reproduced" if found else "in part" if partly else "not reproduced"


def _listed(numbers: list[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers) or "none"
