"""Fitting of what must read the log before use, alone or inside others: policies, and reward models of estimators."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from ..log.source import Source
from ..running.executors import Executor
from ..spelling import Frozen
from ..sums.fingerprint import Fingerprint
from .base import Fits, Trained
from .counted import Counted
from .mixture import is_policy
from .propensities import AnyPolicy

P = TypeVar("P")


def fitted(policy: AnyPolicy, source: Source, executor: Executor | None = None) -> AnyPolicy:
    """The policy, fitted to the log together with the policies in its fields."""
    return replaced(policy, lambda one: one.fit(source, executor))


def replaced(part: P, fit: Callable[[Fits], Any]) -> P:
    """The same with what must be fitted, itself or in a field at any depth, as `fit` returns it."""
    if isinstance(part, Fits):
        made: P = fit(part)
        return made
    found: Any = part
    if isinstance(found, tuple | list | Frozen):
        held = list(found.items()) if isinstance(found, Frozen) else list(found)
        ready = [replaced(one, fit) for one in held]
        changes = any(one is not two for one, two in zip(ready, held, strict=True))
        return cast(P, type(found)(ready)) if changes else part
    changed = {name: replaced(value, fit) for name, value in _fields(part)}
    changed = {name: value for name, value in changed.items() if value is not getattr(part, name)}
    return dataclasses.replace(found, **changed) if changed else part


def must_fit(policy: object) -> bool:
    """Whether the policy itself, not only one inside it, is fitted to the log before use."""
    return isinstance(policy, Fits)


def counts(policy: AnyPolicy) -> bool:
    """Whether the policy, or one inside it, is counted in the log."""
    return any(isinstance(one, Fits) for one in with_parts(policy))


def counted_by(policy: AnyPolicy) -> str | None:
    """The column by whose values a policy, or one inside it, was counted in the log."""
    return next((one.by for one in with_parts(policy) if isinstance(one, Counted)), None)


def learnt_rows(policy: AnyPolicy) -> tuple[Fingerprint, ...]:
    """The fingerprints of the rows that a policy, and those inside it, were learnt from."""
    rows = (one.learnt_rows() for one in with_parts(policy) if isinstance(one, Trained))
    return tuple(one for one in rows if one is not None)


def with_parts(policy: AnyPolicy) -> Iterator[AnyPolicy]:
    """The policy and, recursively, the policies that it holds."""
    yield policy
    held: Any = policy
    fields = dict(_fields(held)) if dataclasses.is_dataclass(held) else getattr(held, "__dict__", {})
    for value in fields.values():
        for one in filter(is_policy, _each(value)):
            yield from with_parts(one)


def _fields(part: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a dataclass that it is made from; of anything else none."""
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        yield from ((field.name, getattr(part, field.name)) for field in dataclasses.fields(part) if field.init)


def _each(value: Any) -> Iterator[Any]:
    """What a field holds: itself, or whatever is in its lists and mappings."""
    if isinstance(value, Frozen):
        value = tuple(value.items())
    if isinstance(value, tuple | list):
        for one in value:
            yield from _each(one)
    else:
        yield value
