"""Several changes of a log at once."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

from tests.metamorphic.changes import RELATIONS, LogTable, Relation


def at_once(*names: str) -> Relation:
    """Return several of RELATIONS combined: if nothing differs, none of them is broken."""
    several = [RELATIONS[name] for name in names]

    def change(log: LogTable, rng: np.random.Generator) -> pa.Table:
        for relation in several:
            log = dataclasses.replace(log, table=relation.change(log, rng))
        return log.table

    return Relation(", ".join(names), change)
