"""What the whole house speaks: spellings and registries, arguments, words for numbers and assumptions, files."""

from collections.abc import Callable as _Callable

__all__ = ["Say", "silent"]

Say = _Callable[[str], object]
"""What long jobs call with a description of each step."""


def silent(_text: str) -> None:
    """A `Say` that does nothing."""
