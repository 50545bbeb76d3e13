"""Fitting of what must read the log before use, alone or inside others: policies, and reward models of estimators."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, cast

from ..language.spelling import Frozen
from ..log.source import Source
from ..running.executors import Executor
from ..sums.fingerprint import Fingerprint
from .base import Fits, Policy, is_policy

P = TypeVar("P")


def fitted(policy: Policy, source: Source, executor: Executor | None = None) -> Policy:
    """The policy, fitted to the log together with the policies in its fields."""
    return replaced(policy, lambda one: one.fit(source, executor))


def replaced(part: P, fit: Callable[[Fits], Any]) -> P:
    """The same with what must be fitted, itself or in a field at any depth, as `fit` returns it."""
    if isinstance(part, Fits):
        return cast(P, fit(part))
    found: Any = part
    if isinstance(found, tuple | list | Frozen):
        held = list(found.items()) if isinstance(found, Frozen) else list(found)
        ready = [replaced(one, fit) for one in held]
        changes = any(one is not two for one, two in zip(ready, held, strict=True))
        return cast(P, type(found)(ready)) if changes else part
    if not dataclasses.is_dataclass(found) or isinstance(found, type):
        return part
    values = {field.name: getattr(part, field.name) for field in dataclasses.fields(found) if field.init}
    changed = {name: replaced(value, fit) for name, value in values.items()}
    changed = {name: value for name, value in changed.items() if value is not values[name]}
    return cast(P, dataclasses.replace(found, **changed)) if changed else part


def must_fit(policy: object) -> bool:
    """Whether the policy itself, not only one inside it, is fitted to the log before use."""
    return isinstance(policy, Fits)


def counts(policy: Policy) -> bool:
    """Whether the policy, or one inside it, is counted in the log."""
    return any(is_policy(one) for one in parts_of(policy, Fits))


def counted_by(policy: Policy) -> str | None:
    """The column by whose values a policy, or one inside it, was counted in the log."""
    return next((one.counted_by for one in parts_of(policy, Policy) if one.counted_by is not None), None)


def learnt_rows(policy: Policy) -> tuple[Fingerprint, ...]:
    """The fingerprints of the rows that a policy, and those inside it, were learnt from."""
    rows = (one.learnt_rows() for one in parts_of(policy, Policy))
    return tuple(one for one in rows if one is not None)


def parts_of(held: Any, kind: type) -> Iterator[Any]:
    """Those of a kind among an object and, recursively, what it holds in its fields, lists and mappings."""
    if isinstance(held, kind):
        yield held
    inside: Iterable[Any] = ()
    if isinstance(held, Frozen):
        inside = (*held.keys(), *held.values())
    elif isinstance(held, tuple | list):
        inside = held
    elif dataclasses.is_dataclass(held) and not isinstance(held, type):
        inside = [getattr(held, field.name) for field in dataclasses.fields(held) if field.init]
    else:  # of another class: the policies that it holds
        own = getattr(held, "__dict__", {}).values()
        inside = [one for value in own for one in _each(value) if is_policy(one)]
    for one in inside:
        if isinstance(one, str | float | int | None):  # what holds nothing
            continue
        if isinstance(one, tuple | list | Frozen) or dataclasses.is_dataclass(one) or is_policy(one):
            yield from parts_of(one, kind)
        elif isinstance(one, kind):  # what a user's regressor holds is its own business
            yield one


def _each(value: Any) -> Iterator[Any]:
    """What an attribute holds: itself, or whatever is in its lists and mappings."""
    if isinstance(value, tuple | list | Frozen):
        for one in value.items() if isinstance(value, Frozen) else value:
            yield from _each(one)
    else:
        yield value
