"""The verdict on a question, in two axes: what was decided, and how far the number behind it can be relied on.

**Which estimate answers.** Of the estimates without a serious finding the one that assumes least is the *anchor*. The
narrowest estimate without a finding answers, in an interval widened to contain the anchor's value. Of one weighting
only the self-normalised form counts: the plain one has the smaller error where it saw fewer rewards by chance, and is
too low then. Only widths and assumptions choose, never whether an estimate decides: that would be a search for
differences (how many are found in vain, and what else was tried: benchmarks/decisions.py). Nor does the width after
it was widened: that favours what lies near the anchor by chance; fewer were decided, of equal targets .7 % for .2 %.
No interval valid under the weaker assumption alone can be shorter everywhere (Low 1997), so assuming more may narrow
the answer only as far as the paired difference to the anchor allows (Hausman 1978; SLOPE: Su and others 2020).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn

from ..language.assumptions import CLIPPED, in_words
from ..language.formatting import Span
from ..sums.estimate import Caution, Interval, Known
from ..wording import Attributed
from .reasons import MOST_REASONS, Assumption, Facts, Reason, against_all, first_words, reasons, untested
from .registry import SEVERITIES, causes_of, has_cause
from .row import Row

Decision = Literal["better", "worse", "no clear difference", "unknown"]
Trust = Literal["sound", "with care", "none"]

ASSUMED = "assumed"
"""The code of the reason that names the assumptions of an answer that the log could not check."""
EXPLAINED = "known-error"
"""The code of the reason that an error of known direction could explain the difference."""
_FORMS = ("mean", "slot", "control", None)
"""The forms of one weighting, the one with the least bias in small samples first (benchmarks/decisions.py)."""


@dataclass(frozen=True)
class Verdict(Attributed):
    """The verdict on the answer to one question.

    Parameters:
        decision: `better`, `worse`, `no clear difference` (to what was logged or another target) or `unknown`.
        trust: `sound`, `with care`, or `none`; then the decision is `unknown` and there are no numbers.
        target: its name; `the log` for a verdict on a log, of which nothing is decided.
        estimator: the source of the answer.
        assumes: what that estimator assumes of users.
        value: the target's mean per impression with its interval.
        logged: the mean of what was logged.
        difference: between the two.
        relative: the difference over the logged mean.
        detectable: the smallest difference to the log detected with a power of 0.8; None where not known.
        anchor_name: the estimator of the anchor.
        anchor: the answer under fewer assumptions, which the interval was widened to contain.
        spans: whether the interval contains the anchor's whole interval, not only its value.
        reasons: at most three, the worst first, each cause once.
        assumptions: what the answer rests on that this log cannot test, at most three, what fits it first.
        outcome: `clicks` for numbers of clicks, where the log's reward is not their sum; else `reward`.

    Examples:
        >>> log, drawn_by = "offrank-demo/log.parquet", "plackett_luce(old_score)"
        >>> offrank.evaluate(log, "top(new_score)", drawn_by, "ipm").verdict.trust
        'sound'
    """

    decision: Decision
    trust: Trust
    target: str
    estimator: str | None = None
    assumes: frozenset[str] = frozenset()
    value: Known = None
    logged: Known = None
    difference: Known = None
    relative: Known = None
    detectable: float | None = None
    anchor_name: str | None = None
    anchor: Known = None
    spans: bool = False
    reasons: tuple[Reason, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    outcome: str = "reward"

    @property
    def usable(self) -> bool:
        """Whether there is an answer, whichever it is."""
        return self.trust != "none"

    @property
    def word(self) -> NoReturn:
        """Refuse what scripts of older versions read: it was *use* for a sound number of a ranker that loses, too."""
        raise AttributeError(
            "Verdict.word has been removed: it judged the number, not the ranker. Use `decision` (better, worse, "
            "...) and `trust` (sound, with care, none)"
        )

    def __str__(self) -> str:
        said = f"{first_words(self.outcome)}{self.decision}: {self.target}"
        if self.value is not None:
            change = Span.of(self.relative).share() or Span.of(self.difference).text(signed=True)
            level = f", {Span.of(self.value).text()} as logged," if self.logged is not None else ""
            said += f" {change}{level} by {self.estimator}"
        return "\n".join([f"{said}; trust: {self.trust}", *(f"- {reason}" for reason in self.reasons)])


def verdict(
    target: str,
    rows: Sequence[Row],
    about_log: Sequence[Caution] = (),
    *,
    nonnegative: bool = False,
    facts: Facts | None = None,
) -> Verdict | None:
    """The verdict on one target; None if no estimate of it was requested.

    about_log: cautions about the log for all estimates; if one is serious, no estimate that depends on the logging
    policy is used. nonnegative: no outcome is below 0, so the interval of a mean ends there. facts: of the log and the
    target, by which assumptions are chosen.
    """
    candidates = [one for one in rows if one.kind.weighs != "logged"]
    asked = [one for one in candidates if one.asked]
    if not asked:
        return None
    broken = any(one.severity == "serious" for one in about_log)
    usable = [one for one in candidates if one.sound and not (broken and one.kind.logging is not None)]
    wanted = "reward" if any(one.outcome == "reward" for one in asked) else "clicks"
    ladder = sorted((one for one in usable if one.asked), key=lambda one: _place(one, wanted))
    if not ladder:
        ordered = sorted(asked, key=lambda one: _place(one, wanted))
        every = [(one.name, caution) for one in ordered for caution in one.cautions]
        return Verdict("unknown", "none", target, reasons=against_all(every, about_log))
    ladder = [one for one in ladder if one.outcome == ladder[0].outcome]
    anchor = _anchor(ladder, usable, wanted)
    own, found = _answer(target, ladder, anchor)
    of_log = [*own.estimate.about_log, *(about_log if own.kind.logging is not None else ())]
    known = _explained(found, [*of_log, *own.cautions], own.most)
    assumes = own.anchored.kind.assumes
    checked = not assumes or _checked(own, anchor)
    off = [("", one) for one in own.cautions if own.outcome != wanted and has_cause(one, "outcome")]
    warned = [(name, one) for name, some in (("", of_log), (own.name, own.cautions)) for one in some]
    binding = reasons(pair for pair in warned if pair[1].severity != "note")
    assumed = [] if checked else [_assumed(own, found, anchor)]
    against = dict.fromkeys([*([] if known is None else [known]), *binding, *assumed, *reasons(off)])
    ranked = sorted(against, key=lambda one: "logging policy" not in causes_of(one.code))  # all else rests on that
    doubts = tuple(ranked[:MOST_REASONS])
    found = replace(
        found,
        decision=_decided(found.difference) if known is None else "no clear difference",
        trust="with care" if doubts or own.outcome != wanted else "sound",
        reasons=doubts,
        assumptions=untested(assumes, facts, own.outcome, requires_logging=own.kind.logging is not None),
    )
    return _from_zero(found) if nonnegative else found


def on_log(about_log: Sequence[Caution]) -> Verdict:
    """The verdict on a log, whatever is to be estimated from it: trust alone, for nothing is decided."""
    worst = min((SEVERITIES[one.severity] for one in about_log), default=2)
    words: tuple[Trust, ...] = ("none", "with care", "sound")
    found = [("", one) for one in about_log if SEVERITIES[one.severity] == worst < len(words) - 1]
    return Verdict("unknown", words[worst], "the log", reasons=tuple(reasons(found))[:MOST_REASONS])


def _place(one: Row, wanted: str) -> tuple[Any, ...]:
    """The sort key: by assumptions; among equals, estimates without a warning first, then by form, never by error."""
    form = _FORMS.index(one.kind.normalisation)
    return one.outcome != wanted, len(one.anchored.kind.assumes), one.warned, form, one.name


def _anchor(ladder: Sequence[Row], usable: Iterable[Row], wanted: str) -> Row:
    """The anchor: the estimate with the fewest assumptions, requested or a reference that assumes no more."""
    first, assumed = ladder[0], ladder[0].anchored.kind.assumes
    less = [one for one in usable if one.outcome == first.outcome and one.anchored.kind.assumes <= assumed]
    known = [one for one in less if one.asked or not one.warned]
    return min(known, key=lambda one: (*_place(one, wanted)[:-1], not one.asked, one.name))


def _answer(target: str, ladder: Sequence[Row], anchor: Row) -> tuple[Row, Verdict]:
    """The candidate that answers, and its answer: see above."""
    first, held = ladder[0], _of(target, anchor)
    if first.tested:
        return first, _held(_of(target, first), held, lambda own, _: own)
    forms: dict[Any, Row] = {anchor.base or anchor.name: anchor}
    for one in ladder:
        forms.setdefault(one.base or one.name, one)
    further = [one for one in forms.values() if one is not anchor and not one.kind.assumes >= CLIPPED]
    clean = [one for one in further if not one.warned] or (further if anchor.warned else [])
    own = min(clean, key=lambda one: (one.half_width, one.name), default=anchor)
    if own.half_width < anchor.half_width:
        return own, _held(_of(target, own), held, Interval.widened)
    if anchor.asked:
        return anchor, held
    return first, replace(_held(_of(target, first), held, Interval.spanning), spans=True)


def _of(target: str, one: Row) -> Verdict:
    e, basis = one.estimate, one.anchored
    return Verdict(
        "unknown",
        "sound",
        target,
        one.name,
        one.kind.assumes,
        Interval(e.value, e.low, e.high, e.standard_error),
        one.logged,
        e.difference,
        one.relative,
        e.detectable if math.isfinite(e.detectable) else None,
        anchor_name=None if basis is one else str(basis.estimator),
        spans=basis is not one,
        outcome=one.outcome,
    )


def _decided(away: Interval | None) -> Decision:
    """What the interval of the difference says; nothing where there is no difference."""
    if away is None:
        return "unknown"
    return "better" if away.low > 0 else "worse" if away.high < 0 else "no clear difference"


def _checked(own: Row, anchor: Row) -> bool:
    """Whether an anchor without assumptions and warnings is in the answer, or decides what a combination does."""
    if anchor.anchored.kind.assumes or anchor.warned:
        return False
    return not own.tested or _decided(own.estimate.difference) == _decided(anchor.estimate.difference)


def _explained(found: Verdict, cautions: Iterable[Caution], most: float) -> Reason | None:
    """The reason that an error whose direction is known could explain a decision; None if none could.

    What is missing of the target earns `most` per impression at the most; what is too much, the value at the most.
    """
    away, decision = found.difference, _decided(found.difference)
    for one in cautions if away is not None else ():
        low = decision == "worse" and not one.missing <= 0  # nan is either direction
        high = decision == "better" and not one.missing >= 0
        if away is None or not (low or high):
            continue
        value, share = abs(found.value.value) if found.value is not None else 0.0, abs(one.missing)
        room = share * max(most if low else 0.0, value) if math.isfinite(share) else math.inf
        if away.low - room <= 0 <= away.high + room:
            text = f"The value is likely too {'low' if low else 'high'} (`{one.code}`), which could explain the whole "
            text += f"difference, so the decision is not {decision}."
            return Reason(EXPLAINED, text, one.remedy, (str(found.estimator),))
    return None


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
        spans=False,
    )


def _from_zero(found: Verdict) -> Verdict:
    """The verdict with intervals of means cut at 0, and of the relative change at -100 %."""

    def cut(own: Interval | None, least: float) -> Interval | None:
        return own if own is None or own.value < least else replace(own, low=max(own.low, least))

    value, logged, relative = cut(found.value, 0.0), cut(found.logged, 0.0), cut(found.relative, -1.0)
    return replace(found, value=value, logged=logged, relative=relative)


def _assumed(own: Row, found: Verdict, anchor: Row) -> Reason:
    """The assumptions of the answer that the log could not check."""
    basis, names = own.anchored, (own.name,)
    message = f"`{own.name if basis is own else basis.estimator}` assumes that {in_words(basis.kind.assumes)}."
    other = found.anchor
    if other is None:
        return Reason(
            ASSUMED, f"{message} No sound estimate that assumes less is available to check this.", _CHECK, names
        )
    less = f"that {in_words(anchor.kind.assumes)}" if anchor.kind.assumes else "nothing about users"
    beside = f"`{anchor.name}`, which assumes {less}, says {Span.of(other).text()}."
    remedy = _CHECK if anchor.kind.assumes else "Only a larger log can check this more closely."
    return Reason(ASSUMED, f"{message} {beside}", remedy, names)


_CHECK = (
    "Compare with an estimator that assumes less, such as `snips`, on a larger log or for a policy that is "
    "closer to the logging policy."
)
