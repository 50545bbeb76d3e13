"""Compiled loops, and where they are kept: beside their sources, else in the user's cache folder, else nowhere.

No run fails because they cannot be kept or read again: a full disk, or a file that a crash has cut, costs time only.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import numba
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.runtime import rtsys

_NOWHERE = (
    "compiled code can be stored neither beside the sources nor in your cache folder, so each process compiles it "
    "again for up to a minute; set NUMBA_CACHE_DIR to a folder that you can write to"
)
_told = list[str]()


def njit(**options: Any) -> Callable[[Any], Any]:
    """Return Numba's decorator: what is compiled is kept, and runs without the interpreter's lock."""

    def compiled(function: Any) -> Any:
        made = numba.njit(nogil=True, **options)(function)
        if made is not function:  # it is the function itself where Numba is switched off
            made._cache = _Kept(function)
        return made

    return compiled


class _Kept(FunctionCache):
    """Compiled code in files, without which it is compiled again."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            rtsys.initialize(target_context)  # all that finished code needs; whoever compiles asks for the rest
            return self._load_overload(sig, target_context)
        except Exception:  # noqa: BLE001  a file that is no pickle, or half of one, fails in any way
            self.save(self.flush)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        self.save(lambda: super(_Kept, self).save_overload(sig, data))

    def save(self, write: Callable[[], object]) -> None:
        """Write a file of compiled code, or say once why it cannot be kept."""
        try:
            write()
        except OSError as error:
            self.disable()
            said = f"compiled code cannot be stored in {self.cache_path} ({error.strerror or error})"
            _tell(f"{said}: it is compiled again next time; make room there, or set NUMBA_CACHE_DIR to another folder")


def _tell(words: str) -> None:
    """Warn once in a process, without a line of the sources, which would help nobody."""
    if not _told:
        _told.append(words)
        warnings.warn_explicit(words, UserWarning, "offrank", 0)


def _probe() -> None:
    """Do nothing: only where it would be kept is of interest."""


def _keep_somewhere() -> None:
    """Keep compiled code in a private folder of this process if it may be kept nowhere else."""
    try:
        _Kept(_probe)
    except RuntimeError:
        folder = tempfile.mkdtemp(prefix="offrank-compiled-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        config.CACHE_DIR = folder
        _tell(_NOWHERE)


_keep_somewhere()
jit = njit()
inlined = njit(inline="always")
