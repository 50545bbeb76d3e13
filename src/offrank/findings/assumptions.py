"""What an estimate assumes of users and models, what these cover of the target, and what the data chose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from statistics import NormalDist

from ..language.assumptions import in_words
from ..language.formatting import listing, number, percent, plural, quote, rough
from ..sums.estimate import Interval
from ..wording import EstimatorOption, Option
from .registry import Statement, finding, note, serious, warning
from .row import ModelEvidence, Row
from .weights import CLOSER

FALSE_ALARMS = 0.001
"""Share of runs on healthy logs in which some estimates are reported to disagree, at most (Bonferroni)."""
VISIBLE = 0.25  # Share of the width of the estimate's interval: smaller differences change no decision
MANY_TIES = 0.05  # Share of the impressions: with fewer, the order of ties changes a rate by a few per cent at most
ODD_RISE = 1.2  # Ratio to the smallest value above; smaller rises are within the error of a harvested curve
ABSURD_RISE = 2.0  # Ratio to the first rank
MUCH_UNSUPPORTED = 0.05  # Share of the target's items at a rank
COVERED = 0.99  # Share of the target's items
UNKNOWN = 0.01  # Share of the target's documents
MOSTLY_UNKNOWN = 0.2
GUESSED, MOSTLY_GUESSED = 0.01, 0.25  # Share of a list whose items are judged by others


@dataclass(frozen=True, kw_only=True)
class CurveEvidence:
    """An examination curve [k], top first."""

    curve: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DisagreementEvidence:
    """The comparison of an estimate with one of fewer assumptions about users, on the same rows."""

    other: str
    difference: Interval = Interval(0.0, 0.0, 0.0, 0.0)  # noqa: RUF009  # judged minus other, paired
    width: float = math.inf  # of the judged estimate's interval
    further: frozenset[str] = frozenset()  # what the judged one assumes beyond the other
    other_assumes: frozenset[str] = frozenset()
    other_sound: bool = True  # whether nothing serious is known of the other one
    error_ratio: float = 1.0  # factor, 1 or more, by which the sample may underestimate the error
    pairs: int = 1  # comparisons in the run
    missing: float = 0.0  # what the other value may lack, since so short a log hides a share of the target from it
    own_missing: float = 0.0  # likewise of the judged one

    @property
    def deviations(self) -> float:
        """The difference beyond what either may lack, in standard errors, as a normal deviate."""
        away = self.difference.value
        nearest = min(away, self.missing) if away > 0 else max(away, -self.own_missing)
        if not self.difference.standard_error > 0 or away == nearest:
            return 0.0
        return self.difference.deviation(nearest) / self.error_ratio

    @property
    def decisive(self) -> bool:
        """Whether the other one is decisive: it is sound and assumes nothing."""
        return self.other_sound and not self.other_assumes


@dataclass(frozen=True, kw_only=True)
class SupportEvidence:
    """The share of a target's items that the logging policy never shows."""

    target: str = "uniform"
    shares: tuple[float, ...] = ()  # [k] of the items at each rank, top first
    asked: bool = True  # whether the target is to be evaluated


@dataclass(frozen=True, kw_only=True)
class GuessedEvidence:
    """The share of each ranker's list whose items, and all at their ranks in both rankings, were hardly shown."""

    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SelectedMemberEvidence:
    """The choice between several estimators by the data; the first of them assumes least."""

    names: tuple[str, ...]
    chosen: int = 0  # its place in names
    refuted: int | None = None  # the first that contradicts those before it
    trusted: int | None = 0  # the first whose error is known
    bias: float | None = None  # estimated one of the chosen bound on weights; None where SLOPE chose


@dataclass(frozen=True, kw_only=True)
class SelectorEvidence:
    """The choice of an estimator by its estimated error."""

    chosen: str = "ips"
    error: float | None = 0.0  # None if no candidate can be used
    among: int = 1  # candidates
    trusted: str | None = "ips"  # the least assuming one with a reliable standard error that is not refuted
    trusted_error: float = 0.0
    refuted: tuple[tuple[str, str], ...] = ()  # off by more than their standard error, with the one that shows it
    unchecked: bool = False  # whether the trusted one assumes anything
    choice_refuted: bool = False  # whether the chosen one is off so far itself


