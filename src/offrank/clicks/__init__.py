"""Click models: how slates are clicked, learnt from a log."""

from __future__ import annotations
