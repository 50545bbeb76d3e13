"""Estimates by name, however it is spelled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import NoOverlapError, UsageError
from ..estimators.base import Estimator
from ..estimators.named import estimator as named_estimator
from ..estimators.wrappers import SelfNormalised
from ..folds.estimate import Estimate
from ..frames import Given
from ..policies.base import Policy
from ..policies.named import policy as named_policy
from . import document

Key = tuple[str, str]
Side = tuple[str, str | None]
"""What is compared: a target, or `logged`, and an estimator, or the one that the verdict takes."""
Named = str | Estimator | SelfNormalised
Asked = Named | tuple[str | Policy, Named]


@dataclass(frozen=True)
class Estimates(Given[Estimate]):
    """Estimates by (target, estimator), or by estimator alone where there is one target.

    Both may be spelled in any way, or be the objects.
    """

    found: Mapping[Key, Estimate | NoOverlapError]

    headings = ("target", "estimator", "value", "difference", "ess", "mean_weight", "warnings", "error")

    def records(self) -> list[dict[str, Any]]:
        """A row per estimate."""
        return [document.estimate_row(key, None, value, None) for key, value in self.found.items()]

    def to_dict(self) -> dict[str, Any]:
        return {"estimates": self.records()}

    def known(self, key: Any) -> Key:
        """The key that is meant, found or refused: the estimator may be spelled in any way, or be the object itself."""
        targets = list(dict.fromkeys(target for target, _ in self.found))
        target, name = key if isinstance(key, tuple) and len(key) == 2 else (None, key)
        if target is None:
            if len(targets) > 1:
                raise KeyError(f"there are several targets: ask for result[name, estimator], name in {targets}")
            target = "".join(targets)
        known = among(targets, target, named_policy)
        if known is None:
            raise KeyError(f"no target {target!r}; there are: {targets}")
        names = [name for other, name in self.found if other == known]
        estimator = among(names, name, named_estimator)
        if estimator is None:
            raise KeyError(f"no estimate {name!r}; there are: {names}")
        return known, estimator


def among(known: list[str], asked: object, read: Callable[[Any], object]) -> str | None:
    """The spelling that results use for what is asked: `clip(ips, 10)` for `clip(ips, 1e1)`; None for what is none."""
    if str(asked) in known:
        return str(asked)
    try:
        spelled = repr(read(asked))
    except UsageError:
        return None
    return spelled if spelled in known else None
