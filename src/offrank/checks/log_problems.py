"""Problems of a log that affect every estimate, all found in the one pass over the log."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from .. import findings
from ..findings.log import LogEvidence, never_drawn
from ..findings.odd_mean import LawEvidence
from ..findings.registry import CAUSES, SEVERITIES, Cause
from ..inference.mean_intervals import Inference
from ..log.source import Needs, Source, has
from ..policies.base import Policy
from ..policies.fit import counted_by, counts
from ..running.quantities import Quantities, Quantity
from ..sums.estimate import Caution
from ..sums.mean import ratio
from ..sums.moments import Moments
from ..sums.named_sums import NamedColumns, Sums
from ..sums.outcome_shape import OutcomeShapeFold
from .calibration import CalibrationFold
from .drift import along_folds
from .duplicates import ContentsFold
from .item_names import named
from .propensities import AgreementFold, UniformWeightsFold
from .repeats import By, RepeatsFold
from .row_inclusion import KeptFold, with_unread
from .rows import CandidatesFold, RowsPerContextFold

_SHOWN = Needs(frozenset(["candidates"]))
CONFIDENCE = 0.99

_ORDER = CAUSES[: CAUSES.index("rows") + 1]
"""The causes of problems of a log: the first ones lead to those that follow."""
OF_ROWS: tuple[Cause, ...] = ("sampling", "rows", "outcome")
"""Causes that do not depend on the propensities of the rows."""
_CONTEXTS: tuple[By, ...] = ("candidates", "query", "user")
"""What makes a context, in which rows that repeat what they show are counted."""


BY_ROW = ("along", "weights along")
_ALONG = ("along time", "weights along time", *BY_ROW, "units", "robots")
"""What moves along a log; by the order of its rows, where times of day do not tell more."""
NO_LAW = LawEvidence()
Totals = Mapping[str, float]
"""True numbers of impressions before any were left out: `clicked` and `all`."""


def about_log(log: LogEvidence, law: LawEvidence = NO_LAW, totals: Totals | None = None) -> tuple[Caution, ...]:
    """Return the problems of a log, the worst first, and causes before effects of the same severity.

    law: the mean weights of the run. totals: the true numbers of impressions. Each problem is said once, and none
    that another one explains.
    """
    rows = replace(log.kept, totals=totals or {})
    law = replace(law, copies=log.copies, unlisted=log.unlisted)
    found = findings.cautions_for(log, rows, law, *log.along, log.outcome)
    if not found:
        return ()
    known = findings.explained(found)
    last: Cause | None = None if never_drawn(log) else "randomness"  # a few repeats may follow from any other fault
    once: dict[str, Caution] = {}
    for one in found:
        once.setdefault(one.code, one)
    kept = [one for one in once.values() if one.code not in known]
    return tuple(sorted(kept, key=lambda one: (SEVERITIES[one.severity], _place(one, last))))


def _place(one: Caution, last: Cause | None) -> int:
    """The place of a problem of the log: causes before effects, and one cause after all others."""
    causes = findings.causes_of(one.code)
    places = [place for place, cause in enumerate(_ORDER) if cause in causes]
    return len(_ORDER) + 1 if last in causes else min(places, default=len(_ORDER))


def of_rows(found: Iterable[Caution]) -> tuple[Caution, ...]:
    """Return the problems that also affect estimates which do not require the logging policy."""
    return tuple(caution for caution in found if findings.has_cause(caution, *OF_ROWS))


def binding_models(caution: Caution) -> Caution:
    """Return a problem of the log as it is for an estimate that rests on an examination curve or a click model."""
    return replace(caution, severity="serious") if findings.has_cause(caution, "click model") else caution


def log_quantities(
    source: Source, logging: Policy | None, clusters: tuple[str, ...] = (), *, compared: bool = False
) -> Iterator[Quantity]:
    """Yield what is counted of problems that affect every estimate, as far as the columns and the policy allow.

    logging: None if no estimate requires it. clusters: columns that somebody named, beside those known by name.
    compared: whether the means of its arms are compared.
    """
    weights = None if logging is None or counts(logging) else UniformWeightsFold(logging)
    if weights is not None:
        yield Quantity("weights", weights, optional=True)
    for name, fold in along_folds(source, logging, clusters, compared=compared, weights=weights):
        yield Quantity(name, fold, optional=True)
    yield Quantity("contents", ContentsFold())
    yield Quantity("candidates", CandidatesFold(), _SHOWN)
    yield Quantity("kept", KeptFold())
    yield Quantity("outcome", OutcomeShapeFold())
    if logging is None:
        return
    if counts(logging):  # such a policy agrees with the log by construction
        if (by := counted_by(logging)) is not None:
            yield Quantity("contexts", RowsPerContextFold(by), optional=True)
        return
    if logging.any_slate:
        yield Quantity("fit", CalibrationFold(logging), optional=True)
    for by in _CONTEXTS:
        if by == "candidates" or has(source, Needs(clusters=frozenset([by]))):
            given_arms = logging.rankers if by == "user" else None  # a user is in one arm, by design
            yield Quantity(f"repeats {by}", RepeatsFold(given_arms or logging, by), optional=True)
    if not logging.confirmed.written:
        yield Quantity("agreement", AgreementFold(logging), optional=True)


def log_evidence(found: Mapping[str, Any], asked: Quantities, logging: Policy | None = None) -> LogEvidence:
    """Return the evidence about a log from what was counted of it, with items that are called as in the log.

    asked: what was counted. logging: None if no estimate requires it.
    """
    rows, more, listed = map(int, found["candidates"])
    compared = [one for name, one in found.items() if name.startswith("repeats ")]
    fine = "along time" in found and found["along time"].fine
    placebos = (one for name, both in found.items() if name.startswith("placebo") for one in both)
    # What differs by rounding alone is told by the first, whatever the order of the rows.
    worst = min(compared, key=lambda one: float(f"{one.chance:.6g}"), default=None)
    made = LogEvidence(
        rows=rows,
        logging="" if logging is None else repr(logging.confirmed),
        unconfirmed=None if logging is None else logging.departure,
        fit=found.get("fit"),
        copies=found["contents"],
        # each looks at slates and at items at the top
        repeats=worst and replace(worst, chance=min(worst.chance * 2 * len(compared), 1.0)),
        least_repeats=min((one.least for one in compared), default=1.0),
        shown_only=rows > 0 and not more,
        unlisted=rows > 0 and not more and not listed,
        rows_per_context=found.get("contexts", math.inf),
        counted_by=None if logging is None else counted_by(logging),
        unknown=asked.reasons,
        kept=found["kept"],
        outcome=found["outcome"],
        along=(*(found[name] for name in _ALONG if name in found and not (fine and name in BY_ROW)), *placebos),
    )
    if (agreement := found.get("agreement")) is not None:
        made = replace(made, compared=agreement.rows, apart=agreement.apart)
        made = replace(made, typical_ratio=agreement.typical_ratio) if agreement.apart else made
    if "weights" in found and rows:
        made = replace(made, **_of_weights(found["weights"]))
    return with_unread(named(made, asked.source), asked.source)


def _of_weights(found: Moments) -> dict[str, Any]:
    sums = Sums(NamedColumns(("rows", "weight")), found)
    rows, weight, squares = float(sums.total["rows"]), float(sums.total["weight"]), sums.squares
    return {
        "mean_weight": Inference(sums, "normal", CONFIDENCE).interval(ratio("weight", "rows")),
        "sampling_factor": float(squares["rows"]) / rows,
        "largest_weight": float(sums.largest["weight"]),
        "impressions": rows,
        "ess": weight**2 / float(squares["weight"]) if squares["weight"] else 0.0,
    }
