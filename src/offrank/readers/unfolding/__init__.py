"""Unfolding: columns of structs, JSON and packed text become plain columns and lists, before a table is read as a log.

`texts` tells which columns of text hold more than a text, `cells` reads their cells, `table` unfolds these and Arrow's
own nested types lazily, and `ranked` puts lists in the order of positions that stand beside them.
"""

from __future__ import annotations

from .cells import Tokens
from .ranked import RankedTable, in_order
from .table import UnfoldedTable, documents, unfolded

__all__ = ["RankedTable", "Tokens", "UnfoldedTable", "documents", "in_order", "unfolded"]
"""What the other readers use."""
