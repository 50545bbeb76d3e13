"""Design of the simulation study: its sizes, and the judged queries, rankers and users of its worlds."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...clicks.model import ClickModel
from ...clicks.named import click_model
from ...log.batch import Floats
from ...log.judged import Judged
from ...metrics.ranking import ndcg, ranked
from ...options import Say
from ...simulation.judged import Preset, stratified
from ...simulation.rankers import LambdaMART, NoisyOracle
from ...simulation.users import CarouselUser, DBNUser, MixtureDBNUser, PBMUser, User
from ...simulation.worlds import JudgedWorld
from ..queries import judged_queries

ORACLE, LAMBDAMART, UNIFORM = POLICIES = ("noisy_oracle", "lambdamart", "uniform")
LOGGING = (ORACLE, LAMBDAMART)

FIGURE = "figure_1"
"""Used as a user name: the two models of Figure 1 again, at the temperature of the published code."""

FIGURE_TEMPERATURE = 1.0
"""Temperature of Figure 1 in the published code; the text has .1 everywhere."""

_CLASSES: Mapping[str, Callable[..., User]] = {
    "pbm": PBMUser,
    "dbn": DBNUser,
    "mixture_dbn": MixtureDBNUser,
    "carousel": CarouselUser,
    FIGURE: PBMUser,
}
PBM, DBN, MIXTURE, CAROUSEL = USERS = tuple(_CLASSES)[:4]

_NEURAL = ("ncm", "cacm")
_QUICK = ("ncm(batch=1024, rate=0.03, epochs=15)", "cacm(batch=1024, rate=0.1, epochs=12)")
_LARGE = 0.2
"""The scale from which recurrent models learn as in the paper; below, in fewer but longer steps."""


@dataclass(frozen=True)
class StudyDesign:
    """The paper's experiment at some size (section 5).

    queries: maximum number. documents: per query, for the carousel and for the others. sessions: to learn from; tests:
    slates to test on, per policy. trees: of LambdaMART. models: their spellings.
    runs: at least 2. repetitions: of the two-fold cross-validation of Table 1.
    """

    queries: int
    sessions: int
    tests: int
    runs: int
    repetitions: int
    models: tuple[str, ...]
    users: tuple[str, ...] = USERS
    logging: tuple[str, ...] = LOGGING
    documents: int = 10
    carousel_documents: int = 25
    trees: int = 100
    seed: int = 4
    preset: Preset = "paper"

    @classmethod
    def of(cls, scale: float, seed: int, preset: Preset = "paper") -> StudyDesign:
        """Return the published size times `scale`: sessions times it, queries times its root, fewer runs.

        So each query has 850 sessions at scale 1, and 85 at .01.
        """
        large = scale >= _LARGE
        return cls(
            queries=max(int(6_000 * math.sqrt(scale)), 30),
            sessions=max(int(5e6 * scale), 1_000),
            # Clicks are expectations rather than draws, so that a few slates suffice.
            tests=max(int(40_000 * math.sqrt(scale)), 200),
            runs=min(max(round(10 * scale**0.2), 3), 10),
            repetitions=max(round(1_000 * math.sqrt(scale)), 10),
            models=("dctr", "rdctr", "pbm", "ubm", "dbn", *(_NEURAL if large else _QUICK)),
            trees=100 if large else 10,
            seed=seed,
            preset=preset,
        )

    @property
    def made(self) -> dict[str, ClickModel]:
        """Return the models by name."""
        return {model.name: model for model in map(click_model, self.models)}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the models' names, in order."""
        return tuple(self.made)

    def documents_of(self, user: str) -> int:
        """Return documents per query for a user."""
        return self.carousel_documents if user == CAROUSEL else self.documents

    def studies(self) -> list[Study]:
        """List all studies, run after run, so that an unfinished study is a whole one with fewer runs."""
        every = [Study(user, which, run) for run in range(self.runs) for user in self.users for which in self.logging]
        return [*every, Study(FIGURE, ORACLE, 0)]


