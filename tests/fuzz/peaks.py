"""The most memory that this process has held since it was last asked: a large case is seen after a larger one."""

from __future__ import annotations

import re
import resource
from contextlib import suppress
from pathlib import Path

_PROCESS = Path("/proc/self")


def reset() -> int:
    """Forget the peak so far, where the system can; return what is held now, or else the peak that stays."""
    with suppress(OSError):
        (_PROCESS / "clear_refs").write_text("5", encoding="ascii")
    return peak()


def peak() -> int:
    """Return the most bytes held since the last reset; ever, where peaks cannot be reset."""
    with suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", (_PROCESS / "status").read_text(encoding="ascii"))
        if found:
            return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
