"""Every fold of the library, found by looking for them: the same answer under any partition and order of the rows."""

from __future__ import annotations

import gc
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.bounds.cells import CellsFold
from offrank.bounds.items import OwnItem
from offrank.clicks import click_model
from offrank.clicks.covariates import FeatureColumns
from offrank.estimators import estimator
from offrank.estimators.fold import TermsFold
from offrank.estimators.layout import Layout
from offrank.estimators.outcomes import Outcome
from offrank.inference.clusters_and_level import IntervalSpec
from offrank.log.batch import Labels, LogBatch
from offrank.log.source import Needs
from offrank.metrics.comparisons import metric
from offrank.policies import policy
from offrank.policies.linear import Encoding
from offrank.policies.propensities import Propensities
from offrank.reward_models.features import SlateColumns
from offrank.reward_models.grades import Grades
from offrank.running.executors import reduced
from offrank.running.identity import digest
from offrank.running.states import dumps, loads
from offrank.sums import BucketsFold, MomentsFold
from offrank.sums.base import Fold, Sample, total
from offrank.sums.fingerprint import Content
from offrank.sums.group_by import by_slots, with_groups
from offrank_testing import MemorySource, check_fold, same, take
from tests.metamorphic.logs import log
from tests.night import turn


def folds() -> dict[str, type]:
    """Every class of folds, by its place in the package; test tools are none."""
    names = [info.name for info in pkgutil.walk_packages(offrank.__path__, "offrank.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    return {
        f"{module.__name__.removeprefix('offrank.')}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__ and is_fold(value)
    }


def is_fold(kind: type) -> bool:
    return issubclass(kind, Fold) and kind is not Fold and not kind.__module__.startswith("offrank_testing.")


@dataclass(frozen=True)
class Whole(Fold):
    """A fold of logs whose rows are all there."""

    fold: Any

    def add(self, part: Any, batch: LogBatch) -> Any:
        return self.fold.add(part, replace(batch, inclusion=np.ones(len(batch))))

    def result(self, part: Any) -> Any:
        return self.fold.result(part)


@dataclass(frozen=True)
class Part:
    """A part that is finished after each sum."""

    fold: Any
    part: Any

    def __add__(self, other: Part) -> Part:
        return Part(self.fold, self.fold.result(total(self.part, other.part)))


@dataclass(frozen=True)
class Finished(Fold):
    """A fold whose parts are pieces until they are finished, which may be done at any time."""

    fold: Any

    def of(self, batch: LogBatch) -> Part:
        return Part(self.fold, self.fold.result(self.fold.of(batch)))


@dataclass(frozen=True)
class Open:
    """A part, of which only the result is compared."""

    fold: Any
    part: Any = field(metadata={"beside": "found"})
    found: Any

    def __add__(self, other: Open) -> Open:
        whole = total(self.part, other.part)
        return Open(self.fold, whole, self.fold.result(whole))


@dataclass(frozen=True)
class ByResult(Fold):
    """A fold whose parts are pieces of rows, more than are kept."""

    fold: Any

    def of(self, batch: LogBatch) -> Open:
        part = self.fold.of(batch)
        return Open(self.fold, part, self.fold.result(part))


ARMS: Any = policy("by(device, {phone: top(old), desk: top(tied)})")
RANDOM_ARMS: Any = policy("by(device, {phone: plackett_luce(old), desk: epsilon(top(tied), 0.4)})")


def cells() -> Any:
    """What the batch shows of each query."""
    return Whole(CellsFold("query")).of(batch())


@cache
def sample() -> Sample:
    rng = np.random.default_rng(2)
    values = np.round(rng.lognormal(0, 1, (90, 3)), 2) * rng.integers(0, 3, (90, 3))
    return Sample.of(values, rng.integers(0, 40, 90).astype(np.uint64))


@cache
def grouped() -> Sample:
    rows = sample()
    return replace(rows, groups=Labels((rows.key % np.uint64(3)).astype(np.int64), ("a", "b", "c")))


@cache
def batch() -> LogBatch:
    """Ragged rows with everything that is read; one in four has one item only."""
    table = log("partial").table
    roles = ("clicks", "reward", "candidates", "propensity", "rank_propensity", "inclusion", "features")
    wanted = Needs(
        frozenset((*roles, "feature_values")),
        scores=frozenset(["old", "new", "tied", "grades"]),
        rankings=frozenset(["written"]),
        keys=frozenset(["query", "session", "device"]),
        labels=frozenset(["device"]),
        times=frozenset(["at"]),
    )
    days = pa.array(np.arange(len(table)) * 3_600_000_000 * 5 % 10**13, pa.timestamp("us"))
    batches = list(offrank.read_log(table.append_column("at", days)).select(wanted).batches(0))
    return max(batches, key=len)


@cache
def grades() -> Grades:
    """Of every other candidate of the log, from 0 to 2."""
    columns = log("partial").table.select(["query", "candidates"]).to_pylist()
    pairs = sorted({(row["query"], item) for row in columns for item in row["candidates"]})[::2]
    return Grades.of([{"query": query, "item": item, "grade": (query + item) % 3} for query, item in pairs])


@cache
def fitted(name: str) -> Any:
    return click_model(name).fit(log("partial").table)


def layout() -> Layout:
    given: Any = tuple(map(estimator, ("ips", "ipm", "rips")))
    return Layout((policy("top(new)"), policy("plackett_luce(tied)")), given)


def terms(inner: Any) -> TermsFold:
    return TermsFold(layout(), policy("plackett_luce(old)"), inner)


EVERYTHING = Needs(
    frozenset(["features"]), scores=frozenset(["old"]), rankings=frozenset(["written"]), keys=frozenset(["query"])
)
SCORES = Needs(frozenset(["candidates"]), scores=frozenset(["old", "new", "tied"]))
OLD, NEW = policy("plackett_luce(old)"), policy("plackett_luce(new)")
COLUMNS = 3 + 2 * 2 * 3
RATE = Outcome("rate", "reward", "clicks")
SAMPLES: dict[str, Callable[[Any], Any]] = {
    "sums.base.OptionalFold": lambda kind: kind(MomentsFold()),
    "sums.base.Tee": lambda kind: kind({"moments": MomentsFold(), "buckets": BucketsFold()}),
    "sums.clusters.BootstrapFold": lambda kind: kind(replicates=9, seed=1),
    "sums.clusters.BucketsFold": lambda kind: kind(),
    "sums.group_by.GroupBy": lambda kind: kind(MomentsFold()),
    "sums.histogram.HistogramFold": lambda kind: kind((0, 2)),
    "sums.largest.LargestFold": lambda kind: kind((0, 1), keep=7),
    "sums.moments.MomentsFold": lambda kind: kind(((0, 1, 2), (0, 2))),
}
PARTS = with_groups(MomentsFold(), MomentsFold())
LOGS: dict[str, Callable[[Any], Any]] = {
    "checks.actions.ActionsFold": lambda kind: kind(OLD),
    "checks.credit.CreditFold": lambda kind: ByResult(kind(policy("interleaved(top(old), top(tied))"), "session")),
    "reward_models.click_halves._RowsFold": lambda kind: ByResult(kind("query", Needs(scores=frozenset(["old"])))),
    "checks.propensities.AgreementFold": lambda kind: kind(NEW),
    "checks.calibration.CalibrationFold": lambda kind: kind(OLD, kept=30),
    "checks.rows.RowsPerContextFold": lambda kind: kind("query"),
    "checks.rows.DaysFold": lambda kind: kind("at"),
    "checks.repeats.RepeatsFold": lambda kind: kind(OLD, kept=40),
    "checks.randomness.WholeContextsFold": lambda kind: kind(SCORES, "query", ("session",)),
    "checks.outcomes.OutcomesFold": lambda kind: kind(("old", "tied")),
    "checks.arms.ArmsFold": lambda kind: kind("device", (policy("top(old)"), policy("top(tied)"))),
    "checks.arms.SharedUnitsFold": lambda kind: kind(ARMS, "session"),
    "checks.drift.AlongFold": lambda kind: kind(("query", "session"), ARMS),
    "checks.placebo.PlaceboFold": lambda kind: kind(RANDOM_ARMS, ("query",)),
    "sums.outcome_shape.OutcomeShapeFold": lambda kind: kind(),
    "checks.robots.RobotsFold": lambda kind: kind("session"),
    "checks.arms.UnitsFold": lambda kind: kind("device", ("session", "query")),
    "policies.balanced._SharesFold": lambda kind: kind(policy("by(device, {phone: top(old), desk: uniform})")),
    "estimators.history.ArmRowsFold": lambda kind: Finished(
        kind(policy("by(device, {phone: top(old), desk: top(tied)})"), most=40)
    ),
    "checks.written_propensities.CertainFold": lambda kind: kind(),
    "bounds.cells.CellsFold": lambda kind: Whole(kind("query")),
    "bounds.slates.SlatesFold": lambda kind: Whole(kind("query", -50, 50)),
    "bounds.fold.BoundsFold": lambda kind: kind(
        (OwnItem(cells()), OwnItem(cells(), np.ones(9))),
        (policy("top(new)"), policy("plackett_luce(tied)")),
        IntervalSpec(cluster="query"),
        policy("top(old)"),
        "device",
    ),
    "checks.duplicates.ContentsFold": lambda kind: kind(kept=40),
    "checks.row_inclusion.KeptFold": lambda kind: kind(),
    "checks.score_leakage.OwnClicksFold": lambda kind: kind(("old", "tied"), "item of a query", kept=40),
    "checks.rows.ImpressionsFold": lambda kind: kind(),
    "checks.rows.CandidatesFold": lambda kind: kind(),
    "checks.propensities.UniformWeightsFold": lambda kind: kind(policy("logged")),
    "sums.sampled.SampledRowsFold": lambda kind: kind(EVERYTHING, 40, cells=150),
    "checks.overview.OverviewFold": lambda kind: kind(("query", "session")),
    "checks.propensities.SlotsFold": lambda kind: kind(OLD),
    "checks.propensities.SupportFold": lambda kind: kind(NEW, policy("epsilon(top(old), 0.0)")),
    "checks.rows.TiesFold": lambda kind: kind((policy("top(tied)"), policy("epsilon(top(new), 0.5)"))),
    "clicks.click_counts.CountsFold": lambda kind: kind("query", browsing=True),
    "clicks.covariates.CovariatesFold": lambda kind: kind(FeatureColumns(("new", "features")), "query"),
    "clicks.documents.TextsFold": lambda kind: kind(),  # with texts: tests/clicks/test_judgements.py
    "clicks.fitted._ScoreFold": lambda kind: kind(fitted("cascade")),
    "clicks.evaluation.PredictionFold": lambda kind: kind((fitted("rctr"), fitted("cascade")), IntervalSpec()),
    "clicks.sessions.TallyFold": lambda kind: kind(),
    "clicks.sessions.SessionsFold": lambda kind: kind("query"),
    "estimators.design.DesignFold": lambda kind: kind(
        SCORES, 40, layout=layout(), logging=OLD, able=frozenset(range(6))
    ),
    "estimators.judged._CellsFold": lambda kind: Finished(
        kind(grades(), (policy("top(new)"), policy("plackett_luce(tied)")), OLD)
    ),
    "estimators.fold.TermsFold": lambda kind: kind(layout(), OLD, PARTS, by=by_slots),
    "estimators.outcomes.OutcomeFold": lambda kind: kind(
        replace(layout(), estimators=(estimator("ips"),), ratio=True), OLD, PARTS, by=by_slots, outcome=RATE
    ),
    "estimators.pseudoinverse.overlap.OverlapFold": lambda kind: kind(NEW, OLD),
    "sums.fingerprint.FingerprintFold": lambda kind: kind(Content(features=True), keep=50),
    "estimators.effective_size.SumsFold": lambda kind: terms(kind()),
    "evaluation.diagnostics.ClipsFold": lambda kind: kind(tuple(pair[:2] for pair in layout().pairs)[:2], OLD),
    "evaluation.diagnostics.HeaviestFold": lambda kind: kind(tuple(pair[:2] for pair in layout().pairs), OLD, 7),
    "evaluation.state_file.FilesFold": lambda kind: kind("/folder"),
    "checks.ranking_overlap.RankingOverlapFold": lambda kind: kind((NEW, policy("top(tied)"), OLD), SCORES, 40),
    "reward_models.training.TrainingFold": lambda kind: ByResult(kind(SlateColumns(("old", "new")), "query", 600)),
    "selection.pseudo_targets.DistanceFold": lambda kind: kind((NEW, policy("top(tied)")), OLD),
    "metrics.graded.GradedFold": lambda kind: kind({"rctr": fitted("rctr")}, "grades", "query"),
    "learning.contexts.ContextsFold": lambda kind: kind(OLD, "validate", "hash", "grades"),
    "policies.splits.LearntRowsFold": lambda kind: kind("hash"),
    "learning.preparation.SurveyFold": lambda kind: kind(5),
    "metrics.fold.ComparisonsFold": lambda kind: kind(
        (metric("banner_loss"),), ("new", "tied"), OLD, IntervalSpec(), "device"
    ),
    "policies.counted._ShownFold": lambda kind: kind("query"),
}
#: with other limits, or by something else
OTHER_EXAMPLES: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "checks.duplicates.ContentsFold": (lambda kind: kind(7), lambda kind: kind(1_000)),
    "clicks.sessions.SessionsFold": (lambda kind: kind(None),),
}
#: what is counted exactly enough to be compared where few rows leave nothing but rounding
OF_FEW_ROWS = {f"checks.propensities.{fold}Fold" for fold in ("Slots", "Agreement", "Support")}
OF_FEW_ROWS |= {"checks.rows.ImpressionsFold", "checks.actions.ActionsFold"}
#: keeps its rows as they come; see the last test
IN_ORDER = {"learning.preparation.Packing"}


