"""Papers reproduced: the same tables and pictures, and each claim marked as found or not."""

from .registry import REPRODUCTIONS, Reproduced, Reproduction, reproduce

__all__ = ["REPRODUCTIONS", "Reproduced", "Reproduction", "reproduce"]