@finding("disagreement", "Disagreement", cause="assumption")
def disagreement(found: DisagreementEvidence) -> Statement | None:
    """Hausman's test (1978): if the further assumption holds, both estimate the same value."""
    most = -NormalDist().inv_cdf(FALSE_ALARMS / max(found.pairs, 1) / 2)
    if not (abs(found.difference.value) > VISIBLE * found.width and found.deviations > most):
        return None
    far = f"{found.deviations:.1f}" if found.deviations < 1000 else "over 1,000"
    return serious(
        f"The estimate differs from `{found.other}`, which assumes less about users, by {far} standard errors of "
        "their difference.",
        _remedy(found),
    )


def _remedy(found: DisagreementEvidence) -> str:
    more, nothing = in_words(found.further), in_words(frozenset())
    wrong = f"It also assumes {'more about users' if more == nothing else f'that {more}'}, which is wrong here"
    if found.other_assumes:
        return (
            f"{wrong}, or the log is: `{found.other}` assumes that {in_words(found.other_assumes)}. Check that each "
            "click is recorded for the item that was clicked, and compare with an estimator that assumes nothing "
            "about users."
        )
    if not found.other_sound:
        return f"{wrong}. But `{found.other}` cannot be trusted either: read its warnings first, or log more."
    return f"{wrong}: trust `{found.other}`."


@finding("ties", "Equal scores", lambda found: found.ties > 0, cause="assumption")
def ties(found: Row) -> Statement:
    return Statement.of(
        "warning" if found.ties > MANY_TIES else "note",
        f"In {percent(found.ties)} of the impressions, items that the new policy would show have the same score as "
        "another candidate. Their order is unknown, so every order counts equally.",
        "Use scores that differ, or give the ranking itself: ranking(column).",
    )


@finding("odd-examination", "Examination curve", cause="assumption")
def odd_examination(found: CurveEvidence) -> Statement | None:
    """The curve rises. Only ratios of its values matter, not its scale."""
    curve = found.curve
    above = list(accumulate(curve, min))[:-1]
    rises = [here / least for least, here in zip(above, curve[1:], strict=True)]
    rise = max(rises, default=0.0)
    if not rise > ODD_RISE:
        return None
    lower = rises.index(rise) + 1
    upper = curve.index(above[lower - 1])
    return Statement.of(
        "serious" if max(curve) > ABSURD_RISE * curve[0] else "warning",
        f"The examination curve rises: rank {lower + 1} is examined {rough(rise)} times as often as rank {upper + 1} "
        "above it.",
        "Check that the curve is correct and starts at the top rank. Compare with {}, which needs no curve.",
        EstimatorOption("ipm"),
    )


@finding("reward-model", "Reward model", lambda found: found.kind.model, cause="assumption")
def reward_model(found: Row) -> Statement | None:
    model = found.kind.model
    if model is None or found.kind.weighs == "model" or (model.explained is None and not model.rows):
        return None
    return note(
        f"The rewards are corrected by {model.name}.{fit_in_words(model)}",
        "Compare reward models by the standard errors of their dr estimates: the model that explains most need not "
        "have the smallest.",
    )


def fit_in_words(model: ModelEvidence) -> str:
    """What a model was learnt from and how well it predicts, as sentences; empty if that is not known."""
    said = ""
    if model.folds:
        some = f"a random sample of {model.rows:,} of the" if model.rows < model.read else "the"
        chosen = f" ({', '.join(model.settings)})" if model.settings else ""
        said = (
            f" It was fitted{chosen} to {some} {plural(model.read, 'impression', 'impressions')} with "
            f"{model.folds}-fold cross-fitting: each part is predicted by a model of the others."
        )
    if model.explained is None:
        return said
    if model.explained <= 0:
        return f"{said} It predicts these rewards no better than their mean: try other features or settings."
    return f"{said} It explains {percent(model.explained)} of the variance of the logged rewards."


