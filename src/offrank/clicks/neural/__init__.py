"""Click models that are recurrent neural networks: trained with JAX (the extra `neural`), used without it."""

from __future__ import annotations

from .cacm import CACM
from .ncm import NCM

__all__ = ["CACM", "NCM"]
