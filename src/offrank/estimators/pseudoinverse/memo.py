"""A bounded memory of what is dear to compute, shared by threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    """Something that knows how much memory it takes."""

    @property
    def nbytes(self) -> int: ...


V = TypeVar("V", bound=Sized)


@dataclass
class Memo(Generic[V]):
    """Values by key; beyond `limit` bytes those not used for the longest time are let go.

    A value that is being made is waited for, not made twice.
    """

    limit: int
    made: OrderedDict[Hashable, Future[V]] = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)

    def __contains__(self, key: Hashable) -> bool:
        with self.lock:
            return key in self.made and self.made[key].done()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of a key, made on first use."""
        with self.lock:
            known = self.made.get(key)
            future = known or Future()
            self.made[key] = future
            self.made.move_to_end(key)
        if known is not None:
            return known.result()
        try:
            future.set_result(make())
        except BaseException as error:
            with self.lock:
                del self.made[key]
            future.set_exception(error)
            raise
        self._shrink()
        return future.result()

    def _shrink(self) -> None:
        with self.lock:
            ready = {key: future.result().nbytes for key, future in self.made.items() if future.done()}
            excess = sum(ready.values()) - self.limit
            for key, size in list(ready.items())[:-1]:
                if excess <= 0:
                    break
                del self.made[key]
                excess -= size
