"""A cache of what is expensive to make, bounded by its memory and shared by the threads of a run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    """A value of known size, such as an array."""

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""


V = TypeVar("V", bound=Sized)
ENTRY = 1_000
"""Bytes of an entry beside its value: the key, and what Python needs for both."""


@dataclass
class SizedCache(Generic[V]):
    """A cache of values by key, shared by threads; beyond `limit` bytes the least recently used values are dropped.

    A value that another thread is computing is waited for, not computed twice. begun: by key, the values that are being
    computed together, and the place among them.
    """

    limit: int
    made: OrderedDict[Hashable, V] = field(default_factory=OrderedDict)
    begun: dict[Hashable, tuple[Future[Sequence[V]], int]] = field(default_factory=dict)
    held: int = 0
    lock: Lock = field(default_factory=Lock)

    def known(self, keys: Sequence[Hashable]) -> list[bool]:
        """Whether the value of each key is there."""
        with self.lock:
            return [key in self.made for key in keys]

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of a key, computed on first use."""
        return self.every([key], lambda _: [make()])[0]

    def every(
        self, keys: Sequence[Hashable], make: Callable[[list[int]], Sequence[V]], first: int = 1, most: int = 1 << 10
    ) -> list[V]:
        """The values of several different keys; `make` is given the places of those that nobody has asked for yet.

        It makes `first` of them, then twice as many, and so on up to `most`; other threads make the next ones.
        """
        found: list[V | tuple[Future[Sequence[V]], int]] = []
        together = min(first, most)
        while len(found) < len(keys):
            future: Future[Sequence[V]] = Future()
            if claimed := self._claim(keys, found, together, future):
                self._fill([keys[place] for place in claimed], claimed, future, make)
            together = min(2 * together, most)
        return [one[0].result()[one[1]] if isinstance(one, tuple) else one for one in found]

    def _claim(
        self,
        keys: Sequence[Hashable],
        found: list[V | tuple[Future[Sequence[V]], int]],
        most: int,
        future: Future[Sequence[V]],
    ) -> list[int]:
        """Append what there is of the next keys to `found`; the places of up to `most` that nobody has begun."""
        claimed: list[int] = []
        with self.lock:
            while len(found) < len(keys) and len(claimed) < most:
                key = keys[len(found)]
                if key in self.made:
                    self.made.move_to_end(key)
                    found.append(self.made[key])
                    continue
                if key not in self.begun:
                    self.begun[key] = future, len(claimed)
                    claimed.append(len(found))
                found.append(self.begun[key])
        return claimed

    def _fill(
        self,
        keys: Sequence[Hashable],
        places: list[int],
        future: Future[Sequence[V]],
        make: Callable[[list[int]], Sequence[V]],
    ) -> None:
        """Compute the values of these keys, at these places."""
        try:
            future.set_result(make(places))
        except BaseException as error:
            future.set_exception(error)
            raise
        finally:
            with self.lock:
                for key in keys:
                    del self.begun[key]
        with self.lock:
            for key, value in zip(keys, future.result(), strict=True):
                self.made[key] = value
                self.held += value.nbytes + ENTRY
            while self.held > self.limit and len(self.made) > 1:
                self.held -= self.made.popitem(last=False)[1].nbytes + ENTRY
