"""What is taken where nothing is said, as spellings: nothing that evaluates is imported for them."""

from __future__ import annotations

CANDIDATES = (
    *("ips", "snips", "rips", "snrips", "pi", "wpi", "ipm", "snipm"),
    *("interpol(window=1)", "interpol(window=2)", "pbm"),
)
"""The estimators to choose from by default, of which a log and its policies usually allow only some."""
