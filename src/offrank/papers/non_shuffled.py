"""Ranking metrics on non-shuffled traffic (Gilotte): Figures 2 and 3, the variance, and large banners.

The paper's data are private, so its world is built anew: banners by Plackett-Luce, position bias that grows with
the size of the banner, 40 models that know the truth and imitate the logging policy to different degrees.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..checks.impressions import Impressions, ImpressionsFold
from ..log.batch import Floats
from ..metrics.measure import measure
from ..metrics.measured import Measurements
from ..report.charts import Chart, Series
from ..report.sheet import Cell, Claim, Figures, Section, Sheet, Status
from ..running.executors import run
from ..simulation.banners import BannerWorld

PAIRWISE = "pairwise_disagreement"
COUNTERFACTUAL = "counterfactual_disagreement"
BANNER = "banner_disagreement"
DRAWN = f"{COUNTERFACTUAL}(draws=1)"
MANY_DRAWN = f"{COUNTERFACTUAL}(draws=20)"
VARIANTS = (
    PAIRWISE,
    COUNTERFACTUAL,
    DRAWN,
    "counterfactual_loss",
    "counterfactual_ndcg",
    BANNER,
    "banner_ndcg",
    "pairwise_loss",
    "pairwise_ndcg",
)
SHUFFLED_SHARE = 0.05
LARGE = 30
RANDOMNESS = (1.0, 0.5, 0.2, 0.12)

_LEAD = (
    "Ranking metrics on non-shuffled traffic (A. Gilotte), reproduced on simulated banners: the paper's data are not "
    "public. Its claims are quoted with what was found here."
)


@dataclass(frozen=True)
class Study:
    """The same models measured on non-shuffled and on shuffled banners of one world."""

    world: BannerWorld
    metrics: tuple[str, ...] = (PAIRWISE, COUNTERFACTUAL)

    @cached_property
    def found(self) -> Measurements:
        """On non-shuffled banners."""
        return measure(self.world, self.world.model_names, self.world.logging, self.metrics)

    @cached_property
    def reference(self) -> Measurements:
        """Pairwise disagreement on shuffled banners."""
        return measure(replace(self.world, shuffled=True), self.world.model_names, "uniform", PAIRWISE)

    def values(self, metric: str) -> Floats:
        """[models] on non-shuffled banners."""
        return np.array([self.found[model, metric].value for model in self.world.model_names])

    @cached_property
    def truth(self) -> Floats:
        """[models] on shuffled banners."""
        return np.array([self.reference[model].value for model in self.world.model_names])

    def correlation(self, metric: str) -> float:
        """Pearson's, over the models, with the reference."""
        return float(np.corrcoef(self.values(metric), self.truth)[0, 1])

    def ranks_agree(self, metric: str) -> float:
        """Spearman's, over the models."""
        one, other = (np.argsort(np.argsort(values)).astype(float) for values in (self.values(metric), self.truth))
        return float(np.corrcoef(one, other)[0, 1])

    def variance_ratio(self, metric: str = COUNTERFACTUAL) -> float:
        """Clicks that the metric needs for one click of the reference, at the same variance; median over models."""
        each = []
        for model in self.world.model_names:
            one, other = self.found[model, metric], self.reference[model]
            each.append(one.standard_error**2 * one.clicks / (other.standard_error**2 * other.clicks))
        return float(np.median(each))

    @property
    def rejected(self) -> float:
        """Share of the clicks that Algorithm 2 rejects."""
        return self.found[self.world.model_names[0], COUNTERFACTUAL].rejected


def sheet(*, scale: float, seed: int, say: Callable[[str], object]) -> Sheet:
    """The reproduction; see the module."""
    world = BannerWorld(impressions=max(int(300_000 * scale), 3_000), seed=seed)
    study = Study(world, VARIANTS)
    say(f"1. Click rates by rank and {world.models} models on {world.impressions:,} banners, shuffled and not")
    parts = [_click_rates(world), _correlations(study)]
    say("2. The same from almost random to almost deterministic logging")
    parts.append(_variance(world))
    say(f"3. Banners of {LARGE} products, which the paper calls impractical")
    parts += [_large(world, scale), _models(study)]
    return Sheet("Ranking metrics on non-shuffled traffic", _LEAD, tuple(parts))


def _click_rates(world: BannerWorld) -> Section:
    kinds = {slots: _by_rank(replace(world, slots=(slots,))) for slots in world.slots}
    lines = [Series(f"{slots} products", _ranks(rates), rates, line=True) for slots, rates in kinds.items()]
    rows = [(f"{slots} products", rank, rate) for slots, rates in kinds.items() for rank, rate in _numbered(rates)]
    falls = {slots: rates[0] / rates[-1] for slots, rates in kinds.items()}
    steep = all(fall > 1.5 for fall in falls.values()) and falls[max(falls)] == max(falls.values())
    evidence = ", ".join(f"{fall:.1f} times for {slots} products" for slots, fall in falls.items())
    claim = Claim(
        "The click-through rate depends strongly on the rank, especially on large banners.",
        _status(steep),
        f"From the first to the last rank it falls {evidence}. The position bias is built into this world.",
    )
    chart = Chart("Figure 2: click rate by rank, non-shuffled", "rank", "click rate", tuple(lines))
    table = Figures("Click rate by rank", ("banner", "rank", "click rate"), tuple(rows))
    return Section("Click rate by rank (Figure 2)", claims=(claim,), charts=(chart,), tables=(table,))


