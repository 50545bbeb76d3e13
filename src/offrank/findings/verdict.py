"""The verdict on a question: which of several estimates answers it, whether it may be used, and why.

**The least assuming estimate that decides.** Of the estimates without a serious finding the one that assumes least
(the *anchor*) is used if its interval of the difference to the log excludes 0, or if no other one's does. Otherwise
the first is used that assumes more and still excludes 0 after its interval is widened to contain the anchor's value.

No interval that is valid under the weaker assumption alone can be shorter everywhere (Low 1997, Annals of Statistics
25), so assuming more may narrow the answer only as far as the paired difference to the anchor allows (Hausman 1978
for the test of that difference, SLOPE for the hull: Su, Srinath and Krishnamurthy 2020).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..folds.estimate import Caution, Estimate, Interval
from ..formatting import nine_digits
from .assumptions import in_words
from .registry import SEVERITIES

Word = Literal["use", "use with care", "do not use"]

MOST_REASONS = 3
ASSUMED = "assumed"
"""The code of the reason that names the assumptions of an answer that the log could not check."""

_OVERLAP = ("few-rewards", "large-weight", "heavy-tail", "hidden-mass", "low-ess", "no-overlap", "unseen-items")
"""Codes of one cause: the log has too little of what the target shows. Any fault may lead to them: they come last."""
_PROPENSITIES = ("mean-weight", "double-subsampling")
"""Codes of one cause, which a serious finding about the log explains."""


@dataclass(frozen=True)
class Candidate:
    """An estimate that may be the answer, or a reference that was not requested.

    - name, assumes: the estimator's spelling, and its assumptions about users.
    - estimate: the estimate or, if the log cannot give it, the refusal.
    - logged, relative: the logged mean, and the relative difference of the target to it, on the same rows.
    - outcome: which outcome it estimates; only estimates of one outcome are compared.
    - requires_logging: whether it depends on the logging policy, and so on its faults.
    """

    name: str
    assumes: frozenset[str]
    estimate: Estimate | None
    logged: Interval | None = None
    relative: Interval | None = None
    refusal: Caution | None = None
    outcome: str = "reward"
    requires_logging: bool = True
    asked: bool = True

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """The cautions against it; a refusal is serious."""
        if self.estimate is None:
            return () if self.refusal is None else (self.refusal,)
        return self.estimate.warnings

    @property
    def sound(self) -> bool:
        """Whether it is a number with an interval and without a serious finding."""
        e = self.estimate
        return e is not None and e.trustworthy and math.isfinite(e.low) and math.isfinite(e.high)

    @property
    def warned(self) -> bool:
        """Whether it has any warning."""
        return any(one.severity != "note" for one in self.cautions)


@dataclass(frozen=True)
class Reason:
    """A reason not to use an answer, or only with care: a finding and the estimators concerned (none: the log)."""

    code: str
    message: str
    remedy: str
    estimators: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.code}: {self.message} {self.remedy}".strip()


@dataclass(frozen=True)
class Verdict:
    """The verdict on the answer to one question.

    - word: `use`, `use with care` or `do not use`; then there are no numbers.
    - target: its name; `the log` for a verdict on a log.
    - estimator, assumes: the source of the answer, and its assumptions about users.
    - value, logged, difference, relative: the target's mean per impression, the logged mean, the difference,
      and that relative to the logged mean, each with its interval.
    - detectable: the smallest difference to the log detected with a power of 0.8; None where not known.
    - anchor: the answer under fewer assumptions, which the interval was widened to contain; anchor_name: its estimator.
      spans: whether it contains the anchor's whole interval, not only its value.
    - reasons: at most three, the worst first, each cause once.

    Examples:
        >>> log, drawn_by = "offrank-demo/log.parquet", "plackett_luce(old_score)"
        >>> verdict = offrank.evaluate(log, "top(new_score)", drawn_by, "ipm").verdict
        >>> verdict.word, verdict.estimator, verdict.usable
        ('use', 'ipm', True)
    """

    word: Word
    target: str
    estimator: str | None = None
    assumes: frozenset[str] = frozenset()
    value: Interval | None = None
    logged: Interval | None = None
    difference: Interval | None = None
    relative: Interval | None = None
    detectable: float | None = None
    anchor_name: str | None = None
    anchor: Interval | None = None
    spans: bool = False
    reasons: tuple[Reason, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether there is an answer."""
        return self.word != "do not use"

    def __str__(self) -> str:
        said = f"{self.word}: {self.target}"
        if self.value is not None:
            said += f" {self.value.value:.4g} ({self.value.low:.4g} to {self.value.high:.4g}) by {self.estimator}"
        return "\n".join([said, *(f"- {reason}" for reason in self.reasons)])


