"""What a verdict says beside its answer: reasons not to trust it, and assumptions that its log cannot test.

Reasons are findings in the order in which they should be read, each cause once; of assumptions, what fits the log comes
first. There are at most three of either.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..language.assumptions import as_model, needs_curve
from ..sums.estimate import Caution
from ..wording import joined
from .registry import SEVERITIES, has_cause

MOST_REASONS = 3
MOST_ASSUMPTIONS = 3
RARE_CLICKS = 0.02
"""Clicks per shown item; where they are rarer, those that were lost, added or not yet there weigh most."""
IN_CLICKS = "clicks"  # The outcome of numbers of clicks where the log has a reward that is not their sum


@dataclass(frozen=True)
class Reason:
    """A reason not to trust an answer, or only with care: a finding and the estimators concerned (none: the log)."""

    code: str
    message: str
    remedy: str
    estimators: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The code, the message and the remedy."""
        return joined(" ", (f"{self.code}:", self.message, self.remedy))

    def __str__(self) -> str:
        return str(self.text)


def first_words(outcome: str) -> str:
    """What is said before any number: that it is in clicks, where the log has a reward that is not their sum."""
    return "In clicks, not in the log's reward: " if outcome == IN_CLICKS else ""


def against_all(found: Iterable[tuple[str, Caution]], about_log: Iterable[Caution]) -> tuple[Reason, ...]:
    """The reasons why there is no answer: faults of the log, then of the estimates. found: (estimator, caution)."""
    of_log = [one for one in about_log if one.severity == "serious"]
    serious = [(name, one) for name, one in found if one.severity == "serious"]
    if of_log:  # which explains what the weights of an estimate say
        serious = [(name, one) for name, one in serious if not has_cause(one, "mean weight")]
    ranked = reasons([*(("", one) for one in of_log), *serious])
    return tuple(ranked[:MOST_REASONS]) or (Reason("no-interval", "No estimate has an interval.", "Log more."),)


def reasons(found: Iterable[tuple[str, Caution]]) -> list[Reason]:
    """The findings as reasons: each code once with all its estimators, causes before consequences.

    Too little overlap is one reason, and the last: any fault may lead to it.
    """
    by_code: dict[str, list[tuple[str, Caution]]] = {}
    for name, one in found:
        by_code.setdefault("too little overlap" if has_cause(one, "overlap") else one.code, []).append((name, one))
    ranked = []
    for place, same in enumerate(by_code.values()):
        _, worst = min(same, key=lambda one: SEVERITIES[one[1].severity])
        names = tuple(dict.fromkeys(name for name, one in same if name and one.code == worst.code))
        of_log = any(not name for name, _ in same)
        key = (SEVERITIES[worst.severity], not of_log, has_cause(worst, "overlap"), -len(names), place)
        ranked.append((key, Reason(worst.code, worst.message, worst.remedy, () if of_log else names)))
    return [reason for _, reason in sorted(ranked, key=lambda one: one[0])]


Concerns = Literal["level", "change", "both"]
"""The number that is wrong where it fails: clicks lost at random lower all levels, but no relative change."""
_NUMBERS: dict[Concerns, str] = {"level": "level", "change": "change", "both": "level and change"}


