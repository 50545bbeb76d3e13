"""Click models that are recurrent neural networks: learnt with JAX (the extra `neural`), asked without it."""

from __future__ import annotations

from .cacm import CACM
from .ncm import NCM

__all__ = ["CACM", "NCM"]
