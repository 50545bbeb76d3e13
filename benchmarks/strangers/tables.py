"""How many raw tables of other people `inspect` reads rightly, and of how many it says rightly who drew them."""

from __future__ import annotations

import argparse
import shlex
import tempfile
from collections import Counter
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

import offrank
from benchmarks._page import generated
from benchmarks.strangers.files import Maker, Truth
from benchmarks.strangers.spelling import BATCHES
from offrank.cli import main as command_line

LAWS = {
    "uniform": "uniform",
    "score": "plackett_luce({})",
    "sharp": "plackett_luce({}, ",
    "epsilon": "epsilon(top({}), ",
    "law": "{}",
}
"""How the spelling of a law begins; of `law` it is said instead of a score."""
FIXED = {"fixed", "personal", "daily", "sorted", "arms", "refuted"}
CERTAIN = {"written", "agrees"}


def _law(truth: Truth) -> str:
    """Return how the spelling of the law that drew a log begins."""
    quoted = "." in truth.score and truth.drawn != "law"
    return LAWS[truth.drawn].format(repr(truth.score) if quoted else truth.score)


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
    if wrong and wrong <= {one.like for one in found.columns if one.name == truth.columns.get(one.like)}:
        return "asked"  # which the page does under its columns
    if truth.asked and not truth.columns:
        return "read"
    return "wrong" if wrong else "right"


def drawn_of(found: Any, truth: Truth) -> str:
    """Return whether what is said of who drew a log is true: right, open, wrong, or scandal: certain and false."""
    law = None if isinstance(found, Exception) else found.logging
    if law is None:
        return "right" if truth.asked or not truth.drawn else "open"
    certain = law.status in CERTAIN
    if truth.drawn in FIXED:
        believed = law.policy and law.named and (law.departure or 1) <= 0.2
        known = law.status in ("not random", "refuted", "arms")
        return "scandal" if certain else "right" if known or not believed else "open"
    if truth.drawn == "written":
        return "right" if law.status in ("written", "written, not tested") else "wrong" if certain else "open"
    if truth.drawn in ("hidden", "bucket", ""):
        return "wrong" if certain or law.status == "not random" else "right"
    same = (law.policy or "").startswith(_law(truth))
    return "wrong" if law.status == "not random" or (certain and not same) else "right" if same else "open"


def look(path: Path) -> Any:
    """Return what `inspect` says of a table, or how it fails."""
    try:
        return offrank.inspect(path)
    except Exception as error:  # noqa: BLE001  a failure is counted, whatever it is
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


def refused(found: Any) -> str:
    """Run the command that is printed; return how it ends, where that is neither 0 nor 3."""
    if isinstance(found, Exception) or not found.command:
        return ""
    errors = StringIO()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()), redirect_stderr(errors), chdir(folder):
        try:
            command_line(shlex.split(found.command)[1:], prog_name="offrank")
            ended = 0
        except SystemExit as end:
            ended = end.code
    return "" if ended in (0, 3) else f" COMMAND ENDS WITH {ended}: {errors.getvalue()[:300]}"


def judged(makers: dict[str, Maker], only: list[str], seed: int) -> tuple[Counter[str], Counter[str]]:
    """Print what was found of each table; count whether layouts and laws were right."""
    layouts: Counter[str] = Counter()
    laws: Counter[str] = Counter()
    for number, name in enumerate(makers):
        if only and name not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path, truth = makers[name](np.random.default_rng((seed, number)), Path(folder))
            found = look(path)
            layout, law = layout_of(found, truth), drawn_of(found, truth)
            ended = refused(found)
        layouts[layout] += 1
        laws[law] += 1
        print(f"{name:34} {truth.drawn:9} layout {layout:7} drawn {law:8} {said(found)}{ended}", flush=True)
    return layouts, laws


HEAD = (
    "| Tables | read rightly | asked about | read wrongly | who drew it: rightly said | left open | wrongly | "
    "called drawn, and were not |"
)


def main() -> None:
    """Print what was found of each table, and how often it was right; write the counts into a page."""
    known = argparse.ArgumentParser(description=__doc__)
    known.add_argument("--only", nargs="*", default=[])
    known.add_argument("--batch", default="", choices=["", *BATCHES], help="The only batch, such as unseen.")
    known.add_argument("--seed", type=int, default=1)
    known.add_argument("--table", type=Path, help="A page of docs/ to write to.")
    options = known.parse_args()
    lines = [HEAD, "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for batch, makers in BATCHES.items():
        if options.batch not in ("", batch):
            continue
        layouts, laws = judged(makers, options.only, options.seed)
        others = layouts.total() - layouts["right"] - layouts["asked"]
        counts = [layouts["right"], layouts["asked"], others, *(laws[one] for one in ("right", "open", "wrong"))]
        lines.append(f"| {layouts.total()} {batch} | {' | '.join(map(str, counts))} | {laws['scandal']} |")
    print(*lines, sep="\n")
    if options.table and not options.only and not options.batch:
        generated(options.table, "tables of strangers", lines, "benchmarks/strangers/tables.py")


if __name__ == "__main__":
    main()
