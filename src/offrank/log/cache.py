"""What is kept while one log is read, and no longer."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")


class RunCache:
    """Things by name, made when first asked for and shared by the threads of a run; a copy starts empty."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {}
        self._lock = Lock()

    def get(self, name: str, make: Callable[[], T]) -> T:
        """What goes by this name."""
        with self._lock:
            if name not in self._found:
                self._found[name] = make()
            found: T = self._found[name]
        return found

    def __reduce__(self) -> tuple[type[RunCache], tuple[()]]:
        """Pickled empty: another process keeps its own."""
        return RunCache, ()
