"""Click models: how they were learnt, what they predict, and the curves and judgements that come of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..language.formatting import percent, with_error
from ..sums.estimate import Interval
from ..wording import ColumnNames
from .registry import Statement, finding, note, serious, warning

MANY_IMPOSSIBLE = 0.05  # Share of the clicks that the model leaves out
MANY_UNKNOWN = 0.01  # Share of the impressions in cells whose examination is not identified
CONTINUATION_ERROR = 0.3
"""Standard error of a continuation, in logits, above which a log does not identify how far users read."""
VARIABILITY = 0.02  # Variance of ranks below which the continuation rests on a few documents that moved by chance
LEAST_MOVING = 0.1
"""Share of the variance of ranks within documents below which satisfactions at the bottom are too high: between the
worlds of `benchmarks/click_coverage.py` where intervals hold the truth in too few logs (0.05) and in enough (0.2)."""
TRUST_ERROR = 0.42
"""Standard error of the logarithm of hit above which trust and attraction are not told apart, a factor of 1.5. Where
hit is right to .15 on the average of logs, most logs are below (`benchmarks/click_intervals.py trust`)."""
BENT = 0.01
"""How far a prior that all documents share may move a continuation, before the order of the documents matters."""
MANY_UNSEEN = 0.2  # Share of the documents shown in the evaluation log
MOST_UNSEEN = 0.5
LOST = 0.01
"""Nats a session: what a model may lose by chance, or by its priors, before it is said. `benchmarks/clicks.py sparse`
prints what models lose."""
CLEAR = 1.96  # Standard errors from which on the difference is no chance
FEW_CLICKS = 30  # Number of clicks on documents that were also shown at other ranks
MANY_WIDE = 0.1  # Share of the documents whose interval spans more than two grades
MOST_WIDE = 0.5


@dataclass(frozen=True, kw_only=True)
class HarvestEvidence:
    """A harvested examination curve [k]."""

    linked: tuple[bool, ...] = ()  # whether a rank can be compared with the first
    clicks: tuple[float, ...] = ()  # on documents also shown at other ranks
    high: tuple[float, ...] = ()  # upper ends of the interval


@dataclass(frozen=True, kw_only=True)
class FitEvidence:
    """The evidence about the training data of a click model."""

    clicked: bool = True  # whether there are any clicks
    skipped: bool = True  # whether any document was not clicked
    beyond: float = 0.0  # share of the clicks that the model rules out and leaves out
    hidden: float = 0.0  # share of the impressions in cells whose examination the log does not identify
    error: float = 0.0  # of models that read from the top: standard error of the continuation in logits, by trials
    rank_variability: float = math.inf  # of such models: variance of a document's rank
    moving: float = 1.0  # of `dbn`: share of the variance of ranks that is within documents
    split: float = 0.0  # standard error of the logarithm of a chance that tells clicks of trust from worth
    unlinked: tuple[str, ...] = ()  # values of a context whose examination cannot be compared with that of most rows
    bend: float = 0.0  # of models that read from the top: how much larger a continuation is than by one prior
    settled: bool = True  # whether learning ended by its tolerance
    rounds: int = 0  # that learning took


@dataclass(frozen=True, kw_only=True)
class PredictionEvidence:
    """The evaluation of a click model on a log."""

    sessions: int = 0
    unseen: float = 0.0  # share of the shown documents that are not in the training log
    learnt: int = 0  # ranks of the training log
    slots: int = 0  # ranks of this one
    impossible: int = 0  # sessions to which the model gives probability 0
    features: bool = False  # whether the model reads what unseen documents are like
    ahead: Interval | None = None  # log-likelihood a session less that of click rates by rank; None if unknown


@dataclass(frozen=True, kw_only=True)
class JudgementsEvidence:
    """The judgements of documents by a click model."""

    documents: int = 0
    wide: int = 0  # documents whose interval spans more than two grades
    intervals: bool = True  # whether there are any
    alike: bool = False  # whether all have the same relevance


@finding("no-clicks", "Clicks", lambda found: not found.clicked, cause="click model")
def no_clicks(_: FitEvidence) -> Statement:
    return serious(
        "No session has a click: the model's documents and ranks are determined by its priors alone.",
        "Check that the right column is read as clicks ({}).",
        ColumnNames({"clicks": "NAME"}),
    )


@finding("only-clicks", "Clicks", lambda found: not found.skipped, cause="click model")
def only_clicks(_: FitEvidence) -> Statement:
    return serious(
        "Every document of every session was clicked: documents without a click are missing from the log, so "
        "neither examination nor attractiveness can be estimated.",
        "Use a log of whole result lists. From clicks alone, only counts by query, document and rank can be computed.",
    )


@finding("impossible-clicks", "Impossible clicks", lambda found: found.beyond > 0, convicts=True, cause="click model")
def impossible_clicks(found: FitEvidence) -> Statement:
    return Statement.of(
        "serious" if found.beyond > MANY_IMPOSSIBLE else "warning",
        f"{percent(found.beyond)} of the clicks follow an earlier click in their session, which the cascade model "
        "rules out. They were ignored.",
        "Use a model that allows several clicks: dcm, ccm, dbn or ubm.",
    )


@finding("impossible-clicks", "Impossible clicks", lambda found: found.impossible, convicts=True, cause="click model")
def impossible_clicks_of_prediction(found: PredictionEvidence) -> Statement:
    return serious(
        f"{found.impossible:,} of {found.sessions:,} sessions are impossible under the model: their log-likelihood "
        "is -inf. Perplexity keeps probabilities away from 0 and 1.",
        "Use a model that allows such clicks, such as dcm or dbn instead of cascade.",
    )


@finding("examination-unknown", "Examination", cause="click model")
def examination_unknown(found: FitEvidence) -> Statement | None:
    if found.hidden >= MANY_UNKNOWN:
        what = "examination"
        message = f"{percent(found.hidden)} of the views are at positions whose examination cannot be estimated from "
        message += "this log: almost no document was clicked both there and elsewhere. The estimates assume that "
        message += "documents are equally attractive at all positions."
    elif found.error > CONTINUATION_ERROR or found.rank_variability < VARIABILITY:
        what = "continuation"
        message = (
            "The log says little about how far users read: too few documents were clicked at different ranks. The "
        )
        message += "continuation is determined mostly by the prior of the documents."
    else:
        return None
    remedy = "Use this model only to predict clicks on rankings like those in the log. To learn "
    return warning(message, f"{remedy}{what} and relevance, use a log in which documents change positions.")


@finding("satisfaction-unknown", "Satisfaction", lambda found: found.moving < LEAST_MOVING, cause="click model")
def satisfaction_unknown(found: FitEvidence) -> Statement:
    return warning(
        f"Documents rarely changed ranks ({percent(found.moving)} of the variance of ranks is within documents). "
        "Clicks below a document that is always shown low say little about whether it satisfies: its satisfaction and "
        "relevance are overestimated, too often beyond their intervals.",
        "Compare documents by their attractiveness, or use a log in which documents change ranks.",
    )


@finding("trust-unknown", "Trust bias", lambda found: found.split > TRUST_ERROR, cause="click model")
def trust_unknown(found: FitEvidence) -> Statement:
    return warning(
        "This log does not separate trust in high ranks from the relevance of the documents shown there: too few "
        "documents were clicked at different ranks. The click probability of an attractive document is known to a "
        f"factor of {math.exp(found.split):.1f} (one standard error).",
        "Do not interpret attraction, hit and false separately. Learn trust bias from a log with random orders.",
    )


@finding("unlinked-contexts", "Contexts", lambda found: bool(found.unlinked), cause="click model")
def unlinked_contexts(found: FitEvidence) -> Statement:
    some = ", ".join(map(repr, found.unlinked[:5])) + (" ..." if len(found.unlinked) > 5 else "")
    return warning(
        f"The examination in {some} cannot be compared with that elsewhere: no clicked document was shown both "
        "there and in other contexts.",
        "Use each of these curves on its own, and do not compare the attractiveness of documents across contexts.",
    )


@finding("worth-follows-rank", "Continuation", lambda found: abs(found.bend) > BENT, cause="click model")
def worth_follows_rank(found: FitEvidence) -> Statement:
    return note(
        "Better documents were shown higher, or lower, so each has a prior by its ranks. One prior for all would "
        f"change the continuation by {-found.bend:+.3f}: no log tells which is right, so half of this change is added "
        "as a standard deviation of the continuation.",
        "For a more certain continuation and satisfaction, use a log in which documents change ranks.",
    )


@finding("unsettled", "Convergence", lambda found: not found.settled, cause="click model")
def unsettled(found: FitEvidence) -> Statement:
    return warning(
        f"Not converged after {found.rounds:,} iterations: more iterations would change the estimates by more than "
        "the tolerance, and the intervals do not allow for it.",
        "Use a larger tolerance=, or a log that determines the model's parameters better.",
    )


@finding("unseen-documents", "Unseen documents", lambda found: found.unseen > 0, cause="click model")
def unseen_documents(found: PredictionEvidence) -> Statement:
    if found.features:
        return note(
            f"{percent(found.unseen)} of the shown documents do not occur in the model's training log: the model "
            "predicts them from their features.",
            "Nothing, if their features are like those of the training log.",
        )
    return Statement.of(
        "serious" if found.unseen > MOST_UNSEEN else "warning" if found.unseen > MANY_UNSEEN else "note",
        f"{percent(found.unseen)} of the shown documents do not occur in the model's training log: the model "
        "treats them as average documents.",
        "Train on a log with the same queries and items. If they are the same, check how their ids are written.",
    )


@finding("unseen-ranks", "Unseen ranks", lambda found: 0 < found.learnt < found.slots, cause="click model")
def unseen_ranks(found: PredictionEvidence) -> Statement:
    return warning(
        f"Slates have up to {found.slots} ranks, but the model was trained on {found.learnt}: its values at rank "
        f"{found.learnt} are used below that.",
        "Train on slates of this length.",
    )


@finding("behind-rctr", "Behind click rates by rank", cause="click model")
def behind_rctr(found: PredictionEvidence) -> Statement | None:
    ahead = found.ahead
    if ahead is None or not ahead.value < -LOST or not math.isfinite(ahead.standard_error):  # of one session
        return None
    away, error = with_error(-ahead.value, ahead.standard_error)
    perhaps = "" if ahead.high < 0 else ": chance alone could explain the difference"
    return Statement.of(
        "note" if perhaps else "warning",
        f"The model's log-likelihood is {away} nats per session (standard error {error}) below that of the click rates "
        f"by rank in its training log{perhaps}.",
        "To predict clicks on rankings by this log's own policy, use rctr. To judge documents or other rankings, "
        "train on a log with more sessions per document.",
    )


def _ranks(which: Sequence[bool]) -> str:
    """The selected ranks of [k] in words: `rank 2`, `ranks 2, 5`."""
    numbers = [str(rank) for rank, meant in enumerate(which, start=1) if meant]
    return f"{'rank' if len(numbers) == 1 else 'ranks'} {', '.join(numbers)}"


@finding("few-pairs", "Ranks", cause="click model")
def few_pairs(found: HarvestEvidence) -> Statement | None:
    few = [linked and clicks < FEW_CLICKS for linked, clicks in zip(found.linked, found.clicks, strict=True)]
    if not any(few):
        return None
    return warning(
        f"The curve at {_ranks(few)} is based on fewer than {FEW_CLICKS} clicks on documents that were also shown at "
        "other ranks.",
        "Log more: the estimates at these ranks are mostly noise.",
    )


@finding("open-intervals", "Ranks", cause="click model")
def open_intervals(found: HarvestEvidence) -> Statement | None:
    open_ = [linked and math.isinf(high) for linked, high in zip(found.linked, found.high, strict=True)]
    if not any(open_):
        return None
    return warning(
        f"The interval at {_ranks(open_)} has no upper end: too few of the documents that were clicked at rank 1 "
        "were shown at other ranks.",
        "Log more: rank 1 needs clicks on documents that were also shown at other ranks.",
    )


@finding("unlinked-ranks", "Ranks", cause="click model")
def unlinked_ranks(found: HarvestEvidence) -> Statement | None:
    missing = [not linked for linked in found.linked]
    if not any(missing):
        return None
    return serious(
        f"The log does not connect {_ranks(missing)} to rank 1: no document was shown and clicked at both, or at "
        "ranks in between.",
        "Log rankings that vary more, or cut the slates there.",
    )


@finding("doubtful-judgements", "Judgements", cause="measure")
def doubtful_judgements(found: JudgementsEvidence) -> Statement | None:
    if found.alike:
        return serious(
            "The model gives every document the same relevance, so its judgements carry no information.",
            "Use a model of documents, such as pbm, ubm or dbn.",
        )
    if not found.intervals:
        return warning(
            "The model has no posterior for relevance, so the uncertainty of the judgements is unknown.",
            "Use a model that has one, such as pbm, ubm or dbn.",
        )
    if found.wide:
        share = found.wide / found.documents
        return Statement.of(
            "serious" if share > MOST_WIDE else "warning" if share > MANY_WIDE else "note",
            f"{found.wide:,} of {found.documents:,} documents have an interval wider than two grades: they were "
            "shown too rarely to be graded.",
            "Keep the documents with a high certainty or with many sessions, or train on a longer log.",
        )
    return None
