"""How often healthy logs are said to have an odd mean weight in one of their groups.

Every healthy world, in 20 groups at random: logs in which some group's mean weight refutes the logging policy there
(promised: at most one log in 2,000), and logs in which some estimate of a group has a warning of its own.

    python benchmarks/group_alarms.py [--logs 10] [--rows 1000 20000] [--groups 20]
"""

from __future__ import annotations

import argparse

import numpy as np
import pyarrow as pa
from trust_worlds import HEALTHY, World

import offrank

LAW = "In this group"
"""How a finding begins that binds the whole group."""


def alarms(world: World, rows: int, groups: int, seed: int) -> tuple[bool, bool]:
    """Whether the law of some group is refuted, and whether an estimate has a warning of its own mean weight."""
    log = world.table(rows, seed)
    names = np.random.default_rng(seed).integers(0, groups, log.num_rows).astype(str)
    log = log.append_column("any_group", pa.array(names))
    result = offrank.evaluate(log, **world.question(), by="any_group")
    said = [
        (caution.severity, caution.message.startswith(LAW))
        for part in result.groups.values()
        for one in part.given.values()
        for caution in one.warnings
        if caution.code == "mean-weight"
    ]
    return any(law for _, law in said), any(not law for _, law in said)


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=10)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 20_000])
    parser.add_argument("--groups", type=int, default=20)
    asked = parser.parse_args()
    for rows in asked.rows:
        found = [alarms(world, rows, asked.groups, seed) for world in HEALTHY for seed in range(asked.logs)]
        law, own = np.sum(found, axis=0)
        print(f"{rows:7,} rows, {len(found)} logs: law of a group {law}, estimates of a group {own}", flush=True)


if __name__ == "__main__":
    main()
