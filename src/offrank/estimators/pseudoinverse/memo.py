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
    held: int = 0
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
                self.made.pop(key, None)
            future.set_exception(error)
            raise
        with self.lock:
            if self.made.get(key) is future:
                self.held += future.result().nbytes
                self._shrink(key)
        return future.result()

    def clear(self) -> None:
        """Forget everything."""
        with self.lock:
            self.made.clear()
            self.held = 0

    def _shrink(self, newest: Hashable) -> None:
        """Let go of what was not used for the longest time; what is being made and the newest stay."""
        for _ in range(len(self.made)):
            if self.held <= self.limit:
                break
            key, future = self.made.popitem(last=False)
            if future.done() and key != newest:
                self.held -= future.result().nbytes
            else:
                self.made[key] = future
