"""Paper criteo-test-bed (Lefortier, Swaminathan, Gu, Joachims, de Rijke), section 4: Table 5, learnt policies.

On the user's log, of which the one-slot impressions are taken, or on a simulated one whose truth is known.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import NoOverlapError
from ..estimators.fold import Layout, TermsFold, needs
from ..estimators.ips import IPS
from ..files import scratch
from ..folds.estimate import Estimate, Interval
from ..folds.moments import MomentsFold
from ..inference.ratio import Ratio
from ..inference.spread import Spread
from ..jobs import arguments
from ..jobs.evaluate import evaluate
from ..jobs.learn import both
from ..learning.named import METHODS, learner
from ..learning.search import Preparation, Search
from ..learning.splits import OneSlot, Split
from ..log.source import Source
from ..policies.linear import Model
from ..policies.propensities import AnyPolicy, is_law, law
from ..policies.uniform import Uniform
from ..policies.written import Logged
from ..report.charts import Chart, Series
from ..report.sheet import Cell, Claim, Figures, Section, Sheet, Status
from ..running.executors import run
from ..simulation.adverts import AdvertWorld
from .criteo_intervals import section as intervals

CONFIDENCE = 0.99
LEARNT = tuple(name for name in METHODS if name not in {"random", "plackett-luce"})
NEW = {"snpoem", "dr-poem"}
_UNIT = 1e4

_LEAD = (
    "Large-scale validation of counterfactual learning methods: a test-bed (D. Lefortier, A. Swaminathan, X. Gu, "
    "T. Joachims, M. de Rijke), section 4. Its claims are quoted with what was found here."
)
_METHOD = (
    "Linear policies, learnt from the first third of the log (rows in turn), settings chosen by IPS on the second, "
    "judged on the last. The paper does not say whether it reports policies that draw (softmax of the score) or that "
    "sort; both are here. Regression, IPS and DRO are chosen by what they earn sorted, the POEM family by what it "
    "earns drawn. snpoem and dr-poem are not in the paper."
)
_ERROR = (
    "The paper's interval of SNIPS is divided by the square root of the number of rows once too often; it stands "
    "beside the delta method's as `published`."
)


Gaps = dict[tuple[str, str], Interval]
"""(policy, reference) -> what the policy earns more by IPS on the same impressions."""

CLAIMED = (
    ("regression", "sorted"),
    ("ips", "sorted"),
    ("dro", "sorted"),
    ("poem", "drawn"),
    ("snpoem", "drawn"),
    ("dr-poem", "drawn"),
)
"""Methods with the use that they are meant for."""


@dataclass(frozen=True)
class Row:
    """A policy on the test third: how it was made and used, estimates, and the truth where it is known."""

    method: str
    use: str
    ips: Estimate
    snips: Estimate
    truth: float | None

    @property
    def name(self) -> str:
        return f"{self.method}, {self.use}" if self.use else self.method

    def cells(self) -> tuple[Cell, ...]:
        """As in Table 5, rewards times 10^4."""
        half = (self.snips.high - self.snips.low) / 2 * _UNIT
        mean = self.ips.mean_weight_interval
        return (
            self.name,
            self.ips.value * _UNIT,
            (self.ips.high - self.ips.low) / 2 * _UNIT,
            self.snips.value * _UNIT,
            half,
            half / math.sqrt(self.snips.n),
            self.ips.mean_weight,
            None if mean is None else (mean.high - mean.low) / 2,
            self.ips.ess,
            None if self.truth is None else self.truth * _UNIT,
        )


_HEADER = (
    "policy",
    "IPS",
    "IPS +-",
    "SNIPS",
    "SNIPS +-",
    "published +-",
    "mean weight",
    "weight +-",
    "effective sample",
    "truth",
)


def sheet(*, log: Any, scale: float, seed: int, say: Callable[[str], object]) -> Sheet:
    """The reproduction; see the module."""
    world = AdvertWorld(max(int(200_000 * scale), 3_000), seed, slots=1) if log is None else None
    source = OneSlot(arguments.source(log)) if world is None else world.source()
    rows, gaps, facts = _rows(source, world, seed, say)
    table = Figures("Table 5: rewards times 10,000, 99 % intervals, on the test third", _HEADER, _cells(rows))
    claims = tuple(_claims({row.name: row for row in rows}, gaps))
    learnt = Section("Learnt policies (Table 5)", (_METHOD, facts), claims, (_chart(rows),), (table,))
    parts = [learnt] if world is None else [learnt, intervals(world, CONFIDENCE, say)]
    return Sheet("The counterfactual test-bed: learning", _LEAD, tuple(parts))


def _cells(rows: list[Row]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(row.cells() for row in rows)


def _rows(
    source: Source, world: AdvertWorld | None, seed: int, say: Callable[[str], object]
) -> tuple[list[Row], Gaps, str]:
    """Every policy on the test third, differences between them, and what is to be said of the log's features."""
    with scratch(Path(tempfile.gettempdir()), "offrank-") as folder:
        say(f"1. Reading {source.describe()}")
        data, survey = Preparation(Logged(), folder).data(source, None, None)
        targets: dict[tuple[str, str], AnyPolicy] = {("random", ""): Uniform(), ("logger", ""): Logged()}
        for method in LEARNT:
            say(f"2. Learning by {method}")
            best = Search(learner(method), method, "ips", CONFIDENCE, seed).run(data)[0]
            path = folder / f"{method}.npz"
            Model(data.encoding, best.candidate.weights).save(path)
            targets |= {(method, use): policy for use, policy in both(str(path)).items()}
        say("3. Judging all of them on the test third")
        rows = list(_judged(targets, Split(source, "test"), world))
        gaps = _gaps({f"{method}, {use}": targets[method, use] for method, use in CLAIMED}, Split(source, "test"))
    facts = (
        f"{survey.rows:,} impressions are in the log. Of {int(survey.seen.sum()):,} features "
        f"{int(survey.context.sum()):,} are the same for all candidates of every impression: a linear scorer cannot "
        "use them unless they are crossed with the candidates'. " + _ERROR
    )
    return rows, gaps, facts


