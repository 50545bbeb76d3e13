"""Ranking metrics on non-shuffled traffic (Gilotte): Figures 2 and 3, the variance, and large banners.

The paper's data are private, so its world is built anew: banners by Plackett-Luce, position bias that grows with
the size of the banner, 40 models that know the truth and imitate the logging policy to different degrees.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..checks.rows import Impressions, ImpressionsFold
from ..log.batch import Floats
from ..metrics.measure import measurements
from ..metrics.measured import Measurements
from ..report.charts import Chart, Series
from ..report.sheet import Cell, Figures, Section, Sheet
from ..running.executors import run
from ..simulation.banners import BannerWorld
from .expectations import Expectations, Facts
from .run import Run

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

PAPER = Expectations.of("non-shuffled")


@dataclass(frozen=True)
class Study:
    """The same models measured on non-shuffled and on shuffled banners of one world."""

    world: BannerWorld
    metrics: tuple[str, ...] = (PAIRWISE, COUNTERFACTUAL)

    @cached_property
    def found(self) -> Measurements:
        """On non-shuffled banners."""
        return measurements(self.world, self.world.model_names, self.world.logging, self.metrics)

    @cached_property
    def reference(self) -> Measurements:
        """Pairwise disagreement on shuffled banners."""
        return measurements(replace(self.world, shuffled=True), self.world.model_names, "uniform", PAIRWISE)

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


def sheet(asked: Run) -> Sheet:
    """The reproduction; see the module."""
    world = BannerWorld(impressions=asked.size(300_000, 3_000), seed=asked.seed)
    study = Study(world, VARIANTS)
    asked.say(f"1. Click rates by rank and {world.models} models on {world.impressions:,} banners, shuffled and not")
    parts = [_click_rates(world), _correlations(study)]
    asked.say("2. The same from almost random to almost deterministic logging")
    parts.append(_variance(world))
    asked.say(f"3. Banners of {LARGE} products, which the paper calls impractical")
    parts += [_large(replace(world, impressions=asked.size(100_000, 2_000))), _models(study)]
    return PAPER.sheet(parts)


def _click_rates(world: BannerWorld) -> Section:
    kinds = {slots: _by_rank(replace(world, slots=(slots,))) for slots in world.slots}
    numbered = {slots: list(enumerate(rates, 1)) for slots, rates in kinds.items()}
    lines = [
        Series(f"{slots} products", [float(rank) for rank, _ in numbered[slots]], rates, line=True)
        for slots, rates in kinds.items()
    ]
    rows = [(f"{slots} products", rank, rate) for slots, rates in numbered.items() for rank, rate in rates]
    falls = {slots: rates[0] / rates[-1] for slots, rates in kinds.items()}
    facts = {
        "falls": {f"{slots}:": fall for slots, fall in falls.items()},
        "least fall": min(falls.values()),
        "largest fall": max(falls.values()),
        "fall on the largest banners": falls[max(falls)],
    }
    chart = Chart("Figure 2: click rate by rank, non-shuffled", "rank", "click rate", tuple(lines))
    table = Figures("Click rate by rank", ("banner", "rank", "click rate"), tuple(rows))
    return PAPER.section("click rates", facts, [chart], [table])


def _by_rank(world: BannerWorld) -> list[float]:
    found: Impressions = run(world, ImpressionsFold())
    return [row.click_rate.value for row in found.by_rank(0.95)]


def _correlations(study: Study) -> Section:
    figures = {f"Figure 3({letter})": metric for letter, metric in (("a", PAIRWISE), ("b", COUNTERFACTUAL))}
    charts = [_scatter(study, metric, f"{figure}: {metric}, non-shuffled") for figure, metric in figures.items()]
    # Clicks needed can be compared between metrics on one scale only.
    rows = tuple(
        (m, study.correlation(m), study.ranks_agree(m), study.variance_ratio(m) if "disagreement" in m else None)
        for m in study.metrics
    )
    header = ("metric on non-shuffled banners", "correlation", "rank correlation", "variance ratio")
    caption = f"With {PAIRWISE} on shuffled banners, over {study.world.models} models (nDCG grows where others fall)"
    return PAPER.section("correlations", _facts(study), charts, [Figures(caption, header, rows)])


def _facts(study: Study) -> Facts:
    away, likeness = _residuals(study), np.array([study.world.likeness(m) for m in study.world.model_names])
    gap = study.values(COUNTERFACTUAL) - study.truth
    return {
        "correlation of pairwise disagreement": study.correlation(PAIRWISE),
        "rank correlation of pairwise disagreement": study.ranks_agree(PAIRWISE),
        "correlation": study.correlation(COUNTERFACTUAL),
        "rank correlation": study.ranks_agree(COUNTERFACTUAL),
        "correlation of distance and likeness": np.corrcoef(away, likeness)[0, 1],
        "largest distance": away.max(),
        "likeness there": likeness[away.argmax()],
        "least likeness": likeness.min(),
        "largest likeness": likeness.max(),
        "mean difference": gap.mean(),
        "deviation of the difference": gap.std(),
        "mean difference in standard deviations": abs(gap.mean()) / gap.std(),
        "correlation with new products": study.correlation(BANNER),
        "variance ratio with new products": study.variance_ratio(BANNER),
        "variance ratio": study.variance_ratio(),
    }


def _variance(world: BannerWorld) -> Section:
    metrics = (PAIRWISE, COUNTERFACTUAL, DRAWN)
    studies = [Study(replace(world, randomness=r, impressions=world.impressions // 2), metrics) for r in RANDOMNESS]
    exact, drawn = ([s.variance_ratio(metric) for s in studies] for metric in (COUNTERFACTUAL, DRAWN))
    agreeing = {metric: [s.correlation(metric) for s in studies] for metric in (COUNTERFACTUAL, PAIRWISE)}
    rejected = [s.rejected for s in studies]
    header = ("temperature of the logging", "rejected", "variance ratio", "with one draw", *agreeing)
    names = [f"{r:g}" for r in RANDOMNESS]
    rows = tuple(zip(names, rejected, exact, drawn, *agreeing.values(), strict=True))
    needed = {"exact expectation": exact, "one draw per click": drawn}
    charts = (
        _by_rejected("Clicks needed for one shuffled click", "variance ratio", rejected, needed),
        _by_rejected("Correlation with the reference", "correlation over models", rejected, agreeing),
    )
    fewer = [ratio * SHUFFLED_SHARE / (1 - SHUFFLED_SHARE) for ratio in exact]
    shares = [f"{share:.0%}:" for share in rejected]
    facts = {
        "ratios": dict(zip(shares, exact, strict=True)),
        "ratios with one draw": dict(zip(shares, drawn, strict=True)),
        "logging policies with a ratio of 2 to 3": sum(2 <= ratio <= 3 for ratio in exact),
        "largest ratio with one draw": max(drawn),
        "shuffled share": SHUFFLED_SHARE,
        "least variance over theirs": min(fewer),
        "largest variance over theirs": max(fewer),
    }
    caption = "By how random the logging is; the last two columns are correlations with shuffled banners"
    return PAPER.section("variance", facts, charts, [Figures(caption, header, rows)])


def _by_rejected(title: str, label: str, rejected: list[float], lines: Mapping[str, list[float]]) -> Chart:
    series = tuple(Series(name, rejected, values, line=True) for name, values in lines.items())
    return Chart(f"{title}, by the share rejected", "rejected", label, series)


def _large(world: BannerWorld) -> Section:
    large = replace(world, slots=(LARGE,), candidates=2 * LARGE, queries=300)
    study, started = Study(large, (PAIRWISE, MANY_DRAWN)), time.perf_counter()
    facts = {
        "correlation": study.correlation(MANY_DRAWN),
        "correlation of pairwise disagreement": study.correlation(PAIRWISE),
        "banners": study.found[large.model_names[0], MANY_DRAWN].impressions,
        "models": large.models,
        "slots": LARGE,
        "seconds": time.perf_counter() - started,
    }
    charts = [_scatter(study, m, f"{m}, {LARGE} products") for m in (PAIRWISE, MANY_DRAWN)]
    return PAPER.section("large", facts, charts)


def _models(study: Study) -> Section:
    measured = ((study.reference, PAIRWISE), (study.found, PAIRWISE), (study.found, COUNTERFACTUAL))
    rows: list[tuple[Cell, ...]] = []
    for name in study.world.model_names:
        ones = [found[name, metric] for found, metric in measured]
        cells = (number for one in ones for number in (one.value, one.standard_error))
        rows.append((name, study.world.likeness(name), *cells))
    columns = (f"{what}{error}" for what in ("shuffled", "pairwise", "counterfactual") for error in ("", ", error"))
    table = Figures("What the pictures are made from", ("model", "likeness to logging", *columns), tuple(rows))
    return PAPER.section("models", tables=[table])


def _scatter(study: Study, metric: str, title: str) -> Chart:
    values = study.values(metric)
    errors = np.array([study.found[name, metric].standard_error for name in study.world.model_names])
    ends = ((values - 2 * errors).tolist(), (values + 2 * errors).tolist())
    points = Series("models", study.truth.tolist(), values.tolist(), *ends)
    return Chart(title, f"{PAIRWISE}, shuffled", metric, (points,), diagonal=True)


def _residuals(study: Study) -> Floats:
    """[models] distance from the straight line through the models."""
    slope, height = np.polyfit(study.truth, study.values(COUNTERFACTUAL), 1)
    return np.asarray(np.abs(study.values(COUNTERFACTUAL) - slope * study.truth - height))