def _correlations(study: Study) -> Section:
    charts = tuple(
        _scatter(study, metric, f"Figure 3({letter}): {metric}, non-shuffled")
        for letter, metric in (("a", PAIRWISE), ("b", COUNTERFACTUAL))
    )
    # Clicks needed can be compared between metrics on one scale only.
    rows = tuple(
        (m, study.correlation(m), study.ranks_agree(m), study.variance_ratio(m) if "disagreement" in m else None)
        for m in study.metrics
    )
    header = ("metric on non-shuffled banners", "correlation", "rank correlation", "variance ratio")
    caption = f"With {PAIRWISE} on shuffled banners, over {study.world.models} models (nDCG grows where others fall)"
    return Section(
        "Which metric sees through the position bias? (Figure 3)",
        claims=tuple(_claims(study)),
        charts=charts,
        tables=(Figures(caption, header, rows),),
    )


def _claims(study: Study) -> Iterator[Claim]:
    weak, good = study.correlation(PAIRWISE), study.correlation(COUNTERFACTUAL)
    yield Claim(
        "Pairwise disagreement on non-shuffled banners is only weakly correlated with that on shuffled ones.",
        _status(weak < 0.7),
        f"Correlation {weak:.3f}, of the ranks {study.ranks_agree(PAIRWISE):.3f}.",
    )
    yield Claim(
        "Counterfactual disagreement correlates reasonably well.",
        _status(good > 0.9),
        f"Correlation {good:.3f}, of the ranks {study.ranks_agree(COUNTERFACTUAL):.3f}.",
    )
    away, likeness = _residuals(study), np.array([study.world.likeness(m) for m in study.world.model_names])
    far = float(np.corrcoef(away, likeness)[0, 1])
    yield Claim(
        "The few outliers are models very far from the logging policy.",
        _status(far < -0.3),
        f"Distance from the line and likeness to the logging policy have correlation {far:+.2f}; the largest distance "
        f"is {away.max():.4f}, at a likeness of {likeness[away.argmax()]:.2f} (range {likeness.min():.2f} to "
        f"{likeness.max():.2f}).",
    )
    gap = study.values(COUNTERFACTUAL) - study.truth
    yield Claim(
        "The two metrics differ by an almost constant value.",
        _status(abs(gap.mean()) > 2 * gap.std(), abs(gap.mean()) > gap.std()),
        f"Here by {gap.mean():+.4f} on average with a standard deviation of {gap.std():.4f} over the models, although "
        "the logging policy is known exactly: pairs and contexts are weighted by how random their order was.",
    )
    whole = study.correlation(BANNER)
    yield Claim(
        "Whether drawing the products again too (section 5.1) correlates better is not known.",
        "new",
        f"It makes next to no difference here: {whole:.3f} against {good:.3f}; with a variance ratio of "
        f"{study.variance_ratio(BANNER):.2f} against {study.variance_ratio():.2f}."
        if abs(whole - good) < 0.01
        else f"Here it is {whole:.3f} against {good:.3f}; the variance ratios are {study.variance_ratio(BANNER):.2f} "
        f"and {study.variance_ratio():.2f}.",
    )


