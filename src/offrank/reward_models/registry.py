"""The registry of reward models: what makes them, by the names in their spelling, as in `dr(lasso)`.

A model of your own is a `SlateRegression` with the decorator `@REWARD_MODELS.register`; an object with `fit` and
`predict` needs no name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..language.registry import Registry

REWARD_MODELS: Registry[Callable[..., Any]] = Registry(str(__package__), "reward model")
"""What makes the reward models, by the names in their spelling."""
