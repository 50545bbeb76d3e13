"""Policies that must read the log before they can answer, alone or inside others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from ..log.source import Source
from ..running.executors import Executor
from .base import Prepares
from .mixture import is_policy
from .propensities import AnyPolicy


def prepared(policy: AnyPolicy, source: Source, executor: Executor | None = None) -> AnyPolicy:
    """The policy with everything counted that it, or a policy in any field of it, needs from the log."""
    if isinstance(policy, Prepares):
        return policy.prepare(source, executor)
    found: Any = policy
    ready = {name: _prepared(value, source, executor) for name, value in _inner(found)}
    changed = {name: value for name, value in ready.items() if value is not getattr(found, name)}
    made: AnyPolicy = dataclasses.replace(found, **changed) if changed else policy
    return made


def counts(policy: AnyPolicy) -> bool:
    """Whether the policy, or one inside it, rests on counts of the log."""
    return any(isinstance(one, Prepares) for one in with_parts(policy))


def with_parts(policy: AnyPolicy) -> Iterator[AnyPolicy]:
    """The policy, and those in its fields, and in theirs."""
    yield policy
    for _, value in _inner(policy):
        for one in _policies(value):
            yield from with_parts(one)


def _inner(policy: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a policy that hold policies."""
    if dataclasses.is_dataclass(policy) and not isinstance(policy, type):
        for field in dataclasses.fields(policy):
            value = getattr(policy, field.name)
            if field.init and any(_policies(value)):
                yield field.name, value


def _policies(value: Any) -> list[Any]:
    several = value if isinstance(value, tuple | list) else (value,)
    return [one for one in several if is_policy(one)]


def _prepared(value: Any, source: Source, executor: Executor | None) -> Any:
    if not isinstance(value, tuple | list):
        return prepared(value, source, executor)
    ready = [prepared(one, source, executor) if is_policy(one) else one for one in value]
    return value if all(one is two for one, two in zip(ready, value, strict=True)) else type(value)(ready)
