"""Ranking metrics on non-shuffled traffic (Gilotte): Figures 2 and 3, the variance, and large banners.

The paper's data are private, so its world is simulated: banners by Plackett-Luce, position bias that grows with
the size of the banner, 40 models that mix the truth and the logging policy to different degrees.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from offrank.checks.rows import Impressions, ImpressionsFold
from offrank.language.formatting import percent
from offrank.log.batch import Floats
from offrank.metrics.measured import Measured, Measurements
from offrank.metrics.measurements import measurements
from offrank.report.charts import Chart, Series
from offrank.report.document import Cell, Figures, Section
from offrank.running.executors import run

from .banners import BannerWorld
from .expectations import Expectations, Facts, Run, by_columns

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
class BannerStudy:
    """The same models measured on non-shuffled and on shuffled banners of one world."""

    world: BannerWorld
    metrics: tuple[str, ...] = (PAIRWISE, COUNTERFACTUAL)

    @cached_property
    def found(self) -> Measurements:
        """Return the metrics on non-shuffled banners."""
        return measurements(self.world, self.world.model_names, self.world.logging, self.metrics)

    @cached_property
    def reference(self) -> list[Measured]:
        """Return pairwise disagreement on shuffled banners [models]."""
        names = self.world.model_names
        found = measurements(replace(self.world, shuffled=True), names, "uniform", PAIRWISE)
        return [found[model] for model in names]

    @cached_property
    def truth(self) -> Floats:
        """Return the values on shuffled banners [models]."""
        return np.array([one.value for one in self.reference])

    def of(self, metric: str) -> list[Measured]:
        """Return a metric on non-shuffled banners [models]."""
        return [self.found[model, metric] for model in self.world.model_names]

    def values(self, metric: str) -> Floats:
        """Return a metric's values on non-shuffled banners [models]."""
        return np.array([one.value for one in self.of(metric)])

    def correlation(self, metric: str, of_ranks: bool = False) -> float:
        """Return Pearson's correlation with the reference over the models, or Spearman's of the ranks."""
        values, truth = self.values(metric), self.truth
        if of_ranks:
            values, truth = (
                np.argsort(np.argsort(one, kind="stable"), kind="stable").astype(np.float64) for one in (values, truth)
            )
        return float(np.corrcoef(values, truth)[0, 1])

    def variance_ratio(self, metric: str = COUNTERFACTUAL) -> float:
        """Return the clicks a metric needs per click of the reference at equal variance; median over models."""
        spread, other = ([one.standard_error**2 * one.clicks for one in s] for s in (self.of(metric), self.reference))
        return float(np.median(np.divide(spread, other)))


@PAPER.page
def document(asked: Run) -> Iterator[Section]:
    """Return the reproduction; see the module."""
    world = BannerWorld(impressions=asked.size(300_000, 3_000), seed=asked.seed)
    study = BannerStudy(world, VARIANTS)
    asked.say(f"1. Click rates by rank and {world.models} models on {world.impressions:,} banners, shuffled and not")
    yield _click_rates(world)
    yield _correlations(study)
    asked.say("2. The same from almost random to almost deterministic logging")
    yield _variance(world)
    asked.say(f"3. Banners of {LARGE} products, which the paper calls impractical")
    yield _large(replace(world, impressions=asked.size(100_000, 2_000)))
    yield _models(study)


def _click_rates(world: BannerWorld) -> Section:
    lines, rows, falls = list[Series](), list[tuple[Cell, ...]](), dict[int, float]()
    for slots in world.slots:
        found: Impressions = run(replace(world, slots=(slots,)), ImpressionsFold())
        rates = [row.click_rate.value for row in found.by_rank(0.95)]
        ranks, name = list(range(1, len(rates) + 1)), f"{slots} products"
        lines.append(Series(name, list(map(float, ranks)), rates, line=True))
        rows += zip([name] * len(ranks), ranks, rates, strict=True)
        falls[slots] = rates[0] / rates[-1]
    facts = {
        "falls": {f"{slots}:": fall for slots, fall in falls.items()},
        "least fall": min(falls.values()),
        "largest fall": max(falls.values()),
        "fall on the largest banners": falls[max(falls)],
    }
    chart = Chart("Figure 2: click rate by rank, non-shuffled", "rank", "click rate", tuple(lines))
    table = Figures("Click rate by rank", ("banner", "rank", "click rate"), tuple(rows))
    return PAPER.section("click rates", facts, [chart], [table])