@finding("model-based", "Model-based estimate", lambda found: found.kind.weighs == "model", cause="assumption")
def model_based(found: Row) -> Statement:
    model = found.kind.model or ModelEvidence()
    parameters = " and the uncertainty of the model's parameters" if model.posterior else ""
    return warning(
        f"This is the prediction of {model.name}: the interval covers the variation between contexts{parameters}, not "
        f"the error of the model.{fit_in_words(model)}",
        "Compare with an estimator that uses the clicks of this log; {} corrects the model by them.",
        EstimatorOption("dr(model)"),
    )


def of_model(found: Row) -> bool:
    """Whether the weights are those of a click model."""
    return found.kind.weighs == "items" and found.kind.model is not None and not found.kind.predicts


@finding("model-weights", "Weights of a click model", of_model, cause="assumption")
def model_weights(found: Row) -> Statement:
    model = found.kind.model or ModelEvidence()
    only = ". The interval covers only the uncertainty of the model's parameters" if model.posterior else ""
    return warning(
        f"Clicks are weighted by the examination of {model.name}: if users examine other items, the value is wrong, "
        f"and no weight shows it{only}.",
        "Compare with the weights of other kinds of model ({}), and prefer the model that predicts another "
        "day's clicks best.",
        EstimatorOption("weights(dbn)" if "ubm" in model.name else "weights(ubm)"),
    )


@finding("support", "Support", cause="coverage")
def support(found: SupportEvidence) -> Statement | None:
    worst = max(found.shares, default=0.0)
    if not worst > 0:
        return None
    ranks = ", ".join(f"{percent(one)} at rank {rank}" for rank, one in enumerate(found.shares, start=1) if one > 0)
    return Statement.of(
        "serious" if found.asked and worst > MUCH_UNSUPPORTED else "warning",
        f"The logging policy never shows some of what {found.target} shows: {ranks}.",
        "Estimates miss that share. Evaluate a policy that is closer to the logging policy, widen the window "
        "of interpol ({}), or log more randomly.",
        EstimatorOption("interpol(window=2)"),
    )


@finding("guessed-items", "Items judged by others", cause="coverage")
def guessed_items(found: GuessedEvidence) -> Statement | None:
    worst = max(found.shares.values(), default=0.0)
    if not worst > GUESSED:
        return None
    each = listing([f"{percent(one)} of the list of {quote(name)}" for name, one in found.shares.items() if one > 0])
    return Statement.of(
        "serious" if worst > MOSTLY_GUESSED else "warning",
        f"The merged lists hardly ever show {each}, nor other rare items at the same ranks. Its clicks are guessed: by "
        "the rare items at the nearest ranks, or if there are none by an item of middling attraction.",
        "Show longer merged lists, or serve each ranking alone to some users: an A/B test.",
    )


@finding("unseen-items", "Unseen items", lambda found: not found.normalised, cause=("overlap", "coverage"))
def unseen_items(found: Row) -> Statement | None:
    missing = 1 - found.control
    if found.kind.weighs == "model" or not found.control < COVERED:
        return None
    if of_model(found):
        return serious(
            f"{percent(missing)} of the target's clicks that the model expects are on items without support in the "
            "logged slates, and count as zero.",
            "For an A/B test, use form=logging and name the logging policy, so that other rankers' items have "
            "support. If the log never shows an item, it can only bound the answer.",
            missing=missing,
        )
    return serious(
        f"{percent(missing)} of what the target shows does not occur in the logged slates, and counts as zero.",
        "Use interpol with a wide window ({}), which accounts for the probability that an item was shown. pbm "
        "needs logs that show every candidate.",
        EstimatorOption("interpol(window=2)"),
        missing=missing,
    )


