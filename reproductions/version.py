"""The version of offrank-papers is that of offrank beside it, and it needs exactly that offrank."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class OffranksVersion(MetadataHookInterface):
    """Fills in the version and the dependencies when a package is built from the repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Read the version off the source of offrank; a source distribution has it in its own metadata."""
        text = (Path(self.root).parent / "src" / "offrank" / "__init__.py").read_text(encoding="utf-8")
        metadata["version"] = version(text)
        metadata["dependencies"] = [f"offrank=={metadata['version']}"]


def version(text: str) -> str:
    """Return the version that a module has as `__version__`."""
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    if found is None:
        raise ValueError("offrank's __init__.py has no line __version__ = ...")
    return found[1]
