"""The registry of estimators: each has its own file, which registers what makes it.

An estimator of your own is a class, or a function that makes one, with the same decorator:

    @ESTIMATORS.register
    @dataclass(frozen=True, repr=False)
    class Mine(Weighted):
        name: ClassVar[str] = "mine"
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..language.registry import Registry

ESTIMATORS: Registry[Callable[..., Any]] = Registry(str(__package__), "estimator")
"""What makes the estimators, by the names in their spelling."""
