"""Policies by their spelling: `top(new_score)`, `epsilon(uniform, 0.1)`."""

from __future__ import annotations

from typing import cast

from ..language.spelling import parse
from .propensities import AnyPolicy
from .registry import POLICIES


def policy(spelling: str | AnyPolicy) -> AnyPolicy:
    """The policy with this spelling; a policy is returned as it is.

    Raises:
        SpellingError: not a policy's spelling.
    """
    return cast(AnyPolicy, parse(spelling, POLICIES, "policy")) if isinstance(spelling, str) else spelling
