"""Policies by their spelling: `top(new_score)`, `epsilon(uniform, 0.1)`."""

from __future__ import annotations

from ..errors import UsageError
from ..language.spelling import parse
from .mixture import is_policy
from .propensities import AnyPolicy
from .registry import POLICIES


def policy(given: str | AnyPolicy) -> AnyPolicy:
    """Return the policy that an object or a spelling stands for.

    Raises:
        UsageError: not a policy.
    """
    found: AnyPolicy = parse(given, POLICIES, "policy") if isinstance(given, str) else given
    if found is given and not is_policy(found):
        raise UsageError(f"{given!r} is not a policy", "give one such as 'top(new_score)' or offrank.Top('new_score')")
    return found
