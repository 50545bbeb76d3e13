"""Files of click models as earlier releases wrote them: without a checksum."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def aged(path: Path) -> dict[str, Any]:
    """What is in a model's file, of a version without a checksum, so that it can be changed and written again."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    del found["sha256"]
    return {**found, "version": 1}
