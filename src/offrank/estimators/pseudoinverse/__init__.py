"""Additive rewards of whole slates, without clicks: the pseudoinverse estimator and its mathematics."""

from .estimator import PI
from .gamma import Inverse, action_rewards, pseudoinverse
from .overlap import ContextOverlap, Overlap, diagnostics, overlap

__all__ = ["PI", "ContextOverlap", "Inverse", "Overlap", "action_rewards", "diagnostics", "overlap", "pseudoinverse"]
