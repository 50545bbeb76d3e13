"""Click models that are recurrent neural networks: trained with JAX (the extra `neural`), used without it."""

from __future__ import annotations

from .models import CACM, NCM

__all__ = ["CACM", "NCM"]
