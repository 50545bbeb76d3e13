"""Joint laws of the clicks on a slate, a file each: what click models and simulated users have in common.

A law is built from arrays [n, k], one row per slate; it knows nothing of logs, parameters or learning.
"""

from __future__ import annotations

from .base import ClickLaw, chance_of, log_probs
from .browsing import Browsing
from .cascading import Cascading, Upward
from .independent import Independent
from .mixed import Mixed

__all__ = ["Browsing", "Cascading", "ClickLaw", "Independent", "Mixed", "Upward", "chance_of", "log_probs"]
