"""How many tables of strangers are read rightly, asked about, or read wrongly, when nothing is said of them."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa

import offrank
from benchmarks._page import generated
from benchmarks._strangers import TRAPS, random_form, roles, wide_log, written
from offrank.errors import OffrankError
from offrank.readers.long import LongLog
from offrank.readers.wide import WideLog


def roles_read(table: pa.Table) -> dict[str, str] | None:
    """Return the columns by role as a table is read, None if a question is asked."""
    try:
        log = offrank.read_log(table)
    except OffrankError:
        return None
    assert isinstance(log, WideLog | LongLog)
    return dict(log.description.roles)


def outcome(seed: int) -> str:
    """Return what becomes of one random table."""
    rng = np.random.default_rng(seed)
    form = random_form(rng)
    found = roles_read(written(wide_log(rng, impressions=int(rng.integers(30, 300))), form, rng))
    if found is None:
        return "asked"
    return "right" if found == roles(form) else "wrong"


def main() -> None:
    """Print the table, and write it into a page."""
    known = argparse.ArgumentParser(description=__doc__)
    known.add_argument("--tables", type=int, default=60)
    known.add_argument("--table", type=Path, help="A page of docs/ to write to.")
    options = known.parse_args()
    logs = Counter(outcome(seed) for seed in range(options.tables))
    traps = Counter(
        "asked" if roles_read(make(np.random.default_rng(0))) is None else "wrong" for make in TRAPS.values()
    )
    lines = ["| Tables | read rightly | asked about | read wrongly |", "|---|--:|--:|--:|"]
    for what, found in (("logs of any names, orders and types", logs), ("no logs, or something is open", traps)):
        lines.append(f"| {sum(found.values())} {what} | {found['right']} | {found['asked']} | {found['wrong']} |")
    print(*lines, sep="\n")
    if options.table:
        generated(options.table, "any table", lines, "benchmarks/any_table.py")


if __name__ == "__main__":
    main()
