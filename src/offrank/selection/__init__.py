"""Which of several estimates to believe, chosen from the data."""

from .windows import Choice, slope

__all__ = ["Choice", "slope"]
