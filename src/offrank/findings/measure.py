"""Measures of models and rankings: conditional mutual information, and comparisons of clicked items."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..language.formatting import Span, apart, number, percent, plural
from ..sums.estimate import Interval
from ..wording import Option
from .registry import Statement, finding, note, serious, warning

PERMUTABLE = 0.5  # Share of the documents that should be permutable
FEW_COMPARISONS = 100.0  # Clicked impressions
FEW_CHANGES = 10  # Queries that differ between two runs
MOST_GRADERS = 20  # Each of whom has a list; of more, lists are drawn
JUDGED_SHARE = 0.8  # Share of the items that one grader should have judged
MOSTLY = 0.95  # Share of the clicks


@dataclass(frozen=True, kw_only=True)
class ComparisonEvidence:
    """The evidence about a metric of a model."""

    ess: float = math.inf  # effective number of clicked impressions
    rejected: float = 0.0  # share of the clicks that have nothing to be compared with
    pairwise: bool = False  # whether the metric compares items shown together
    shuffled: bool = True  # whether the slates were drawn uniformly
    counted: bool = False  # whether the logging probabilities were counted in the log


@dataclass(frozen=True, kw_only=True)
class CmipEvidence:
    """The evidence about a CMIP."""

    value: float = 0.0  # in nats
    n: int = 0  # documents
    method: str = "binned"
    bias: str = ""  # what is known of that of the method, in a sentence
    least: int = 0  # documents that the method needs
    permutations: int = 0  # of its test
    grades: int = 2
    left_out: tuple[tuple[float, int], ...] = ()  # documents of grades that are too small, by grade
    permutable: float = 1.0  # share of the documents with another one of the same grade and cluster
    constant: bool = False  # whether model or policy is constant within every grade, so that nothing was measured
    level: bool = False  # whether the policy is, and the model is not
    unpaired: int = 0  # documents whose grade is missing in the other half
    direction: Interval | None = None  # rank correlation with the policy within grades
    floor: tuple[Interval, Interval] | None = None  # value and direction of a right model
    points: bool = False  # whether the model has only point estimates of relevance, and no posterior
    counted: bool = False  # whether the mean rank in the log replaces the expected one


@dataclass(frozen=True, kw_only=True)
class RunsEvidence:
    """The evidence about a metric of two runs, A and B."""

    queries: int = 0
    changed: int = FEW_CHANGES  # queries in which the runs differ
    unjudged: tuple[float, float] = (0.0, 0.0)  # share of the items of each run that have no grade
    bounds: tuple[float, float] = (0.0, 0.0)  # the difference if items without a grade favour A, and B
    decided: bool = False  # whether the difference is clear
    tied: int = 0  # queries with equal scores
    drawn: int = 0  # of these, queries whose orders were drawn
    graders: int = 1  # of items that several have judged
    shared: float = 1.0  # share of the items that one of them has judged
    ungraded: int = 0  # queries of a run without judgements
    absent: int = 0  # judged queries that neither run has
    zeros: int = 0  # queries that count as 0 in the run that lacks them


@finding("few-documents", "Documents", lambda found: found.n < found.least, cause="measure")
def few_documents(found: CmipEvidence) -> Statement:
    return warning(
        f"There are only {found.n:,} documents, and `{found.method}` needs at least {found.least:,}.",
        "Judge more documents. Rely on the interval and the p-value, not on the value.",
    )


@finding("one-grade", "Grades", lambda found: found.grades == 1, cause="measure")
def one_grade(_: CmipEvidence) -> Statement:
    return warning(
        "All documents have the same grade, so agreement because of true relevance cannot be distinguished from bias.",
        "Give grades of several levels.",
    )


@finding("small-grade", "Grades", lambda found: found.left_out, cause="measure")
def small_grade(found: CmipEvidence) -> Statement:
    told = ", ".join(f"{grade:g} ({size})" for grade, size in found.left_out)
    total = sum(size for _, size in found.left_out)
    return note(
        f"{total:,} documents were left out because their grades have too few documents: {told}.",
        "Judge more documents of these grades.",
    )


@finding("unpaired-grade", "Grades", lambda found: found.unpaired, cause="measure")
def unpaired_grade(found: CmipEvidence) -> Statement:
    return note(
        f"Up to {found.unpaired:,} documents had a grade that is missing in the other random half, and were left "
        "out of their half.",
        "Judge more documents of the rare grades.",
    )


@finding("negative", "Sign", lambda found: found.value < 0, cause="measure")
def negative(found: CmipEvidence) -> Statement:
    return note(
        f"The estimate is negative ({number(found.value)}), which the true value cannot be.",
        "Rely on the interval and the p-value. A negative value does not prove that the model is unbiased.",
    )


@finding(
    "no-information", "Information", lambda found: found.constant and not found.level, convicts=True, cause="measure"
)
def no_information(_: CmipEvidence) -> Statement:
    return serious(
        "Within every grade, the model or the logging policy gives all documents the same relevance: CMIP is 0.",
        "This does not mean that the model is good: check nDCG, and use another model.",
    )


@finding("no-policy", "No policy to copy", lambda found: found.level, cause="measure")
def no_policy(_: CmipEvidence) -> Statement:
    return warning(
        "Within every grade, the logging policy gives all documents the same expected rank: no model could copy "
        "it, and each has a CMIP of 0.",
        "Choose by perplexity and nDCG. If the policy does rank documents, give their expected ranks.",
    )


@finding("carries-policy", "The logging policy in the model", convicts=True, cause="measure")
def carries_policy(found: CmipEvidence) -> Statement | None:
    """CMIP is above its floor, and the direction certain: on one side of 0, and clear of the floor's."""
    if found.floor is None or found.direction is None:
        return None
    own, (value, direction) = found.direction, found.floor
    follows, opposes = own.low > max(0.0, direction.high), own.high < min(0.0, direction.low)
    if not (found.value > value.high and (follows or opposes)):
        return None
    return warning(
        f"Among documents of the same grade, the model prefers documents that the policy showed "
        f"{'high' if own.value > 0 else 'low'}: the rank correlation is {Span.of(own).number(signed=True)}, and an "
        f"unbiased model would have {Span.of(direction).interval(signed=True)}. CMIP is "
        "{}, above the {} that noise explains.".format(*apart(found.value, value.high)),
        "Do not use the model for rankings by another policy, unless the policy knows more about relevance than "
        "the grades do.",
    )


