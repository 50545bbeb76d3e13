"""Where compiled loops are kept: beside their sources, else in the user's cache folder, else for this process only.

The log's kernels import it, and are imported before any others: where Numba finds no folder that it may write to, it
refuses to load what is to be kept.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings

import numba
from numba.core import config

_NOWHERE = (
    "compiled code can be stored neither beside the sources nor in your cache folder, so each process compiles it "
    "again for up to a minute; set NUMBA_CACHE_DIR to a folder that you can write to"
)


def _probe() -> None:
    """Do nothing: only where it would be kept is of interest."""


def _keep_somewhere() -> None:
    """Keep compiled code in a private folder of this process if it may be kept nowhere else, and say so in one line."""
    try:
        numba.njit(cache=True)(_probe)
    except RuntimeError:
        folder = tempfile.mkdtemp(prefix="offrank-compiled-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        config.CACHE_DIR = folder
        warnings.warn_explicit(_NOWHERE, UserWarning, "offrank", 0)  # a line of the sources would help nobody


_keep_somewhere()
njit = numba.njit
"""Numba's own, once there is a folder."""
