"""The queries of the simulation, ranked in both spaces, and the worlds that its studies need."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np

from offrank.errors import UsageError
from offrank.language import Say
from offrank.log.graded_queries import Judged

from ..queries import judged_queries
from ..resume import spoken, workers
from .design import Logging, SlatesDesign, SlateStudy, Space, loggings, seed_of
from .direct import learnt
from .rankers import RankedSets, ranked_sets
from .worlds import Features, SlateWorld, feature_table, worlds

_TIMED = 20_000
_LEARNT = 1_000
_GROWTH = 0.85  # of the time of learning with the logs: the descent of the lasso does not depend on them
_REMEDY = "give judged documents"
MOST_WORKERS = 2
"""Studies at once: each holds the features of the logs that it learns from."""


@dataclass(frozen=True)
class SlatesData:
    """Judged queries. data: a description of their source. given: the user's queries, None for generated ones.

    sets: by space, the candidates and their ranks, without features. features: by space, as in `SlateWorld`.
    rows: judged documents. highest: the highest grade.
    """

    design: SlatesDesign
    data: str
    given: Judged | None
    sets: Mapping[Space, RankedSets]
    features: Mapping[Space, Features]
    rows: int
    highest: float
    made: dict[tuple[Space, float], dict[Logging, SlateWorld]] = field(default_factory=dict)
    locks: dict[tuple[Space, float], Lock] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @classmethod
    def of(cls, design: SlatesDesign, log: Any, say: Say) -> SlatesData:
        """Read or generate queries, and rank them.

        log: queries, a folder of MSLR (of which `train.txt` is read), an SVMlight file, or None.

        Raises:
            UsageError: no document has a grade above 0; as `ranked_sets`.
        """
        judged, data = _judged(design, log)
        highest = float(judged.grade.max(initial=0.0))
        if not highest > 0:
            raise UsageError("no document has a grade above 0, so that every slate earns nothing", _REMEDY)
        found, features = {}, {}
        for space in design.spaces:
            say(f"four rankers of {data}, at most {space.m} documents each")
            sets = ranked_sets(judged, space.m, design.seed)
            features[space] = feature_table(sets.judged.features)
            found[space] = replace(sets, judged=replace(sets.judged, features=np.empty((sets.judged.rows, 0))))
        return cls(design, data, None if log is None else judged, found, features, judged.rows, highest)

    def world(self, space: Space, logging: Logging) -> SlateWorld:
        """Return a world, made on first use, together with that of the other ranker."""
        key = space, logging.alpha
        with self.lock:
            lock = self.locks.setdefault(key, Lock())
        with lock:
            if key not in self.made:
                alike = [one for one in loggings(space) if one.alpha == logging.alpha]
                self.made[key] = worlds(self.sets[space], self.features[space], space, alike, self.highest)
            return self.made[key][logging]

    @property
    def digest(self) -> str:
        """Return a hash of the queries, grades, ranks and features."""
        made = hashlib.sha256()
        for space, sets in self.sets.items():
            judged = sets.judged
            for table in (judged.query, judged.document, judged.grade, *sets.ranks.values(), self.features[space]):
                made.update(np.ascontiguousarray(table).reshape(-1).view(np.uint8).data)
        return made.hexdigest()[:16]

    def price(self, missing: list[SlateStudy]) -> str:
        """Return in words what the missing studies will cost, from the speed of a small part of each space."""
        seconds, memory = 0.0, 0.0 if self.given is None else float(self.given.features.nbytes)
        for space in self.design.spaces:
            count = sum(one.space == space for one in missing)
            world = self.world(space, loggings(space)[0])
            seconds += count * _seconds(world, self.design)
            memory += 5 * world.table.nbytes + world.features.nbytes
        width = max(space.l * table.shape[1] for space, table in self.features.items())
        memory += workers(MOST_WORKERS) * (4.0 * width * self.design.models[-1] + 8 * 5 * width**2)
        cores = workers(MOST_WORKERS)
        return (
            f"{len(missing)} studies of {self.design.logs:,} logs will take about {spoken(seconds / cores)} on "
            f"{cores} cores, and up to {memory / 2**30 + 0.2:.1f} GiB of memory"
        )


def _seconds(world: SlateWorld, design: SlatesDesign) -> float:
    """Return how long a study takes on one core, by the time of a small one."""
    small = replace(design, logs=_TIMED, models=(min(_LEARNT, design.models[0]),))
    for _ in range(2):  # the first waits for the compiler
        began = time.perf_counter()
        log = world.draw(seed_of(design.seed, "price"), 0, small.logs)
        world.weights(log), world.rewards(log)
        read = time.perf_counter() - began
    began, some = time.perf_counter(), world.draw(0, 0, small.models[0])
    learnt(world, some, 0, lambda: None)
    learning = time.perf_counter() - began
    passes = 3 * design.logs / small.logs  # once for the weights, again for the residuals of four models
    return read * passes + learning * sum((model / small.models[0]) ** _GROWTH for model in design.models)


def _judged(design: SlatesDesign, log: Any) -> tuple[Judged, str]:
    judged, name = judged_queries(log, design.queries, design.seed)
    return judged, f"{len(judged):,} {name}"
