"""Reading and checking of the arguments that the verbs share, so that errors read the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ..errors import UsageError
from ..estimators.base import Estimator
from ..estimators.family import Auto
from ..estimators.named import estimator as named_estimator
from ..language.registry import Later
from ..log.batch import Floats
from ..policies.base import Policy
from ..policies.registry import policy
from ..readers.log import opened
from .provenance import Provenance

if TYPE_CHECKING:
    from .. import clicks
else:  # needed where a click model is given
    clicks = Later("..clicks", __package__)

Target = str | Policy | Mapping[str, str | Policy] | list[str | Policy]
Estimators = str | Estimator | Sequence[str | Estimator]


@runtime_checkable
class Examines(Protocol):
    """An object that gives examination probabilities by rank: a fitted click model or a harvested curve."""

    def examination(self) -> Sequence[float] | Floats | None:
        """Return the examination probability of each rank relative to the first [k]; None if there is no such curve."""


Examination = Sequence[float] | Floats | Examines | str | PathLike[str]


OUTCOMES = ("clicks", "click", "reward")
"""Roles of columns that are known only after the impression."""
source = opened
"""The log that a verb is given: open already, or what `read_log` takes."""


def refuse_outcome(control: str, renamed: Mapping[str, str] | None) -> None:
    """Raise if a control holds outcomes, by its name or as `columns` has it.

    Raises:
        UsageError: it does.
    """
    if control in [(renamed or {}).get(role, role) for role in OUTCOMES]:
        raise UsageError(
            f"the control {control!r} is known only after the impression",
            "name a column whose value was known before it, such as the user's past click rate",
        )


def fitted_model(given: object) -> clicks.Fitted | None:
    """Return a fitted click model, as given or from its file.

    Raises:
        UsageError: it is neither.
    """
    found = clicks.load(given) if isinstance(given, str | PathLike) else given
    if found is not None and not isinstance(found, clicks.Fitted):
        raise UsageError(f"{given!r} is no fitted click model", "give what `offrank.clicks.DBN().fit(log)` returns")
    return found


def only_policy(given: str | Policy) -> Policy:
    """Return the policy of a verb that is about one.

    Raises:
        UsageError: several, or not a policy.
    """
    if isinstance(given, Mapping | list | tuple):
        raise UsageError("the choice is for one target", "give one policy, and choose for each of several")
    return policy(given)


def candidate_estimators(given: Estimators) -> list[Estimator]:
    """Return the estimators to choose from.

    Raises:
        UsageError: see `estimators`, or one that is no estimator of a target.
    """
    found = estimators(given)
    for one in found:
        if one.kind.preselected or one.kind.weighs == "logged":
            raise UsageError(f"`{one!r}` cannot be chosen", "give estimators of the target, such as snips and snipm")
    return found


def estimators(given: Estimators) -> list[Estimator]:
    """Return the estimators in the given order; a single one needs no list.

    Raises:
        UsageError: none, or not estimators.
    """
    several = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    found = [Auto() if one == "auto" else named_estimator(one) for one in several]
    if not found:
        raise UsageError("there is no estimator", "name at least one, such as 'snips'")
    named = {repr(made): made for made in reversed(found)}
    for made in found:
        if named[repr(made)] != made:
            raise UsageError(
                f"two estimators are called {made!r}",
                "save the click models to files and name these: direct('model.json'); give your own regressors a "
                "`__repr__` that distinguishes them",
            )
    return found


def examination(given: Examination | None) -> Provenance:
    """Return the examination probability of each rank and, for a click model, the rows that it was learnt from.

    Raises:
        UsageError: not numbers, no click model, or a click model that has no such curve.
    """
    if isinstance(given, PathLike) or (isinstance(given, str) and "," not in given):
        given = clicks.load(given)
    curve = given.examination() if isinstance(given, Examines) else given
    if curve is None and given is not None:
        raise UsageError(
            f"{given!r} has no examination curve: examination depends on more than the rank",
            "fit pbm, estimate a curve with offrank.harvest_clicks, or give a number per rank: [1, .5, .33]",
        )
    try:
        found = None if curve is None else tuple(float(p) for p in curve)
    except (TypeError, ValueError) as error:
        raise UsageError(f"examination is {given!r}", "give a number per rank, top first: [1, .5, .33]") from error
    return Provenance(found, given.training if isinstance(given, clicks.Fitted) else None)
