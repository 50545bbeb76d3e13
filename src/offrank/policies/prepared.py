"""Policies that must read the log before they can answer."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..log.source import Source
from ..running.executors import Executor
from .base import Policy, Prepares


def prepared(policy: Policy, source: Source, executor: Executor | None = None) -> Policy:
    """The policy with everything counted that it, or the policy that it wraps, needs from the log."""
    if isinstance(policy, Prepares):
        return policy.prepare(source, executor)
    found: Any = policy
    if not hasattr(found, "base"):
        return policy
    base = prepared(found.base, source, executor)
    return policy if base is found.base else dataclasses.replace(found, base=base)


def counts(policy: Policy) -> bool:
    """Whether the policy, or one that it wraps, rests on counts of the log."""
    return isinstance(policy, Prepares) or (hasattr(policy, "base") and counts(policy.base))
