"""Design of the simulation study: its sizes, and the judged queries, rankers and users of its worlds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from offrank.clicks.model import ClickModel, click_model
from offrank.language import Say
from offrank.log.batch import Floats
from offrank.log.graded_queries import Judged
from offrank.metrics.ranking import ndcg, ranked
from offrank.selection.strategies import Preset
from offrank.simulation.rankers import NoisyOracle
from offrank.simulation.users import DBNUser, PBMUser, User
from offrank.simulation.worlds import JudgedWorld

from ..queries import judged_queries
from ..rankers import LambdaMART
from ..simulated_users import CarouselUser, MixtureDBNUser, PublishedDBNUser
from ..simulated_users.preset import sampled_by_grade

ORACLE, LAMBDAMART, UNIFORM = POLICIES = ("noisy_oracle", "lambdamart", "uniform")
LOGGING = (ORACLE, LAMBDAMART)

FIGURE = "figure_1"
"""Used as a user name: the two models of Figure 1 again, at the temperature of the published code."""

ORACLE_SEED = 0
FIGURE_TEMPERATURE = 1.0
"""Temperature of Figure 1 in the published code; the text has .1 everywhere."""

PBM, DBN, MIXTURE, CAROUSEL = USERS = ("pbm", "dbn", "mixture_dbn", "carousel")

PER_QUERY = 850
"""Sessions a query at every scale: the paper's five million for 5,888 queries."""

FEWER = (85, 250)
"""Fewer sessions a query, from which the classic models learn once more."""

CLASSIC = ("dctr", "rdctr", "pbm", "ubm", "dbn")
NEURAL = ("ncm(hidden=64, rate=0.01, patience=5)", "cacm")
"""With settings from a search on held-out sessions (benchmarks/neural.py of commit 75b57e2e), at every scale."""

_CLASSIC_SECONDS, _NEURAL_SECONDS = 4e-6, 40e-6
"""Per document shown; of all classic models together, and of each neural one."""

LARGE = 0.2
_JUDGED, _TREES = 1_500, 15
"""Below that scale, LambdaMART learns from at least so many queries, in so few trees: it then ranks them about as well
as 100 trees rank 6,000 queries."""


@dataclass(frozen=True)
class StudyDesign:
    """The paper's experiment at some size (section 5).

    queries: the most whose sessions are simulated; judged: those that LambdaMART learns from, at least as many.
    sessions: of each query, to learn from; fewer: other numbers of them, for the classic models alone. documents: per
    query, for the carousel and for the others. tests: slates to test on, per policy. trees: of LambdaMART.
    models, neural: their spellings. runs: at least 2; neural_runs: those in which the neural models learn too.
    repetitions: of the two-fold cross-validation of Table 1.
    """

    queries: int
    judged: int
    tests: int
    runs: int
    neural_runs: int
    repetitions: int
    models: tuple[str, ...] = CLASSIC
    neural: tuple[str, ...] = NEURAL
    sessions: int = PER_QUERY
    fewer: tuple[int, ...] = FEWER
    users: tuple[str, ...] = USERS
    logging: tuple[str, ...] = LOGGING
    documents: int = 10
    carousel_documents: int = 25
    trees: int = 100
    seed: int = 4
    preset: Preset = "paper"

    @classmethod
    def of(cls, scale: float, seed: int, preset: Preset = "paper") -> StudyDesign:
        """Return the published number of queries times `scale`, each with as many sessions as in the paper."""
        large, queries = scale >= LARGE, max(round(6_000 * scale), 30)
        return cls(
            queries=queries,
            judged=queries if large else max(queries, _JUDGED),
            # Clicks are expectations rather than draws, so that a few slates suffice.
            tests=round(40_000 * scale) if large else 400,
            runs=10 if large else 6,
            neural_runs=10 if large else 3,
            repetitions=1_000 if large else 30,
            trees=100 if large else _TREES,
            seed=seed,
            preset=preset,
        )

    @property
    def classic(self) -> StudyDesign:
        """Return the design without neural models."""
        return replace(self, neural=())

    def made(self, study: Study) -> dict[str, ClickModel]:
        """Return the models that learn in a study, by name."""
        spelt = ("dctr", "pbm") if study.user == FIGURE else self.neural if study.neural else self.models
        return {model.name: model for model in map(click_model, spelt)}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the models' names, in order."""
        return tuple(click_model(one).name for one in self.models + self.neural)

    @property
    def whole_runs(self) -> int:
        """Return the number of runs in which all models learn."""
        return self.neural_runs if self.neural else self.runs

    def documents_of(self, user: str) -> int:
        """Return documents per query for a user."""
        return self.carousel_documents if user == CAROUSEL else self.documents

    def studies(self) -> list[Study]:
        """List all studies, run after run: first those of classic models, which are quick."""
        each = [(user, which) for user in self.users for which in self.logging]
        sizes = (self.sessions, *self.fewer)
        classic = [Study(*one, run, size) for run in range(self.runs) for size in sizes for one in each]
        runs = range(self.neural_runs if self.neural else 0)
        neural = [Study(*one, run, self.sessions, neural=True) for run in runs for one in each]
        return [Study(FIGURE, ORACLE, 0, self.sessions), *classic, *neural]

    def seconds(self, studies: Iterable[Study]) -> float:
        """Return about how long studies take on one core of today."""
        return sum(map(self._seconds, studies))

    def _seconds(self, study: Study) -> float:
        clicks = self.queries * study.sessions * self.documents_of(study.user)
        models = self.made(study)
        # 15 boosted classifiers for the published estimator, and perplexity over all histories of clicks.
        fixed = 1.0 + len(models) * (1.0 if study.sessions == self.sessions else 0.2) * max(1.0, self.queries / 60)
        return fixed + clicks * (_NEURAL_SECONDS * len(models) if study.neural else _CLASSIC_SECONDS)


