"""How many raw tables of other people `inspect` reads rightly, and of how many it says rightly who drew them."""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import benchmarks._strangers_traps
import offrank
from benchmarks._page import generated
from benchmarks._strangers_tables import MAKERS, Truth

assert benchmarks._strangers_traps
LAWS = {
    "uniform": "uniform",
    "score": "plackett_luce({})",
    "sharp": "plackett_luce({}, ",
    "epsilon": "epsilon(top({}), ",
}
FIXED = {"fixed", "personal", "daily", "sorted", "arms"}
CERTAIN = {"written", "agrees"}


def _law(truth: Truth) -> str:
    """Return how the spelling of the law that drew a log begins."""
    return LAWS[truth.drawn].format(repr(truth.score) if "." in truth.score else truth.score)


def layout_of(found: Any, truth: Truth) -> str:
    """Return whether a table was read as it is: right, asked, or wrong."""
    if isinstance(found, Exception):
        return "failed"
    if found.logging is None:
        return "right" if truth.asked else "asked"
    if truth.layout not in ("wide", "long"):
        return "right" if (found.format or found.layout or "").startswith(truth.layout) else "wrong"
    read = {role: name for role, name in found.renamed.items() if role in truth.columns}
    read |= {role: role for role, name in truth.columns.items() if role not in read and name == role}
    core = {"slate", "clicks", "impression", "item", "position", "click", "candidates", "propensity", "slot_propensity"}
    wrong = {role for role, name in truth.columns.items() if role in core and read.get(role) != name}
    if truth.asked and not truth.columns:
        return "read"
    return "wrong" if wrong else "right"


def drawn_of(found: Any, truth: Truth) -> str:
    """Return whether what is said of who drew a log is true: right, open, wrong, or scandal: certain and false."""
    law = None if isinstance(found, Exception) else found.logging
    if law is None:
        return "right" if truth.asked or not truth.drawn else "open"
    policy, certain = law.policy or "", law.status in CERTAIN
    if truth.drawn in FIXED:
        if certain:
            return "scandal"
        if law.status in ("not random", "refuted", "arms"):
            return "right"
        return "open" if law.policy and law.named and (law.departure or 1) <= 0.2 else "right"
    if truth.drawn == "written":
        return "right" if law.status == "written" else "open" if not certain else "wrong"
    if truth.drawn in ("hidden", "bucket", ""):
        return "right" if not certain and law.status != "not random" else "wrong"
    if law.status == "not random" or (certain and not policy.startswith(_law(truth))):
        return "wrong"
    return "right" if policy.startswith(_law(truth)) else "open"


def look(path: Path) -> Any:
    """Return what `inspect` says of a table, or how it fails."""
    try:
        return offrank.inspect(path)
    except Exception as error:
        return error


def said(found: Any) -> str:
    """Say in a line what was found."""
    if isinstance(found, Exception):
        return f"{type(found).__name__}: {str(found)[:200]}"
    if found.logging is None:
        return f"ASKS[{found.layout}] {found.why[:200]}"
    roles = " ".join(f"{role}={name}" for role, name in found.renamed.items())
    law = found.logging
    return (
        f"{found.format or found.layout}: {roles} | {law.policy} [{law.status}] dep={law.departure} | {found.command}"
    )


def main() -> None:
    """Print the table, and write it into a page."""
    known = argparse.ArgumentParser(description=__doc__)
    known.add_argument("--only", nargs="*", default=list(MAKERS))
    known.add_argument("--seed", type=int, default=1)
    known.add_argument("--table", type=Path, help="A page of docs/ to write to.")
    options = known.parse_args()
    layouts: Counter[str] = Counter()
    laws: Counter[str] = Counter()
    for number, name in enumerate(MAKERS):
        if name not in options.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path, truth = MAKERS[name](np.random.default_rng((options.seed, number)), Path(folder))
            found = look(path)
            layout, law = layout_of(found, truth), drawn_of(found, truth)
        layouts[layout] += 1
        laws[law] += 1
        print(f"{name:28} {truth.drawn:9} layout {layout:7} drawn {law:8} {said(found)}", flush=True)
    print(dict(layouts), dict(laws))


if __name__ == "__main__":
    main()