def test_every_fold_has_an_example() -> None:
    assert set(folds()) == set(SAMPLES) | set(LOGS) | IN_ORDER


@pytest.mark.parametrize("name", [*SAMPLES, *LOGS])
def test_any_partition_and_order_gives_the_same(name: str) -> None:
    """Some also of few rows, others for each commit."""
    rows: Any = grouped() if name in SAMPLES else batch()
    for example in ((SAMPLES | LOGS)[name], *OTHER_EXAMPLES.get(name, ())):
        fold = example(folds()[name])
        check_fold(fold, rows, np.random.default_rng(7))
        if name in OF_FEW_ROWS:
            rng = np.random.default_rng(turn() % 50)
            check_fold(fold, take(rows, rng.permutation(len(rows))[: rng.integers(1, 40)]), rng)


@pytest.mark.parametrize("name", [*SAMPLES, *LOGS])
def test_a_part_survives_as_bytes_and_is_gone_on_with(name: str) -> None:
    rows: Any = grouped() if name in SAMPLES else batch()
    fold = (SAMPLES | LOGS)[name](folds()[name])
    fold = fold.fold if isinstance(fold, Finished | ByResult) else fold
    half = len(rows) // 2
    first, second = (fold.of(take(rows, part)) for part in np.split(np.arange(len(rows)), [half]))
    kept = [loads(dumps(part)) for part in (first, second)]
    for one, part in zip(kept, (first, second), strict=True):
        if name != "learning.contexts.ContextsFold":  # the policy in its parts is the fold's own
            same(one, part, 0.0, "part")
    whole = total(kept[0], kept[1])
    assert dumps(whole) == dumps(total(first, second))
    same(fold.result(whole), fold.result(total(first, second)), 0.0, "result")
    if isinstance(fold, folds()[name]):  # as another process has it, to be told from other jobs there
        assert digest(fold) == digest(pickle.loads(pickle.dumps(fold)))