def _correlations(study: BannerStudy) -> Section:
    figures = {f"Figure 3({letter})": metric for letter, metric in (("a", PAIRWISE), ("b", COUNTERFACTUAL))}
    charts = [_scatter(study, metric, f"{figure}: {metric}, non-shuffled") for figure, metric in figures.items()]
    # Clicks needed can be compared between metrics only on one scale.
    columns: dict[str, Sequence[Cell]] = {
        "metric on non-shuffled banners": study.metrics,
        "correlation": [study.correlation(m) for m in study.metrics],
        "rank correlation": [study.correlation(m, of_ranks=True) for m in study.metrics],
        "variance ratio": [study.variance_ratio(m) if "disagreement" in m else None for m in study.metrics],
    }
    caption = f"With {PAIRWISE} on shuffled banners, over {study.world.models} models (nDCG grows where others fall)"
    return PAPER.section("correlations", _facts(study), charts, [by_columns(caption, columns)])


def _facts(study: BannerStudy) -> Facts:
    likeness = np.array([study.world.likeness(m) for m in study.world.model_names])
    slope, intercept = np.polyfit(study.truth, study.values(COUNTERFACTUAL), 1)
    away = np.abs(study.values(COUNTERFACTUAL) - slope * study.truth - intercept)  # from the line through the models
    gap = study.values(COUNTERFACTUAL) - study.truth
    return {
        "correlation of pairwise disagreement": study.correlation(PAIRWISE),
        "rank correlation of pairwise disagreement": study.correlation(PAIRWISE, of_ranks=True),
        "correlation": study.correlation(COUNTERFACTUAL),
        "rank correlation": study.correlation(COUNTERFACTUAL, of_ranks=True),
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
    worlds = [replace(world, randomness=r, impressions=world.impressions // 2) for r in RANDOMNESS]
    studies = [BannerStudy(one, metrics) for one in worlds]
    exact, drawn = ([s.variance_ratio(metric) for s in studies] for metric in (COUNTERFACTUAL, DRAWN))
    agreeing = {metric: [s.correlation(metric) for s in studies] for metric in (COUNTERFACTUAL, PAIRWISE)}
    rejected = [s.of(COUNTERFACTUAL)[0].rejected for s in studies]  # the same for all models
    columns: dict[str, Sequence[Cell]] = {
        "temperature of the logging": [f"{r:g}" for r in RANDOMNESS],
        "rejected": rejected,
        "variance ratio": exact,
        "with one draw": drawn,
        **agreeing,
    }
    needed = {"exact expectation": exact, "one draw per click": drawn}
    charts = (
        _by_rejected("Clicks needed for one shuffled click", "variance ratio", rejected, needed),
        _by_rejected("Correlation with the reference", "correlation over models", rejected, agreeing),
    )
    fewer = [ratio * SHUFFLED_SHARE / (1 - SHUFFLED_SHARE) for ratio in exact]
    shares = [f"{percent(share, 0)}:" for share in rejected]
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
    return PAPER.section("variance", facts, charts, [by_columns(caption, columns)])


def _by_rejected(title: str, label: str, rejected: list[float], lines: Mapping[str, list[float]]) -> Chart:
    series = tuple(Series(name, rejected, values, line=True) for name, values in lines.items())
    return Chart(f"{title}, by the share rejected", "rejected", label, series)


def _large(world: BannerWorld) -> Section:
    large = replace(world, slots=(LARGE,), candidates=2 * LARGE, queries=300)
    study, started = BannerStudy(large, (PAIRWISE, MANY_DRAWN)), time.perf_counter()
    facts = {
        "correlation": study.correlation(MANY_DRAWN),
        "correlation of pairwise disagreement": study.correlation(PAIRWISE),
        "banners": study.of(MANY_DRAWN)[0].impressions,
        "models": large.models,
        "slots": LARGE,
        "seconds": time.perf_counter() - started,
    }
    charts = [_scatter(study, m, f"{m}, {LARGE} products") for m in (PAIRWISE, MANY_DRAWN)]
    return PAPER.section("large", facts, charts)


def _models(study: BannerStudy) -> Section:
    names = study.world.model_names
    columns: dict[str, list[Cell]] = {"model": [*names], "likeness to logging": [*map(study.world.likeness, names)]}
    measured = {"shuffled": study.reference, "pairwise": study.of(PAIRWISE), "counterfactual": study.of(COUNTERFACTUAL)}
    for what, each in measured.items():
        columns |= {what: [one.value for one in each], f"{what}, error": [one.standard_error for one in each]}
    return PAPER.section("models", tables=[by_columns("What the pictures are made from", columns)])


def _scatter(study: BannerStudy, metric: str, title: str) -> Chart:
    values = study.values(metric)
    errors = np.array([one.standard_error for one in study.of(metric)])
    ends = ((values - 2 * errors).tolist(), (values + 2 * errors).tolist())
    points = Series("models", study.truth.tolist(), values.tolist(), *ends)
    return Chart(title, f"{PAIRWISE}, shuffled", metric, (points,), diagonal=True)