def _judged(targets: dict[tuple[str, str], AnyPolicy], test: Split, world: AdvertWorld | None) -> Iterator[Row]:
    named = {f"{method} {use}": policy for (method, use), policy in targets.items()}
    found = evaluate(test, named, "logged", ("ips", "snips"), confidence=CONFIDENCE).estimates
    for (method, use), policy in targets.items():
        ips, snips = (found[f"{method} {use}", key] for key in ("ips", "snips"))
        if isinstance(ips, NoOverlapError) or isinstance(snips, NoOverlapError):
            continue  # a policy that never shows what was logged has no row
        yield Row(method, use, ips, snips, None if world is None else _truth(world, policy))


def _truth(world: AdvertWorld, policy: AnyPolicy) -> float:
    return world.truth(law(policy, "rank_probs") if is_law(policy) else world.logging)


def _chart(rows: list[Row]) -> Chart:
    place = [float(number) for number in range(1, len(rows) + 1)]
    one = Series(
        "IPS, 99 % interval",
        place,
        [row.ips.value * _UNIT for row in rows],
        [row.ips.low * _UNIT for row in rows],
        [row.ips.high * _UNIT for row in rows],
    )
    known = [(x, row.truth * _UNIT) for x, row in zip(place, rows, strict=True) if row.truth is not None]
    truth = (Series("truth", [x for x, _ in known], [y for _, y in known]),) if known else ()
    return Chart("Learnt policies, in the order of the table", "row of the table", "clicks x 10,000", (one, *truth))


def _gaps(policies: dict[str, AnyPolicy], test: Split) -> Gaps:
    """To the logger and to regression, which comes first; with the covariance of estimates from the same rows."""
    layout, logging = Layout(tuple(policies.values()), (IPS(),)), Logged()
    fold = TermsFold(layout, logging, MomentsFold(layout.columns))
    spread = Spread(run(test.select(needs(layout, logging)), fold), "normal", CONFIDENCE)
    means = {name: Ratio(3 + 2 * index, 0) for index, name in enumerate(policies)}
    logger, first = Ratio(1, 0), next(iter(policies))
    found = {(name, "logger"): spread.difference(mean, logger) for name, mean in means.items()}
    return found | {(name, first): spread.difference(mean, means[first]) for name, mean in means.items()}


def _claims(rows: dict[str, Row], gaps: Gaps) -> Iterator[Claim]:
    reference = [rows[name] for name in ("regression, sorted", "logger") if name in rows]
    for method, use in CLAIMED[1:]:
        row = rows.get(f"{method}, {use}")
        if row is None:
            continue
        more = [gaps[row.name, other.name] for other in reference]
        status = _status(all(gap.low > 0 for gap in more), all(gap.value > 0 for gap in more))
        yield Claim(
            f"{method} earns more than regression and than the logging policy, by more than the intervals.",
            "new" if method in NEW else status,
            _evidence([row, *reference], more),
        )
    yield from _use_claims(rows)


def _use_claims(rows: dict[str, Row]) -> Iterator[Claim]:
    pairs = [
        (rows[f"{m}, drawn"], rows[f"{m}, sorted"]) for m in LEARNT if {f"{m}, drawn", f"{m}, sorted"} <= set(rows)
    ]
    gaps = ", ".join(f"{d.method} {d.ips.value * _UNIT:.1f} and {s.ips.value * _UNIT:.1f}" for d, s in pairs)
    yield Claim(
        "The paper does not say whether its policies draw or sort.",
        "new",
        f"IPS times 10,000 drawn and sorted: {gaps}.",
    )


def _evidence(rows: list[Row], more: list[Interval]) -> str:
    numbers = "; ".join(f"{one.name} {_number(one)}" for one in rows)
    pairs = zip(more, rows[1:], strict=True)
    gaps = ", ".join(
        f"{gap.value * _UNIT:+.1f} +- {(gap.high - gap.low) / 2 * _UNIT:.1f} to {o.name}" for gap, o in pairs
    )
    small = any(gap.low <= 0 <= gap.high for gap in more)
    return f"{numbers}. On the same impressions {gaps}." + (" The log is too small to tell." if small else "")


def _number(row: Row) -> str:
    half = (row.ips.high - row.ips.low) / 2 * _UNIT
    truth = "" if row.truth is None else f" (truth {row.truth * _UNIT:.1f})"
    return f"{row.ips.value * _UNIT:.1f} +- {half:.1f}{truth}"


def _status(found: bool, partly: bool) -> Status:
    return "reproduced" if found else "in part" if partly else "not reproduced"