@dataclass(frozen=True)
class Study:
    """One run of the simulation: a user, a logging policy, and all random seeds."""

    user: str
    logging: str
    run: int

    @property
    def name(self) -> str:
        """Return the name of its file."""
        return f"{self.user}-{self.logging}-{self.run}"

    def __str__(self) -> str:
        return f"{self.user}, {self.logging}, run {self.run + 1}"


@dataclass(frozen=True)
class ScoredQueries:
    """Queries with equally many documents, and LambdaMART's scores [q, m]; dropped: queries with fewer."""

    judged: Judged
    lambdamart: Floats
    dropped: int

    @property
    def grade(self) -> Floats:
        """Return the grades [q, m]."""
        return self.judged.table(self.judged.grade)

    def scores(self, preset: Preset, seed: int) -> dict[str, Floats]:
        """Return the scores of each ranker [q, m]; the noise of the oracle depends on the seed."""
        oracle = NoisyOracle(0.5 if preset == "paper" else 0.25).scores(self.judged, seed)
        uniform = np.zeros_like(self.lambdamart)
        return {ORACLE: self.judged.table(oracle), LAMBDAMART: self.lambdamart, UNIFORM: uniform}

    def ndcg(self, scores: Floats) -> float:
        """Return nDCG over all documents of a query sorted by a score, as in Eq. 4 of the paper."""
        return float(ndcg(ranked(self.grade, scores)).mean())


@dataclass(frozen=True)
class StudyQueries:
    """The scored queries, by number of documents; data: a description of their source."""

    design: StudyDesign
    data: str
    found: Mapping[int, ScoredQueries]

    @classmethod
    def of(cls, design: StudyDesign, log: Any, say: Say) -> StudyQueries:
        """Read or generate queries, reduce them as in section 5.1.2, and score them.

        log: an MSLR fold folder (of which `train.txt` is read), an SVMlight file, or None.
        """
        judged, data = _judged(design, log)
        found = {}
        for documents in sorted({design.documents_of(user) for user in design.users}):
            say(f"LambdaMART on {data}, {documents} documents each")
            sampled, dropped = stratified(judged, documents, 0, preset=design.preset)
            scores = LambdaMART(design.trees).scores(sampled, 0)
            found[documents] = ScoredQueries(sampled, sampled.table(scores), dropped)
        return cls(design, data, found)

    def of_user(self, user: str) -> ScoredQueries:
        """Return the queries of a user, which depend on the user's number of documents."""
        return self.found[self.design.documents_of(user)]

    def world(self, study: Study) -> JudgedWorld:
        """Return the world of a study."""
        scored, preset = self.of_user(study.user), self.design.preset
        # The published code draws the oracle's noise once; here each run draws its own.
        scores = scored.scores(preset, 0 if preset != "paper" else seed_of(self.design.seed, study.run, "oracle"))
        user = _CLASSES[study.user](highest=max(float(scored.grade.max()), 1.0), preset=preset)
        temperature = FIGURE_TEMPERATURE if study.user == FIGURE else 0.1
        tables = scored.judged.query, scored.judged.table(scored.judged.document), scored.grade
        return JudgedWorld(*tables, scores, user, temperature=temperature, preset=preset)

    @property
    def digest(self) -> str:
        """Return a hash of the queries, grades and scores."""
        made = hashlib.sha256()
        for _, scored in sorted(self.found.items()):
            for table in (scored.judged.query, scored.judged.document, scored.grade, scored.lambdamart):
                made.update(np.ascontiguousarray(table).tobytes())
        return made.hexdigest()[:16]


def seed_of(*parts: Any) -> int:
    """Return a seed that depends on all arguments."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4], "big")


def _judged(design: StudyDesign, log: Any) -> tuple[Judged, str]:
    judged, name = judged_queries(log, design.queries, design.seed)
    if len(judged) > design.queries:
        chosen = np.random.default_rng(design.seed).choice(len(judged), design.queries, replace=False)
        judged = judged.take(np.sort(chosen))
    return judged, f"{len(judged):,} {name}"
