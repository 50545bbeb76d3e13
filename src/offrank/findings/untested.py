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
    "Clicks that are lost at random make every value too low by the same share. Clicks that are lost more often at the "
    "top, or for one kind of item, favour the rankings that show them elsewhere.",
)
ROWS_KEPT = Assumption(
    "rows-kept-blindly",
    "rows were kept independently of their outcome",
    "If impressions without a click were thinned out and nothing corrects for it, every value is too high, by a factor "
    "that no weight shows.",
)
SAME_USERS = Assumption(
    "same-users",
    "the target's users are like those logged",
    "A log of signed-in users, or of last Christmas, tells of these users and of that season.",
)
FROM_ELSEWHERE = Assumption(
    "target-from-elsewhere",
    "the target was not made from this log",
    "A ranker that was learnt or counted on these very clicks knows their noise, and its value is too high here. "
    "Models that offrank wrote and columns that count this log's clicks are recognised; what another program learnt "
    "from it is not.",
)
AS_DRAWN = Assumption(
    "propensities-as-drawn",
    "slates were drawn with the propensities that were written",
    "Where no two rows can be compared and the weights hardly vary, a ranking that was fixed looks like one that was "
    "drawn. Propensities that were made up afterwards then give a wrong value that no check finds.",
)
NO_INTERFERENCE = Assumption(
    "no-interference",
    "no impression affects the next",
    "Repeat visits that remember, stock that runs out and a ranker that changes what users look for do not show in an "
    "estimate per impression.",
)
CURVE = Assumption(
    "right-curve",
    "the examination curve is right",
    "A wrong curve moves the estimate, and its weights stay right. Estimators that assume no curve check it only as "
    "far as they are sharp.",
)
MODEL = Assumption(
    "right-model",
    "users click as the click model says",
    "A model of the wrong kind moves the estimate, and its weights stay right. What is left of the doubt is whether "
    "models of other kinds say the same.",
)
ONE_LOOK = Assumption(
    "one-look",
    "the interval is looked at once, not daily",
    "Who looks every day until an interval decides finds a difference in about a third of the logs in which there is "
    "none. Fix the length of the log before you look.",
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