def test_batches_are_freed_as_soon_as_they_are_reduced() -> None:
    """Also where Python does not look for what refers to itself; by fold, how many are left."""
    left: dict[str, int] = {}
    made = {name: LOGS[name](folds()[name]) for name in LOGS}
    source = MemorySource((batch(),))
    gc.collect()
    gc.freeze()  # only what is made from here on is looked through
    gc.disable()
    try:
        for name, fold in made.items():
            state = reduced(source, fold, ThreadPoolExecutor(1))
            found = gc.get_objects()
            left[name] = sum(isinstance(one, LogBatch | Propensities) for one in found)
            del found, state
            gc.collect()
    finally:
        gc.enable()
        gc.unfreeze()
    assert left == dict.fromkeys(LOGS, 0)


@pytest.mark.parametrize("name", sorted(IN_ORDER))
def test_what_keeps_its_rows_keeps_all_of_them(name: str) -> None:
    fold = folds()[name](Encoding.plain(5), OLD, "validate", "hash")
    rng, rows = np.random.default_rng(0), batch()
    dealt = rng.integers(0, 4, len(rows))
    state = None
    for part in range(4):
        state = total(fold.of(take(rows, np.flatnonzero(dealt == part))), state)
    many, whole = fold.result(state), fold.result(fold.of(rows))
    assert (many.rows, many.slots) == (whole.rows, whole.slots)
    assert many.impressions == pytest.approx(whole.impressions, rel=1e-12)
    assert 20 < whole.rows < len(rows) / 2
    assert by_row(many) == pytest.approx(by_row(whole), rel=1e-12)


def by_row(store: Any) -> np.ndarray:
    """[n, 5] numbers that tell the rows apart, sorted: of the slate, its outcome and its candidates' features."""
    rows = []
    for one in store:
        lines = np.add.reduceat(np.append(one.values, 0.0), one.offsets[:-1])
        first = np.add.reduceat(lines, one.starts[:-1])
        clicks = one.clicks @ 2.0 ** np.arange(one.clicks.shape[1])
        rows.append(np.column_stack([one.log_q, one.reward, one.inclusion, first, clicks]))
    every = np.concatenate(rows)
    return np.asarray(every[np.lexsort(every.T)])
