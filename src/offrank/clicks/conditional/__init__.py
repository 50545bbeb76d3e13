"""Examination without attractions: by the likelihood of where a document is clicked, given how often."""

from __future__ import annotations

from .curve import Curve, fit_curve

__all__ = ["Curve", "fit_curve"]