def verdict(
    target: str, candidates: Sequence[Candidate], about_log: Sequence[Caution] = (), *, nonnegative: bool = False
) -> Verdict | None:
    """The verdict on one target; None if no estimate of it was requested.

    about_log: cautions about the log for all estimates; if one is serious, no estimate that depends on the logging
    policy is used. nonnegative: no outcome is below 0, so the interval of a mean ends there.
    """
    asked = [one for one in candidates if one.asked]
    if not asked:
        return None
    broken = any(one.severity == "serious" for one in about_log)
    usable = [one for one in candidates if one.sound and not (broken and one.requires_logging)]
    wanted = "reward" if any(one.outcome == "reward" for one in asked) else "clicks"
    ladder = sorted((one for one in usable if one.asked), key=lambda one: _place(one, wanted))
    if not ladder:
        return Verdict("do not use", target, reasons=_refused(asked, about_log))
    first = ladder[0]
    ladder = [one for one in ladder if one.outcome == first.outcome]
    anchor = _anchor(first, usable)
    found = _answer(target, ladder, anchor)
    checked = not found.assumes or (found.spans and not anchor.assumes)
    reasons = [*_binding(ladder, found, about_log), *([] if checked else [_assumed(found, anchor)])]
    if reasons or first.outcome != wanted:
        off = _reasons([(first.name, one) for one in first.cautions if one.code == "clicks-not-reward"])
        found = replace(found, word="use with care", reasons=(*reasons, *off)[:MOST_REASONS])
    return _from_zero(found) if nonnegative else found


def on_log(cautions: Sequence[Caution]) -> Verdict:
    """The verdict on a log, whatever is to be estimated from it."""
    worst = min((SEVERITIES[one.severity] for one in cautions), default=2)
    words: tuple[Word, ...] = ("do not use", "use with care", "use")
    found = [("", one) for one in cautions if SEVERITIES[one.severity] == worst < len(words) - 1]
    return Verdict(words[worst], "the log", reasons=tuple(_reasons(found))[:MOST_REASONS])


def _place(one: Candidate, wanted: str) -> tuple[Any, ...]:
    """The sort key: by assumptions; among equals, estimates without a warning first, then by standard error."""
    error = math.inf if one.estimate is None else nine_digits(one.estimate.standard_error)
    return one.outcome != wanted, len(one.assumes), one.warned, error, one.name


def _anchor(first: Candidate, usable: Iterable[Candidate]) -> Candidate:
    """The anchor: the requested estimate with the fewest assumptions, or a reference with still fewer."""
    references = [one for one in usable if not (one.asked or one.warned) and one.outcome == first.outcome]
    less = [one for one in references if one.assumes < first.assumes]
    return min(less, key=lambda one: len(one.assumes), default=first)


def _answer(target: str, ladder: Sequence[Candidate], anchor: Candidate) -> Verdict:
    """The first candidate that decides, in an interval that contains the anchor's value; else the first of all."""
    first, held_to = _of(target, ladder[0]), _of(target, anchor)
    if ladder[0] is anchor:
        further = ladder[1:]
    else:
        further, first = ladder, replace(_held(first, held_to, _spanning), spans=True)
    if _decides(first):
        return first
    wider = (_held(_of(target, one), held_to, _widened) for one in further)
    return next((one for one in wider if _decides(one)), first)


def _of(target: str, one: Candidate) -> Verdict:
    e = one.estimate
    assert e is not None  # it is sound
    value = Interval(e.value, e.low, e.high, e.standard_error)
    detectable = e.detectable if math.isfinite(e.detectable) else None
    return Verdict("use", target, one.name, one.assumes, value, one.logged, e.difference, one.relative, detectable)


def _decides(found: Verdict) -> bool:
    """Whether the interval of the difference to the log excludes 0."""
    away = found.difference
    return away is not None and (away.low > 0 or away.high < 0)


