"""See `batch.RunCache`."""

from .batch import RunCache

__all__ = ["RunCache"]
