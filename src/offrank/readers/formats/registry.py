"""The registry of readers of public data sets, which the modules beside it register.

A format of your own is a function from a path to a log, with `@READERS.register` above `@Reader`. A second function,
with `@NAME.recognised` above it, says by which options the format reads a source, so that it need not be named.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, overload

from ...errors import UsageError
from ...language.registry import Registry
from ...language.spelling import spell
from ..beginning import Beginning
from ..description import Layout
from ..long import LongLog
from ..wide import WideLog

Recogniser = Callable[[Beginning], Mapping[str, Any] | None]
"""Returns the options by which a format reads a source, from its beginning; None if it is of another format.

It is certain of it: what could as well be something else is not recognised.
"""


class Reader:
    """A reader of a format: called with a path it returns the log, without one it keeps its options.

    `open_bandit("men", n_items=34)` is `read_log("men", format=open_bandit(n_items=34))`. layout: of the source.
    general: whether it is no standard of its own, so that one that knows the source as well is preferred.
    of_tables: whether its source may be `Opened`, for it opens that by `open_table` and `tables_of` alone.
    """

    def __init__(
        self,
        read: Callable[..., WideLog | LongLog],
        options: Mapping[str, Any] | None = None,
        layout: Layout = "wide",
        *,
        general: bool = False,
        of_tables: bool = False,
    ) -> None:
        takes = inspect.signature(read).parameters
        if "invalid" not in takes and not any(one.kind == one.VAR_KEYWORD for one in takes.values()):
            raise UsageError(
                f"the reader {read.__name__} has no argument `invalid`", 'add `*, invalid="raise"`, which may be "skip"'
            )
        self.read, self.options, self.layout = read, dict(options or {}), layout
        self.general, self.of_tables = general, of_tables
        self.__name__, self.__doc__, self.__wrapped__ = read.__name__, read.__doc__, read
        self.__module__, self.__qualname__ = read.__module__, read.__qualname__
        self._recogniser: Recogniser | None = None
        # the argument types that a spelling can hold
        held = [one for one in takes.values() if one.kind == one.KEYWORD_ONLY and one.name != "invalid"]
        self.__signature__ = inspect.Signature(held)

    @overload
    def __call__(self, path: None = None, **options: Any) -> Reader: ...
    @overload
    def __call__(self, path: Any, **options: Any) -> Any: ...
    def __call__(self, path: Any = None, **options: Any) -> Any:
        """Return the log at a path, or this reader with these options."""
        if path is not None:
            return self.read(path, **{**self.options, **options})
        self.__signature__.bind(**options)
        kinds: dict[str, Any] = {"general": self.general, "of_tables": self.of_tables}
        return Reader(self.read, {**self.options, **options}, self.layout, **kinds)

    @classmethod
    def of(cls, layout: Layout, **kinds: Any) -> Callable[[Callable[..., WideLog | LongLog]], Reader]:
        """Return a decorator that makes a reader of tables of this layout."""
        return partial(cls, layout=layout, **kinds)

    def recognised(self, recogniser: Recogniser) -> Recogniser:
        """Register the function that tells whether a source has this format, as a decorator."""
        self._recogniser = recogniser
        return recogniser

    def fitting(self, beginning: Beginning) -> Reader | None:
        """Return this reader with the options by which it reads a source, or None if it does not know its format."""
        found = None if self._recogniser is None else self._recogniser(beginning)
        return None if found is None else self(**found)

    def __repr__(self) -> str:
        words = ", ".join(f"{name}={spell(value)}" for name, value in self.options.items())
        return f"{self.__name__}({words})" if words else self.__name__


READERS: Registry[Reader] = Registry(str(__package__), "format")
"""The readers by the names of their formats."""
