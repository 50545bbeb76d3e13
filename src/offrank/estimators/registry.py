"""The registry of estimators: each has its own file, which registers what makes it.

An estimator of your own is a class, or a function that makes one, with the same decorator:

    @ESTIMATORS.register
    @dataclass(frozen=True, repr=False)
    class Mine(Weighted):
        name: ClassVar[str] = "mine"
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..language.assumptions import require_registered
from ..language.registry import Later, Registry

T = TypeVar("T")
PREFIX = "sn"
"""What the names of self-normalised estimators begin with, but for those of weightings with a `prefix` of their own."""
_BASE, _WRAPPERS = (Later(home, str(__package__)) for home in (".base", ".wrappers"))


class Estimators(Registry[Callable[..., Any]]):
    """A registry in which a weighting has its self-normalised form too."""

    def register(self, part: T) -> T:
        """Register what makes an estimator, as a decorator; of a weighting, its self-normalised form too.

        Raises:
            UsageError: another part has this name, or an assumption of its constant kind is not registered.
        """
        made: Any = part
        kind = vars(made).get("kind")
        constant = isinstance(kind, _BASE.EstimatorKind)  # else `family` checks it
        if constant:
            require_registered(kind.assumes)
        super().register(part)
        weighting = isinstance(made, type) and issubclass(made, _BASE.Weighted)
        if weighting and made.normalised is True and not (constant and kind.weighs == "logged"):
            _WRAPPERS.self_normalised(made)
        return part


ESTIMATORS = Estimators(str(__package__), "estimator")
"""What makes the estimators, by the names in their spelling."""
