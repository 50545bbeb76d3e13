"""The registry of policies: each has its own file, which registers its class.

A policy of your own derives from `Policy` and has the decorator `@POLICIES.register`; its `name` begins its spelling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import UsageError
from ..language.registry import Registry
from ..language.spelling import parse
from .base import Policy, is_policy

POLICIES: Registry[Callable[..., Any]] = Registry(str(__package__), "policy")
"""What makes the policies, by the names in their spelling."""


def policy(given: str | Policy) -> Policy:
    """Return the policy that an object or a spelling stands for.

    Raises:
        UsageError: not a policy.
    """
    found: Policy = parse(given, POLICIES, "policy") if isinstance(given, str) else given
    if found is given and not is_policy(found):
        remedy = "give one such as 'top(new_score)', or an object of offrank.policies.Policy: offrank.Top('new_score')"
        raise UsageError(f"{given!r} is not a policy", remedy)
    return found
