"""Fitting of policies that must read the log before use, alone or inside others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from ..log.source import Source
from ..running.executors import Executor
from .base import Fits
from .mixture import is_policy
from .propensities import AnyPolicy


def fitted(policy: AnyPolicy, source: Source, executor: Executor | None = None) -> AnyPolicy:
    """The policy, fitted to the log together with the policies in its fields."""
    if isinstance(policy, Fits):
        return policy.fit(source, executor)
    found: Any = policy
    changed = {}
    for name, value in _inner(policy):
        ready = [fitted(one, source, executor) if is_policy(one) else one for one in _several(value)]
        if any(one is not two for one, two in zip(ready, _several(value), strict=True)):
            changed[name] = type(value)(ready) if isinstance(value, tuple | list) else ready[0]
    made: AnyPolicy = dataclasses.replace(found, **changed) if changed else policy
    return made


def counts(policy: AnyPolicy) -> bool:
    """Whether the policy, or one inside it, is counted in the log."""
    return any(isinstance(one, Fits) for one in with_parts(policy))


def with_parts(policy: AnyPolicy) -> Iterator[AnyPolicy]:
    """The policy and, recursively, the policies in its fields."""
    yield policy
    for _, value in _inner(policy):
        for one in filter(is_policy, _several(value)):
            yield from with_parts(one)


def _inner(policy: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a policy that hold policies."""
    if dataclasses.is_dataclass(policy) and not isinstance(policy, type):
        for field in dataclasses.fields(policy):
            value = getattr(policy, field.name)
            if field.init and any(map(is_policy, _several(value))):
                yield field.name, value


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)
