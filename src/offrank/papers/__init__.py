"""Reproductions of papers: the same tables and plots, and a verdict on each claim."""

from .registry import REPRODUCTIONS, Reproduced, Reproduction, reproduce

__all__ = ["REPRODUCTIONS", "Reproduced", "Reproduction", "reproduce"]
