"""Additive rewards of whole slates, without clicks: the pseudoinverse estimator and its mathematics."""

from .estimator import PI
from .gamma import Inverse, pseudoinverse

__all__ = ["PI", "Inverse", "pseudoinverse"]
