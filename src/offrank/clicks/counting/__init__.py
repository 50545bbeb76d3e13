"""How documents are counted, fast: a hash table that grows with what is distinct, not with the log."""

from __future__ import annotations

from .table import Table

__all__ = ["Table"]