@finding("few-exchanges", "Permutation test", cause="measure")
def few_exchanges(found: CmipEvidence) -> Statement | None:
    if not (found.permutations and found.permutable < PERMUTABLE):
        return None
    return warning(
        f"Only {percent(found.permutable)} of the documents share their grade and cluster with another document: "
        "the p-value is based on these alone.",
        "A large p-value says little here. Rely on the interval, or judge more documents per query.",
    )


@finding("biased-method", "Bias of the method", lambda found: found.bias and not found.constant, cause="method")
def biased_method(found: CmipEvidence) -> Statement:
    return warning(found.bias, "Use it to compare with other numbers of this method. To judge a model, use binned.")


@finding("point-estimates", "Point estimates", lambda found: found.points, cause="method")
def point_estimates(_: CmipEvidence) -> Statement:
    return warning(
        "The model has no posterior, so CMIP is computed from point estimates. Their noise depends on how often a "
        "document was shown, hence on its rank, and counts as dependence: an unbiased model would not score 0 "
        "either, and its score is unknown.",
        "Do not compare it with the CMIP of models that are judged by posterior draws. Read its direction.",
    )


@finding("counted-ranks", "Counted ranks", lambda found: found.counted, cause="counting")
def counted_ranks(_: CmipEvidence) -> Statement:
    return note(
        "The logging policy does not give the expected rank of a document, so its mean rank in the log is used. "
        "The error of that mean makes CMIP too small where documents were shown only a few times.",
        "Name the policy that generated the log: {}.",
        Option("logging", "plackett_luce(old_score)"),
    )