def _held(found: Verdict, anchor: Verdict, change: Callable[[Interval, Interval], Interval]) -> Verdict:
    """The verdict with its intervals changed by those of the anchor."""

    def changed(own: Interval | None, other: Interval | None) -> Interval | None:
        return own if own is None or other is None else change(own, other)

    return replace(
        found,
        value=changed(found.value, anchor.value),
        difference=changed(found.difference, anchor.difference),
        relative=changed(found.relative, anchor.relative),
        anchor_name=anchor.estimator,
        anchor=anchor.value,
    )


def _spanning(own: Interval, anchor: Interval) -> Interval:
    """The interval extended to contain the anchor's, so that it covers the truth at least as often."""
    return replace(own, low=min(own.low, anchor.low), high=max(own.high, anchor.high))


def _widened(own: Interval, anchor: Interval) -> Interval:
    """The interval extended towards the anchor by the difference of the two values."""
    shift = anchor.value - own.value
    return replace(own, low=own.low + min(shift, 0.0), high=own.high + max(shift, 0.0))


def _from_zero(found: Verdict) -> Verdict:
    """The verdict with intervals of means cut at 0, and of the relative change at -100 %."""

    def cut(own: Interval | None, least: float) -> Interval | None:
        return own if own is None or own.value < least else replace(own, low=max(own.low, least))

    value, logged, relative = cut(found.value, 0.0), cut(found.logged, 0.0), cut(found.relative, -1.0)
    return replace(found, value=value, logged=logged, relative=relative)


def _binding(ladder: Sequence[Candidate], found: Verdict, about_log: Sequence[Caution]) -> list[Reason]:
    """The warnings about the log and the estimate that is the answer."""
    [own] = [one for one in ladder if one.name == found.estimator]
    known = () if own.estimate is None else own.estimate.about_log
    of_log = [*known, *(about_log if own.requires_logging else ())]
    said = [*(("", one) for one in of_log), *((own.name, one) for one in own.cautions)]
    return _reasons(pair for pair in said if pair[1].severity != "note")


def _assumed(found: Verdict, anchor: Candidate) -> Reason:
    """The assumptions of the answer that the log could not check."""
    message, names = f"`{found.estimator}` assumes that {in_words(found.assumes)}.", (str(found.estimator),)
    other = found.anchor
    if other is None:
        return Reason(ASSUMED, f"{message} No sound estimate that assumes less could check that.", _CHECK, names)
    less = f"that {in_words(anchor.assumes)}" if anchor.assumes else "nothing of users"
    beside = f"`{anchor.name}`, which assumes {less}, says {other.value:.4g} ({other.low:.4g} to {other.high:.4g})."
    remedy = _CHECK if anchor.assumes else "Only a larger log can check more closely."
    return Reason(ASSUMED, f"{message} {beside}", remedy, names)


_CHECK = "Compare with an estimator that assumes less, such as `snips`, in a larger log or for a policy closer to it."


def _refused(asked: Sequence[Candidate], about_log: Sequence[Caution]) -> tuple[Reason, ...]:
    """The reasons why there is no answer: faults of the log, then of the estimates."""
    of_log = [one for one in about_log if one.severity == "serious"]
    serious = [(one.name, caution) for one in asked for caution in one.cautions if caution.severity == "serious"]
    if of_log:
        serious = [(name, one) for name, one in serious if one.code not in _PROPENSITIES]
    found = _reasons([*(("", one) for one in of_log), *serious])
    none = Reason("no-interval", "No estimate has an interval.", "Log more.")
    return tuple(found[:MOST_REASONS]) or (none,)


def _reasons(found: Iterable[tuple[str, Caution]]) -> list[Reason]:
    """The findings as reasons: each code once with all its estimators, causes before consequences."""
    by_code: dict[str, list[tuple[str, Caution]]] = {}
    for name, one in found:
        by_code.setdefault("too little overlap" if one.code in _OVERLAP else one.code, []).append((name, one))
    ranked = []
    for place, same in enumerate(by_code.values()):
        _, worst = min(same, key=lambda one: SEVERITIES[one[1].severity])
        names = tuple(dict.fromkeys(name for name, one in same if name and one.code == worst.code))
        of_log = any(not name for name, _ in same)
        key = (SEVERITIES[worst.severity], not of_log, worst.code in _OVERLAP, -len(names), place)
        ranked.append((key, Reason(worst.code, worst.message, worst.remedy, () if of_log else names)))
    return [reason for _, reason in sorted(ranked, key=lambda one: one[0])]