@dataclass(frozen=True)
class Study:
    """One run of the simulation: a user, a logging policy, the sessions of a query; neural: which models learn."""

    user: str
    logging: str
    run: int
    sessions: int = PER_QUERY
    neural: bool = False

    @property
    def log(self) -> str:
        """Return a name of its log, which both kinds of models learn from."""
        return f"{self.user}-{self.logging}-{self.sessions}-{self.run}"

    @property
    def name(self) -> str:
        """Return the name of its file."""
        return f"{self.log}-neural" if self.neural else self.log

    def __str__(self) -> str:
        what = f", {self.sessions} sessions a query{', neural models' if self.neural else ''}"
        return f"{self.user}, {self.logging}{what}, run {self.run + 1}"


@dataclass(frozen=True)
class ScoredQueries:
    """Queries with equally many documents, and LambdaMART's scores [q, m]; dropped: queries with fewer."""

    judged: Judged
    lambdamart: Floats
    dropped: int

    def sampled(self, queries: int, seed: int) -> ScoredQueries:
        """Return at most so many of the queries, drawn at random."""
        if len(self.judged) <= queries:
            return self
        kept = np.sort(np.random.default_rng(seed).choice(len(self.judged), queries, replace=False))
        return replace(self, judged=self.judged.take(kept), lambdamart=self.lambdamart[kept])

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
            sampled, dropped = sampled_by_grade(judged, documents, 0, design.preset)
            scores = LambdaMART(design.trees).scores(sampled, 0)
            scored = ScoredQueries(sampled, sampled.table(scores), dropped)
            found[documents] = scored.sampled(design.queries, design.seed)
        return cls(design, data, found)

    def of_user(self, user: str) -> ScoredQueries:
        """Return the queries of a user, which depend on the user's number of documents."""
        return self.found[self.design.documents_of(user)]

    def world(self, study: Study) -> JudgedWorld:
        """Return the world of a study."""
        scored, preset = self.of_user(study.user), self.design.preset
        # As in the published code, the oracle's noise is drawn once for all runs.
        scores = scored.scores(preset, ORACLE_SEED)
        user = _user(study.user, max(float(scored.grade.max()), 1.0), preset)
        temperature = FIGURE_TEMPERATURE if study.user == FIGURE else 0.1
        tables = scored.judged.query, scored.judged.table(scored.judged.document), scored.grade
        return JudgedWorld(*tables, scores, user, temperature=temperature)

    @property
    def digest(self) -> str:
        """Return a hash of the queries, grades and scores."""
        made = hashlib.sha256()
        for _, scored in sorted(self.found.items()):
            for table in (scored.judged.query, scored.judged.document, scored.grade, scored.lambdamart):
                made.update(np.ascontiguousarray(table).tobytes())
        return made.hexdigest()[:16]


def _user(name: str, highest: float, preset: Preset) -> User:
    if name in {MIXTURE, CAROUSEL}:
        return (MixtureDBNUser if name == MIXTURE else CarouselUser)(highest=highest, preset=preset)
    if name == DBN:
        return DBNUser(highest=highest) if preset == "paper" else PublishedDBNUser(highest=highest)
    return PBMUser(highest=highest)


def seed_of(*parts: Any) -> int:
    """Return a seed that depends on all arguments."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4], "big")


def _judged(design: StudyDesign, log: Any) -> tuple[Judged, str]:
    judged, name = judged_queries(log, design.judged, design.seed)
    if len(judged) > design.judged:
        chosen = np.random.default_rng(design.seed).choice(len(judged), design.judged, replace=False)
        judged = judged.take(np.sort(chosen))
    return judged, f"{len(judged):,} {name}"
