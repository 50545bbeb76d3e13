"""What every page ends and begins with: how it was made, and by what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...report.sheet import Section


def again(facts: Mapping[str, Any], *names: str) -> Section:
    """How a document was made; names: facts that belong to the question."""
    asked = tuple(f"{name}: `{facts[name]}`" for name in names if facts.get(name))
    made = f"Made on {facts['created']}" if facts.get("created") else ""
    versions = ", ".join(f"{name} {version}" for name, version in (facts.get("versions") or {}).items())
    prose = " with ".join(filter(None, [made, versions]))
    told = (prose,) if prose else ()
    return Section("To repeat this", told, items=asked, code=facts.get("command") or "", folded=True, printed=False)


def eyebrow(facts: Mapping[str, Any]) -> str:
    """What made a document, and when."""
    kind, day = str(facts.get("kind") or "").replace("-", " "), str(facts.get("created") or "")[:10]
    return " \u00b7 ".join(filter(None, [f"offrank {kind}".strip(), day]))
