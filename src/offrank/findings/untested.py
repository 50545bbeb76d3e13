"""What an answer rests on that its own log cannot test: said once beside every number."""

from __future__ import annotations

from dataclasses import dataclass

from ..assumptions import as_model, needs_curve


@dataclass(frozen=True)
class Assumption:
    """An assumption that no check of the log can test.

    code: stable, also of its paragraph in docs/concepts/trust.md. text: a clause. why: what happens where it is wrong.
    """

    code: str
    text: str
    why: str

    def to_dict(self) -> dict[str, str]:
        """Code and text; the paragraph is in the documentation."""
        return {"code": self.code, "text": self.text}


CLICKS_LOGGED = Assumption(
    "every-click-logged",
    "every click was logged",
    "Clicks lost at random make every value too low by the same share. Clicks lost more often at the top, or for "
    "one kind of item, favour rankings that show them elsewhere.",
)
ROWS_KEPT = Assumption(
    "rows-kept-blindly",
    "rows were kept independently of their outcome",
    "If impressions without a click were thinned out and nothing corrects for it, every value is too high by a "
    "factor that no weight reveals.",
)
SAME_USERS = Assumption(
    "same-users",
    "the target's users are like those logged",
    "A log of signed-in users, or of last Christmas, describes those users and that season only.",
)
FROM_ELSEWHERE = Assumption(
    "target-from-elsewhere",
    "the target was not made from this log",
    "A ranker trained on these very clicks contains their noise, and its value is too high here. Models written by "
    "offrank and columns that count this log's clicks are recognised; the training data of other programs is not.",
)
AS_DRAWN = Assumption(
    "propensities-as-drawn",
    "slates were drawn with the logged propensities",
    "If no two rows can be compared and the weights hardly vary, a fixed ranking looks like a random one. "
    "Propensities made up afterwards then give a wrong value that no check detects.",
)
NO_INTERFERENCE = Assumption(
    "no-interference",
    "no impression affects the next",
    "Users who remember earlier visits, stock that runs out, and a ranker that changes what users look for have "
    "effects that an estimate per impression does not show.",
)
CURVE = Assumption(
    "right-curve",
    "the examination curve is right",
    "A wrong curve biases the estimate, while its weights look normal. Estimators that assume no curve can check "
    "it only as far as they are precise.",
)
MODEL = Assumption(
    "right-model",
    "users click as the click model says",
    "The wrong kind of model biases the estimate, while its weights look normal. Models of other kinds show "
    "whether the value depends on this one.",
)
ONE_LOOK = Assumption(
    "one-look",
    "the interval is read once, not daily",
    "If you look every day and stop as soon as an interval decides, you find a difference in about a third of the "
    "logs that have none. Fix the length of the log before you look.",
)
ALWAYS = (CLICKS_LOGGED, ROWS_KEPT, SAME_USERS, FROM_ELSEWHERE, NO_INTERFERENCE)


def untested(
    assumes: frozenset[str], tested: frozenset[Assumption] = frozenset(), *, requires_logging: bool = False
) -> tuple[Assumption, ...]:
    """The assumptions behind an estimate.

    assumes: those about users. tested: those that this log could test. requires_logging: whether it depends on the
    logging policy.
    """
    drawn = (AS_DRAWN,) if requires_logging else ()
    curve = (CURVE,) if needs_curve(assumes) else ()
    model = () if as_model(assumes) is None else (MODEL,)
    return tuple(one for one in (*drawn, *ALWAYS, *curve, *model, ONE_LOOK) if one not in tested)
