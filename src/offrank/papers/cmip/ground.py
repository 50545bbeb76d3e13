"""The judged queries of the simulation, what rankers think of them, and the worlds that are made of both."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...log.batch import Floats
from ...log.judged import Judged
from ...metrics.ranking import ndcg
from ...readers.svmlight import read_svmlight
from ...simulation.judged import Preset, stratified
from ...simulation.mslr_like import mslr_like
from ...simulation.rankers import NoisyOracle, Uniform
from ...simulation.trained import LambdaMART
from ...simulation.users import CarouselUser, DBNUser, MixtureDBNUser, PBMUser, User
from ...simulation.worlds import World
from .design import CAROUSEL, DBN, FIGURE, LAMBDAMART, MIXTURE, ORACLE, PBM, UNIFORM, Design, Study

Say = Callable[[str], object]

FIGURE_TEMPERATURE = 1.0
"""Of Figure 1 in the published code; the text has .1 everywhere."""

_USERS: Mapping[str, Callable[..., User]] = {
    PBM: PBMUser,
    DBN: DBNUser,
    MIXTURE: MixtureDBNUser,
    CAROUSEL: CarouselUser,
    FIGURE: PBMUser,
}


@dataclass(frozen=True)
class Ground:
    """Queries with equally many documents, and what LambdaMART gives each [q, m]; dropped: queries with fewer."""

    judged: Judged
    lambdamart: Floats
    dropped: int

    @property
    def grade(self) -> Floats:
        """[q, m]."""
        return self.judged.table(self.judged.grade)

    def scores(self, preset: Preset, seed: int) -> dict[str, Floats]:
        """[q, m] of each ranker; the noise of the oracle depends on the seed."""
        oracle = NoisyOracle(0.5 if preset == "paper" else 0.25)
        each = {ORACLE: oracle.scores(self.judged, seed), UNIFORM: Uniform().scores(self.judged)}
        found = {name: self.judged.table(scores) for name, scores in each.items()}
        return {ORACLE: found[ORACLE], LAMBDAMART: self.lambdamart, UNIFORM: found[UNIFORM]}

    def ndcg(self, scores: Floats) -> float:
        """Of all documents of a query sorted by a score, as in Eq. 4 of the paper."""
        order = np.argsort(-scores, axis=1, kind="stable")
        return float(ndcg(np.take_along_axis(self.grade, order, axis=1)).mean())


@dataclass(frozen=True)
class Grounds:
    """The ground of each number of documents; data: where the queries come from, in words."""

    design: Design
    data: str
    found: Mapping[int, Ground]

    @classmethod
    def of(cls, design: Design, log: Any, say: Say) -> Grounds:
        """Read or generated, reduced as in section 5.1.2, and scored.

        log: an MSLR fold folder (of which `train.txt` is read), an SVMlight file, or None.
        """
        judged, data = _judged(design, log)
        found = {}
        for documents in sorted({design.documents_of(user) for user in design.users}):
            say(f"LambdaMART on {data}, {documents} documents each")
            sampled, dropped = stratified(judged, documents, 0, preset=design.preset)
            ranker = LambdaMART(design.trees)
            found[documents] = Ground(sampled, sampled.table(ranker.scores(sampled, 0)), dropped)
        return cls(design, data, found)

    def of_user(self, user: str) -> Ground:
        """The ground that a user stands on."""
        return self.found[self.design.documents_of(user)]

    def world(self, study: Study) -> World:
        """The world of a study."""
        ground, preset = self.of_user(study.user), self.design.preset
        # The published code draws the oracle's noise once; here each run has its own.
        scores = ground.scores(preset, 0 if preset != "paper" else number(self.design.seed, study.run, "oracle"))
        user = _USERS[study.user](highest=max(float(ground.grade.max()), 1.0), preset=preset)
        temperature = FIGURE_TEMPERATURE if study.user == FIGURE else 0.1
        tables = ground.judged.query, ground.judged.table(ground.judged.document), ground.grade
        return World(*tables, scores, user, temperature=temperature, preset=preset)

    @property
    def digest(self) -> str:
        """Different for different queries, grades and scores."""
        made = hashlib.sha256()
        for _, ground in sorted(self.found.items()):
            for table in (ground.judged.query, ground.judged.document, ground.grade, ground.lambdamart):
                made.update(np.ascontiguousarray(table).tobytes())
        return made.hexdigest()[:16]


def number(*parts: Any) -> int:
    """A seed that depends on all of these."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4], "big")


def _judged(design: Design, log: Any) -> tuple[Judged, str]:
    if log is None:
        return mslr_like(design.queries, seed=design.seed), f"{design.queries:,} generated queries in MSLR's likeness"
    if isinstance(log, Judged):
        judged, name = log, "given queries"
    else:
        path = Path(log)
        train = path / "train.txt"
        judged = read_svmlight(train if train.is_file() else path)
        name = f"queries of {path.name}"
    if len(judged) > design.queries:
        chosen = np.random.default_rng(design.seed).choice(len(judged), design.queries, replace=False)
        judged = judged.take(np.sort(chosen))
    return judged, f"{len(judged):,} {name}"
