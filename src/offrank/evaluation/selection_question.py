"""The choice among estimators that is asked for, and the candidates where nobody names them, as spellings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..inference.arguments import Clustered
from ..language.argument import argument, arguments
from ..language.registry import Later
from ..language.spelling import listed
from .question import WithExamination, WithTarget

if TYPE_CHECKING:
    from ..estimators import wrappers
    from ..policies.propensities import AnyPolicy
    from . import arguments as checked
    from .arguments import Estimators
    from .counts import AnyEstimator
else:  # everything that evaluates: not needed to read a command line
    checked, wrappers = Later(".arguments", __package__), Later("..estimators.wrappers", __package__)

CANDIDATES = (
    *("ips", "snips", "rips", "snrips", "pi", "wpi", "ipm", "snipm"),
    *("interpol(window=1)", "interpol(window=2)", "pbm"),
)
"""The estimators to choose from by default, of which a log and its policies usually allow only some."""


@arguments
class EstimatorSelection(Clustered, WithExamination, WithTarget):  # noqa: D101
    # Which estimator has the least error for a target: the arguments of `select_estimators`.

    target: str | AnyPolicy = argument("A new policy: top(new_score).", kw_only=False, ready="asked", spells="policy")
    estimators: Estimators = argument(
        "Candidates; by default all that the log and the policies allow.",
        default=CANDIDATES,
        ready="candidates",
        spells="estimator",
        kw_only=False,
        flags=("-e", "--estimator"),
        many=True,
        read=listed,
    )
    worlds: int = argument("Simulated logs of each kind of users; 0: none.", default=10, use="uncertainty")

    def __post_init__(self) -> None:
        _ = self.drawn_by, self.asked, self.candidates, self.trained
        if self.worlds < 0:
            raise UsageError(f"worlds is {self.worlds!r}", "give a number of simulated logs, or 0 for none")

    @cached_property
    def asked(self) -> AnyPolicy:
        """The one target policy."""
        if isinstance(self.target, Mapping | list | tuple):
            raise UsageError("the choice is for one target", "give one policy, and choose for each of several")
        return checked.policy(self.target)

    @cached_property
    def candidates(self) -> list[AnyEstimator]:
        """The estimators to choose from."""
        found = checked.estimators(self.estimators)
        for one in found:
            if (plain := wrappers.without_normalisation(one)).preselected or plain.weighs == "logged":
                raise UsageError(
                    f"`{one!r}` cannot be chosen", "give estimators of the target, such as snips and snipm"
                )
        return found
