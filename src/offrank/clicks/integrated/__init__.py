"""Chances of a click that are affine in a document's attraction, learnt with the attraction integrated out."""

from __future__ import annotations

from .integral import Chances
from .learning import Cells, Solution, learn

__all__ = ["Cells", "Chances", "Solution", "learn"]