@dataclass(frozen=True)
class Assumption:
    """An assumption that no check of the log can test."""

    code: str  # stable, also of its paragraph in docs/reference/findings.md
    text: str  # a clause
    concerns: Concerns  # which number rests on it
    why: str  # what happens where it is wrong

    @property
    def in_words(self) -> str:
        """The clause, and the number that rests on it."""
        return f"{self.text} ({_NUMBERS[self.concerns]})"

    def to_dict(self) -> dict[str, str]:
        """Code, text and what it concerns; the paragraph is in the documentation."""
        return {"code": self.code, "text": self.text, "concerns": self.concerns}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of a log and a target, by which assumptions are left out or come first."""

    tested: frozenset[Assumption] = frozenset()  # by this log: where one is wrong, a finding says so
    sampled: bool = False  # whether rows were kept at rates, which `inclusion` has
    rewards: bool = False  # whether the outcome is no click
    rare: bool = False  # whether fewer than `RARE_CLICKS` of the shown items were clicked
    scored: bool = False  # whether the target reads scores that the logging policy does not
    recurs: bool = False  # whether users or queries return
    days: bool = False  # whether the log has rows of several days, or is several logs together


CLICKS_LOGGED = Assumption(
    "every-click-logged",
    "every click was logged, and none by robots",
    "level",
    "Clicks lost at random make every value too low by the same share. Clicks lost more often at the top, or for "
    "one kind of item, favour rankings that show them elsewhere. Robots that click on everything make all values "
    "too high, and all relative changes too small.",
)
ROWS_KEPT = Assumption(
    "rows-kept-blindly",
    "rows were kept independently of their outcome",
    "level",
    "If impressions without a click were thinned out and nothing corrects for it, every value is too high by a "
    "factor that no weight reveals.",
)
RATES = Assumption(
    "right-rates",
    "the rates in `inclusion` are right",
    "level",
    "If impressions without a click were kept with .10 and .15 was written, every value is 40 % too high. The true "
    "numbers of impressions, given by `totals`, test the rates.",
)
REWARDS_LOGGED = Assumption(
    "every-reward-logged",
    "every reward was logged, in one unit, and is final",
    "both",
    "Amounts of two currencies, or orders that are returned later, make values wrong whose weights look normal.",
)
SAME_USERS = Assumption(
    "same-users",
    "the target's users are like those logged",
    "both",
    "A log of signed-in users, or of last Christmas, describes those users and that season only.",
)
FROM_ELSEWHERE = Assumption(
    "target-from-elsewhere",
    "the target was not made from this log",
    "change",
    "A ranker trained on these very clicks contains their noise, and its value is too high here. Models written by "
    "offrank and columns of this log's click counts or rates are recognised; other programs' training data is not.",
)
AS_DRAWN = Assumption(
    "propensities-as-drawn",
    "slates were drawn with the logged propensities",
    "both",
    "If no two rows can be compared and the weights hardly vary, a fixed ranking looks like a random one. "
    "Propensities made up afterwards then give a wrong value that no check detects.",
)
NO_INTERFERENCE = Assumption(
    "no-interference",
    "no impression affects the next",
    "both",
    "Users who remember earlier visits, stock that runs out, and a ranker that changes what users look for have "
    "effects that an estimate per impression does not show.",
)
CURVE = Assumption(
    "right-curve",
    "the examination curve is right",
    "both",
    "A wrong curve biases the estimate, while its weights look normal. Estimators that assume no curve can check "
    "it only as far as they are precise.",
)
MODEL = Assumption(
    "right-model",
    "users click as the click model says",
    "both",
    "The wrong kind of model biases the estimate, while its weights look normal. Models of other kinds show "
    "whether the value depends on this one.",
)
ONE_LOOK = Assumption(
    "one-look",
    "the interval is read once, not daily",
    "change",
    "If you look every day and stop as soon as an interval decides, you find a difference in about a third of the "
    "logs that have none. Fix the length of the log before you look.",
)


def untested(
    assumes: frozenset[str], facts: Facts | None = None, outcome: str = "reward", *, requires_logging: bool = False
) -> tuple[Assumption, ...]:
    """The assumptions behind an estimate, at most three: what fits the log and the question first.

    assumes: those about users. facts: by default nothing is known. outcome: of the estimate. requires_logging: whether
    it depends on the logging policy.
    """
    known = Facts() if facts is None else facts
    drawn = requires_logging and AS_DRAWN not in known.tested
    earned = REWARDS_LOGGED if known.rewards and outcome == "reward" else CLICKS_LOGGED
    kept = RATES if known.sampled else ROWS_KEPT
    fits = {
        RATES: known.sampled and ROWS_KEPT not in known.tested,
        AS_DRAWN: drawn,
        CURVE: needs_curve(assumes),
        MODEL: as_model(assumes) is not None,
        earned: known.rare or earned is REWARDS_LOGGED,
        FROM_ELSEWHERE: known.scored,
        NO_INTERFERENCE: known.recurs,
        ONE_LOOK: known.days,
    }
    first = [one for one, fitting in fits.items() if fitting]
    every = dict.fromkeys([*first, earned, kept, SAME_USERS, FROM_ELSEWHERE, NO_INTERFERENCE, ONE_LOOK])
    tested = known.tested | ({RATES} if ROWS_KEPT in known.tested else frozenset())
    return tuple(one for one in every if one not in tested)[:MOST_ASSUMPTIONS]
