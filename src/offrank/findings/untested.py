"""What an answer rests on that its own log cannot test: said once beside every number."""

from __future__ import annotations

from dataclasses import dataclass

from .assumptions import needs_curve


@dataclass(frozen=True)
class Assumption:
    """An assumption that no check of the log can test. code: stable, also of its paragraph in docs/trust.md."""

    code: str
    text: str


CLICKS_LOGGED = Assumption("every-click-logged", "every click was logged")
ROWS_KEPT = Assumption("rows-kept-blindly", "rows were kept independently of their outcome")
SAME_USERS = Assumption("same-users", "the target's users are like those logged")
NO_INTERFERENCE = Assumption("no-interference", "no impression affects the next")
CURVE = Assumption("right-curve", "the examination curve is right")
ONE_LOOK = Assumption("one-look", "the interval is looked at once, not daily")
ALWAYS = (CLICKS_LOGGED, ROWS_KEPT, SAME_USERS, NO_INTERFERENCE)


def untested(assumes: frozenset[str], tested: frozenset[Assumption] = frozenset()) -> tuple[Assumption, ...]:
    """The assumptions behind an estimate. assumes: those about users. tested: those that this log could test."""
    curve = (CURVE,) if needs_curve(assumes) else ()
    return tuple(one for one in (*ALWAYS, *curve, ONE_LOOK) if one not in tested)