@finding("few-comparisons", "Comparisons", lambda found: found.ess < FEW_COMPARISONS, cause="measure")
def few_comparisons(found: ComparisonEvidence) -> Statement:
    message = f"The effective sample size of the comparisons is {found.ess:.0f} clicked impressions."
    return serious(message, "Log more, or log more randomly.")


@finding("mostly-rejected", "Comparisons", lambda found: not found.pairwise, cause="measure")
def mostly_rejected(found: ComparisonEvidence) -> Statement | None:
    if not found.rejected > MOSTLY:
        return None
    return warning(
        f"{percent(found.rejected)} of the clicks have nothing to be compared with: the logging policy was nearly "
        "deterministic, so the metric describes only its few random contexts.",
        "Look at the groups with {}, or log more randomly.",
        Option("by", "COLUMN"),
    )


@finding("position-bias", "Position bias", lambda found: found.pairwise and not found.shuffled, cause="measure")
def position_bias(_: ComparisonEvidence) -> Statement:
    return note(
        "Pairwise metrics favour items shown at the top, unless the slates were shuffled uniformly.",
        "Use counterfactual_... with the logging policy, or confirm that they were shuffled with {}.",
        Option("logging", "uniform"),
    )


@finding("counted-propensities", "Counted propensities", cause=("weights", "counting"))
def counted_propensities(found: ComparisonEvidence) -> Statement | None:
    if not found.counted or found.pairwise:
        return None
    return note(
        "The propensities were estimated by counting in the log itself, and the intervals do not include their error.",
        "Log the scores behind the slates, and use plackett_luce(scores).",
    )


@finding("few-changed-queries", "Queries", lambda found: 0 < found.changed < FEW_CHANGES, cause="measure")
def few_changed_queries(found: RunsEvidence) -> Statement:
    return warning(
        f"The runs differ in {found.changed} of {plural(found.queries, 'query', 'queries')}: too few for an interval.",
        "Judge more queries, or look at these one by one.",
    )


@finding("unjudged-items", "Judgements", lambda found: max(found.unjudged) > 0, cause="measure")
def unjudged_items(found: RunsEvidence) -> Statement:
    a, b = (percent(share) for share in found.unjudged)
    said = f"{a} of the items of A and {b} of those of B have no grade, and count as not relevant."
    if found.decided and found.bounds[0] <= 0 <= found.bounds[1]:
        return warning(f"{said} Grades for them could turn the decision.", "Judge these items first.")
    return note(said, "Judge these items; the bounds say how much it could change.")


@finding("tied-scores", "Ties", lambda found: found.tied, cause="measure")
def tied_scores(found: RunsEvidence) -> Statement:
    how = f", for {found.drawn:,} of them over drawn ones" if found.drawn else ""
    return note(
        f"Scores tie in {plural(found.tied, 'query', 'queries')}: the metric is the mean over all orders{how}.",
        "Write scores with all their digits.",
    )


@finding("unmatched-queries", "Queries", lambda found: found.ungraded or found.absent, cause="measure")
def unmatched_queries(found: RunsEvidence) -> Statement:
    return note(
        f"Left out: {plural(found.ungraded, 'query', 'queries')} without judgements, and {found.absent:,} with "
        "judgements that neither run has.",
        "Give the judgements of these runs.",
    )


@finding("missing-queries", "Queries", lambda found: found.zeros, cause="measure")
def missing_queries(found: RunsEvidence) -> Statement:
    every = plural(found.queries, "query", "queries")
    return warning(
        f"{found.zeros:,} of {every} are in one run only, and count as 0 in the other.",
        "Give runs of the same queries, unless the other found nothing.",
    )


@finding("partial-graders", "Graders", cause="measure")
def partial_graders(found: RunsEvidence) -> Statement | None:
    if found.graders <= MOST_GRADERS and found.shared >= JUDGED_SHARE:
        return None
    return note(
        f"Each of {found.graders:,} graders judged {percent(found.shared)} of the items on average; their other "
        "grades are drawn, so the interval has the differences between graders only in part.",
        "Have few graders judge all items.",
    )