@finding("unseen-documents", "Unseen documents", lambda found: found.kind.weighs == "model", cause="click model")
def unseen_documents(found: Row) -> Statement | None:
    if not found.control < 1 - UNKNOWN:
        return None
    by_features = found.kind.model is not None and found.kind.model.features
    counts = "as their features predict" if by_features else "like an average document"
    return Statement.of(
        "warning" if by_features or found.control >= 1 - MOSTLY_UNKNOWN else "serious",
        f"{percent(1 - found.control)} of what the target shows does not occur in the training log of the model, "
        f"and is assumed to be clicked {counts}.",
        "Train on a log that shows more of it, or by item alone ({}) if queries are rare.",
        Option("by", None),
    )


@finding("chosen", "Estimator chosen", cause="choice")
def chosen(found: SelectedMemberEvidence) -> Statement:
    return _window(found) if found.bias is None else _bound(found, found.bias)


def _window(found: SelectedMemberEvidence) -> Statement:
    names, trusted = found.names, found.trusted
    if trusted is None:
        message = f"This is `{names[0]}`, which assumes the least: none of the {len(names)} estimates can be trusted."
        return note(message, f"Log more, or {CLOSER}.")
    reason = f"all {len(names)} estimates agree, and it has the smallest standard error"
    if found.refuted is not None:
        refuted = names[found.refuted]
        reason = f"it has the smallest standard error of the estimates before `{refuted}`, which disagrees with them"
    unchecked = f" No estimate before `{names[trusted]}` can be trusted, so its assumptions are not checked."
    return Statement.of(
        "warning" if trusted else "note",
        f"This is `{names[found.chosen]}`: {reason} (SLOPE: the ranges of value +- 2 standard errors must overlap)."
        + (unchecked if trusted else ""),
        f"No log can tell for sure which estimate is right, so the interval also contains that of `{names[trusted]}`.",
    )


def _bound(found: SelectedMemberEvidence, bias: float) -> Statement:
    free, number_of, sound = f"`{found.names[0]}`", len(found.names), found.trusted == 0
    remedy = "Its interval is the one without a choice."
    if found.chosen:
        reason = (
            f"of {number_of} bounds on the weights, it has the smallest estimated squared error. The weight that it "
        )
        reason += f"removes causes a bias of about {bias:.2g}."
        remedy = "No log can tell for sure what the removed weight would have earned, so the interval also contains "
        remedy += f"that of {free}."
    elif number_of > 1:
        reason = f"none of {number_of - 1} bounds on its weights has a smaller estimated squared error."
    else:
        reason = "every bound in the grid leaves nothing of its weights."
    message = f"This is `{found.names[found.chosen]}`: {reason}"
    if sound:
        return note(message, remedy)
    return warning(f"{message} The error of {free} is unknown, so the interval may still be too narrow.", remedy)


@finding("chosen-estimator", "Estimator chosen by its error", cause="choice")
def chosen_estimator(found: SelectorEvidence) -> Statement:
    name, trusted = quote(found.chosen), quote(found.trusted or "")
    if found.error is None:
        text = f"This is {name}, which assumes the least: none of the {found.among} estimates can be used."
        return warning(text, f"Log more, or {CLOSER}.")
    text = f"This is {name}: its estimated error of {number(found.error)} is the smallest of {found.among} candidates"
    refuted = "".join(f" {quote(one)} disagrees with {quote(other)}." for one, other in found.refuted)
    if found.trusted is None:
        why = "Its standard error is based on few rows"
        if found.choice_refuted:
            why = "It differs from an estimate that assumes less by more than its own standard error"
        text += f". {why}, and every other candidate is unreliable or contradicted.{refuted}"
        return Statement.of("serious" if found.choice_refuted else "warning", text, f"Log more, or {CLOSER}.")
    if found.trusted == found.chosen:
        text += ", and it assumes the least of the reliable ones"
    else:
        text += f"; {trusted}, the reliable candidate that assumes the least, has {number(found.trusted_error)}"
    unchecked = f" The assumptions of {trusted} are not checked." if found.unchecked else ""
    return Statement.of(
        "warning" if found.unchecked else "note",
        f"{text}.{refuted}{unchecked}",
        f"The choice was made on the same rows, so the interval also contains that of {trusted}. `offrank select "
        "estimators` lists all estimated errors.",
    )