def _variance(world: BannerWorld) -> Section:
    metrics = (PAIRWISE, COUNTERFACTUAL, DRAWN)
    studies = [Study(replace(world, randomness=r, impressions=world.impressions // 2), metrics) for r in RANDOMNESS]
    ratios = {metric: [s.variance_ratio(metric) for s in studies] for metric in (COUNTERFACTUAL, DRAWN)}
    rejected = [s.rejected for s in studies]
    header = ("temperature of the logging", "rejected", "variance ratio", "with one draw", COUNTERFACTUAL, PAIRWISE)
    rows = tuple(
        (f"{r:g}", s.rejected, exact, drawn, s.correlation(COUNTERFACTUAL), s.correlation(PAIRWISE))
        for r, s, exact, drawn in zip(RANDOMNESS, studies, *ratios.values(), strict=True)
    )
    needed = (("exact expectation", ratios[COUNTERFACTUAL]), ("one draw per click", ratios[DRAWN]))
    agreeing = ((metric, [s.correlation(metric) for s in studies]) for metric in (COUNTERFACTUAL, PAIRWISE))
    charts = (
        _by_rejected("Clicks needed for one shuffled click", "variance ratio", rejected, needed),
        _by_rejected("Correlation with the reference", "correlation over models", rejected, agreeing),
    )
    caption = "By how random the logging is; the last two columns are correlations with shuffled banners"
    claims = tuple(_variance_claims(ratios[COUNTERFACTUAL], ratios[DRAWN], rejected))
    return Section("Variance (section 4)", claims=claims, charts=charts, tables=(Figures(caption, header, rows),))


def _variance_claims(exact: Sequence[float], drawn: Sequence[float], rejected: Sequence[float]) -> Iterator[Claim]:
    yield Claim(
        "Between twice and thrice as many samples are needed to get the same variance.",
        _status(any(2 <= ratio <= 3 for ratio in exact), max(drawn) > 2),
        f"It depends on how deterministic the logging is: {_listed(exact, rejected)}; one draw per click, as "
        f"Algorithm 2 is printed, needs {_listed(drawn, rejected)}.",
    )
    fewer = [ratio * SHUFFLED_SHARE / (1 - SHUFFLED_SHARE) for ratio in exact]
    yield Claim(
        "The variance is still much smaller than on the few shuffled banners.",
        _status(max(fewer) < 0.5),
        f"With {SHUFFLED_SHARE:.0%} of the banners shuffled it is {min(fewer):.2f} to {max(fewer):.2f} times theirs.",
    )


def _by_rejected(title: str, label: str, rejected: list[float], lines: Iterable[tuple[str, list[float]]]) -> Chart:
    series = tuple(Series(name, rejected, values, line=True) for name, values in lines)
    return Chart(f"{title}, by the share rejected", "rejected", label, series)


def _large(world: BannerWorld, scale: float) -> Section:
    large = replace(
        world, slots=(LARGE,), candidates=2 * LARGE, queries=300, impressions=max(int(100_000 * scale), 2_000)
    )
    study, started = Study(large, (PAIRWISE, MANY_DRAWN)), time.perf_counter()
    good, weak = study.correlation(MANY_DRAWN), study.correlation(PAIRWISE)
    clicks = study.found[large.model_names[0], MANY_DRAWN].impressions
    seconds = time.perf_counter() - started
    claim = Claim(
        "No efficient way to sample an order given the shown products is known; up to 16 products are practical.",
        "new",
        f"Orders are drawn exactly from the exponential race, in O(l log l): {clicks:,} clicked banners of {LARGE} "
        f"products, 20 orders each, and {large.models} models took {seconds:.0f} s with all the rest. Correlation "
        f"{good:.3f}; of pairwise disagreement {weak:.3f}.",
    )
    charts = tuple(_scatter(study, m, f"{m}, {LARGE} products") for m in (PAIRWISE, MANY_DRAWN))
    return Section(f"Banners of {LARGE} products (beyond the paper)", claims=(claim,), charts=charts)


def _models(study: Study) -> Section:
    names = study.world.model_names
    measured = ((study.reference, PAIRWISE), (study.found, PAIRWISE), (study.found, COUNTERFACTUAL))
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        ones = [found[name, metric] for found, metric in measured]
        cells = (number for one in ones for number in (one.value, one.standard_error))
        rows.append((name, study.world.likeness(name), *cells))
    columns = (f"{what}{error}" for what in ("shuffled", "pairwise", "counterfactual") for error in ("", ", error"))
    table = Figures("What the pictures are made from", ("model", "likeness to logging", *columns), tuple(rows))
    return Section("The models", tables=(table,))


def _scatter(study: Study, metric: str, title: str) -> Chart:
    values = study.values(metric)
    errors = np.array([study.found[name, metric].standard_error for name in study.world.model_names])
    points = Series(
        "models", study.truth.tolist(), values.tolist(), (values - 2 * errors).tolist(), (values + 2 * errors).tolist()
    )
    return Chart(title, f"{PAIRWISE}, shuffled", metric, (points,), diagonal=True)


def _residuals(study: Study) -> Floats:
    """[models] distance from the straight line through the models."""
    slope, height = np.polyfit(study.truth, study.values(COUNTERFACTUAL), 1)
    return np.asarray(np.abs(study.values(COUNTERFACTUAL) - slope * study.truth - height))


def _by_rank(world: BannerWorld) -> list[float]:
    found: Impressions = run(world, ImpressionsFold())
    return [row.click_rate.value for row in found.by_rank(0.95)]


def _ranks(rates: Sequence[float]) -> list[float]:
    return [float(rank) for rank, _ in _numbered(rates)]


def _numbered(rates: Sequence[float]) -> list[tuple[int, float]]:
    return list(enumerate(rates, start=1))


def _status(found: bool, partly: bool = False) -> Status:
    return "reproduced" if found else "in part" if partly else "not reproduced"


def _listed(ratios: Sequence[float], rejected: Sequence[float]) -> str:
    pairs = zip(ratios, rejected, strict=True)
    return ", ".join(f"{ratio:.2f} times where {share:.0%} is rejected" for ratio, share in pairs)
