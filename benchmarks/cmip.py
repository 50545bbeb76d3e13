"""CMIP on worlds whose conditional mutual information is known: error, spread, coverage, null and CPU seconds.

Grades 0 to 4 in MSLR's proportions; relevance and logging relevance depend on each other within each grade by a
Gaussian copula of correlation rho, so that the truth is -log(1 - rho^2) / 2, and by other laws in a later table.

Then click models, right and wrong, fitted to simulated logs: CMIP by posterior draws and by point estimates, the
direction, and the floor of each.

    python benchmarks/cmip.py methods [--logs 200] [--slow 3] [--methods binned classifier paper]
    python benchmarks/cmip.py models [--fits 20]
    python benchmarks/cmip.py excess [--fits 20]
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from _page import markdown_head, markdown_row
from _page import run as run_commands

from offrank.clicks.model import click_model
from offrank.clicks.sessions import SessionsFold
from offrank.log.source import needs
from offrank.metrics import Cmip, cmip, cmip_of
from offrank.metrics.cmip_methods import Binned, CmiMethod
from offrank.running.executors import run
from offrank.simulation.judged_queries import mslr_like, stratified
from offrank.simulation.source import SimulatedSource
from offrank.simulation.users import DBNUser, PBMUser
from offrank.simulation.worlds import JudgedWorld
from offrank_papers.cmip_methods import Classifier, Paper

SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]
METHODS: dict[str, CmiMethod] = {"binned": Binned(), "classifier": Classifier(), "paper": Paper()}
CORRELATIONS = (0.0, 0.3, 0.6, 0.9)
#: What the published code and the published package say on such worlds, mean of 3 seeds.
PUBLISHED = {
    58_880: {0.0: (-0.0222, -0.0231), 0.3: (0.0201, 0.0198), 0.6: (0.1871, 0.1881), 0.9: (0.7434, 0.7495)},
    5_000: {0.0: (-0.2755, -0.2660), 0.3: (-0.2371, -0.2277), 0.6: (-0.0728, -0.0796), 0.9: (0.4500, 0.4165)},
}
Columns = tuple[np.ndarray, np.ndarray]
Law = Callable[[int, np.random.Generator], Columns]


def gaussian(rho: float) -> Law:
    def draw(n: int, rng: np.random.Generator) -> Columns:
        noise = rng.normal(size=(2, n))
        return rho * noise[0] + math.sqrt(1 - rho**2) * noise[1], noise[0]

    return draw


def bounded(n: int, rng: np.random.Generator) -> Columns:
    """Copula density 1 + .9 (1 - 2u) (1 - 2v), by inversion."""
    u, w = rng.random((2, n))
    slope = 0.9 * (1 - 2 * u)
    return u, 2 * w / (1 + slope + np.sqrt((1 + slope) ** 2 - 4 * slope * w))


def parabola(n: int, rng: np.random.Generator) -> Columns:
    x = rng.uniform(-1, 1, size=n)
    return x, x**2 + 0.3 * rng.normal(size=n)


def steps(n: int, rng: np.random.Generator) -> Columns:
    x = rng.integers(5, size=n).astype(float)
    return x, x + 2 * rng.random(n)


def half_equal(n: int, rng: np.random.Generator) -> Columns:
    x, noise = rng.normal(size=(2, n))
    return np.maximum(x, 0), 0.6 * x + 0.8 * noise


def band(n: int, rng: np.random.Generator) -> Columns:
    x = rng.random(n)
    return x, (x + 0.2 * rng.random(n)) % 1


def tails(n: int, rng: np.random.Generator) -> Columns:
    both = rng.normal(size=(2, n)) / np.sqrt(rng.chisquare(3, n) / 3)
    return both[0], both[1]


OTHERS: dict[str, tuple[Law, float]] = {
    "bounded density, 1 + .9 (1 - 2u)(1 - 2v)": (bounded, 0.0477),
    "parabola with noise, no correlation": (parabola, 0.3358),
    "five values, and a continuous one": (steps, math.log(5) - 0.8 * math.log(2)),
    "half of the relevances are equal": (half_equal, 0.1769),
    "band with hard edges": (band, math.log(5)),
    "dependence in the far tails only (Student, 3)": (tails, 0.0426),
}


def documents(law: Law, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Relevance, logging and grade [n]."""
    rng = np.random.default_rng(seed)
    grade = rng.choice(len(SHARES), size=n, p=SHARES)
    relevance, logging = law(n, rng)
    return relevance, logging, grade


@dataclass(frozen=True)
class Runs:
    """Results of one method on several logs of one world, and CPU seconds for each."""

    found: Sequence[Cmip]
    truth: float
    seconds: float

    @classmethod
    def of(cls, law: Law, truth: float, n: int, logs: int, method: str, permutations: int = 0) -> Runs:
        given = [documents(law, n, seed) for seed in range(logs)]
        how = METHODS[method]
        cmip(*given[0], how, permutations=0)  # loads what the method needs
        start = time.process_time()
        found = [cmip(*one, how, permutations=permutations, seed=seed) for seed, one in enumerate(given)]
        return cls(found, truth, (time.process_time() - start) / logs)

    @property
    def values(self) -> np.ndarray:
        return np.array([one.value for one in self.found])

    @property
    def coverage(self) -> float:
        return float(np.mean([one.low <= self.truth <= one.high for one in self.found]))

    @property
    def width(self) -> float:
        return float(np.mean([one.high - one.low for one in self.found]))

    def below(self, level: float) -> float:
        """Share of the p-values that are at most so large."""
        return float(np.mean([one.p_value <= level for one in self.found if one.p_value is not None]))

    def cells(self) -> list[str]:
        values = self.values
        return [
            f"{values.mean():.4f}",
            f"{values.mean() - self.truth:+.4f}",
            f"{values.std():.4f}",
            f"{self.seconds:.2f}",
        ]


def truth_of(rho: float) -> float:
    return abs(math.log(1 - rho**2)) / 2


def show(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table under its title."""
    yield f"{title}:\n"
    yield from markdown_head(*headings)
    yield from (markdown_row(*row) for row in rows)
    yield ""


def errors(method: str, logs: dict[int, int]) -> Iterator[str]:
    rows = []
    for n, published in PUBLISHED.items():
        for rho in CORRELATIONS:
            runs = Runs.of(gaussian(rho), truth_of(rho), n, logs[n], method)
            theirs = [f"{value:.4f}" for value in published[rho]]
            rows.append([f"{n:,}", f"{rho}", f"{runs.truth:.4f}", *runs.cells(), f"{runs.coverage:.2f}", *theirs])
    headings = ["documents", "rho", "truth", "mean", "bias", "sd", "CPU s", "coverage", "published code", "package"]
    yield from show(f"{method}: {logs[58_880]} and {logs[5_000]} logs", headings, rows)


def smaller(logs: int) -> Iterator[str]:
    """From how many documents on `binned` can be used."""
    rows = []
    for n in (200, 500, 1_000, 2_000, 5_000):
        for rho in CORRELATIONS:
            runs = Runs.of(gaussian(rho), truth_of(rho), n, logs, "binned", permutations=99)
            refuted = f"{runs.below(0.05):.2f}"
            rows.append([f"{n:,}", f"{rho}", *runs.cells(), f"{runs.coverage:.2f}", f"{runs.width:.3f}", refuted])
    headings = ["documents", "rho", "mean", "bias", "sd", "CPU s", "coverage", "width", "refuted at .05"]
    yield from show(f"binned with 99 permutations, {logs} logs", headings, rows)


def null(logs: int) -> Iterator[str]:
    rows = []
    for method, n, repeats in (("binned", 1_000, logs), ("binned", 5_000, logs), ("classifier", 1_000, logs // 4)):
        runs = Runs.of(gaussian(0.0), 0.0, n, repeats, method, permutations=39)
        rows.append([method, f"{n:,}", str(repeats), *(f"{runs.below(level):.3f}" for level in (0.05, 0.1, 0.5, 0.9))])
    yield from show(
        "p-values where the model is debiased",
        ["method", "documents", "logs", "<= .05", "<= .1", "<= .5", "<= .9"],
        rows,
    )


def by_query(logs: int) -> Iterator[str]:
    """100 queries of 20 documents whose levels differ in both: what is refuted without and with `cluster`."""
    rows = []
    quick = Binned(replicates=2)
    for spread in (0.0, 0.5, 1.0):
        for rho in (0.0, 0.1, 0.2):
            below = np.zeros(2)
            for seed in range(logs):
                rng = np.random.default_rng(seed)
                grade = rng.choice(len(SHARES), (100, 20), p=SHARES)
                levels, noise = spread * rng.normal(size=(2, 100, 1)), rng.normal(size=(2, 100, 20))
                relevance = grade + levels[0] + rho * noise[0] + math.sqrt(1 - rho**2) * noise[1]
                given = (relevance.ravel(), (grade + levels[1] + noise[0]).ravel(), grade.ravel())
                for place, cluster in enumerate((None, np.arange(100).repeat(20))):
                    found = cmip(*given, quick, permutations=99, seed=seed, cluster=cluster)
                    below[place] += bool(found.dependent()) / logs
            rows.append([f"{spread}", f"{rho}", *(f"{share:.2f}" for share in below)])
    headings = ["levels of queries", "rho", "refuted at .05", "with cluster"]
    yield from show(f"queries that differ, {logs} logs", headings, rows)


def others(logs: dict[int, int]) -> Iterator[str]:
    rows = []
    for name, (law, truth) in OTHERS.items():
        for n, repeats in logs.items():
            runs = Runs.of(law, truth, n, repeats, "binned")
            rows.append([name, f"{n:,}", f"{truth:.4f}", *runs.cells(), f"{runs.coverage:.2f}"])
    yield from show(
        "binned on other laws", ["law", "documents", "truth", "mean", "bias", "sd", "CPU s", "coverage"], rows
    )


QUERIES = 400
MODELS = ("dctr", "rdctr", "pbm", "ubm", "dbn", "pbm(prior=common)")
WORLDS = (("PBM", PBMUser(), 20), ("PBM", PBMUser(), 85), ("DBN", DBNUser(), 20), ("DBN", DBNUser(), 85))


EXCESS = ("dctr", "pbm", "ubm", "pbm(prior=common)")


def judged_models(
    user: object, sessions: int, seed: int, models: Sequence[str] = MODELS, by: Sequence[str] = ("draws", "means")
) -> dict[str, dict[str, Cmip]]:
    """CMIP of each model by draws and by means; 400 queries of 10 documents, ranked by the paper's noisy oracle."""
    judged, _ = stratified(mslr_like(QUERIES, (10, 60), seed), 10, seed)
    world = JudgedWorld.of(judged, user, seed=seed)
    source = SimulatedSource(world, sessions * len(world), seed=seed)
    gathered = run(source.select(needs("clicks", keys="query")), SessionsFold("query"))
    given = (world.contexts(), world.logging_relevance("noisy_oracle"), world.grade)
    found = {}
    for name in models:
        model = click_model(name).of(gathered)
        found[name] = {how: cmip_of(model, *given, relevance=how, permutations=19) for how in by}
    return found


def models(*, fits: int = 20) -> Iterator[str]:
    """Which models are convicted, by the rule of `Cmip.biased` and by the p-value alone; + is towards the policy."""
    headings = ["model", "by", "CMIP ± sd", "its interval ±", "floor", "above", "direction", "its floor"]
    headings += ["convicted", "p <= .05"]
    for world, user, sessions in WORLDS:
        logs = [judged_models(user, sessions, seed) for seed in range(fits)]
        rows = [[name, how, *cells([log[name][how] for log in logs])] for name in MODELS for how in ("draws", "means")]
        yield from show(f"{world} users, {sessions} sessions a query, {fits} logs", headings, rows)


def excess(*, fits: int = 20) -> Iterator[str]:
    """What is above the floor, by draws: of models that are right for users of a PBM, and of a wrong one (`dctr`)."""
    for sessions in (20, 85):
        logs = [judged_models(PBMUser(), sessions, seed, EXCESS, ("draws",)) for seed in range(fits)]
        each = {name: [log[name]["draws"] for log in logs] for name in EXCESS}
        wrong = np.mean([one.excess.value for one in each["dctr"]])
        rows = [[name, *above(found, wrong)] for name, found in each.items()]
        headings = ["model", "CMIP", "floor", "excess ± sd", "of the wrong one's", "holds 0", "convicted"]
        yield from show(f"PBM users, {sessions} sessions a query, {fits} logs", headings, rows)


def above(each: list[Cmip], wrong: float) -> list[str]:
    found = [one.excess for one in each]
    value = [one.value for one in found]
    return [
        f"{np.mean([one.value for one in each]):.3f}",
        f"{np.mean([one.floor.value.value for one in each]):.3f}",
        f"{np.mean(value):+.3f} ± {np.std(value, ddof=1):.3f}",
        f"{np.mean(value) / wrong:+.2f}",
        f"{np.mean([one.low <= 0 <= one.high for one in found]):.2f}",
        f"{np.mean([bool(one.biased) for one in each]):.2f}",
    ]


def cells(each: list[Cmip]) -> list[str]:
    """Means over logs; above: share above the floor's interval."""
    value, half = [one.value for one in each], [(one.high - one.low) / 2 for one in each]
    floors = [one.floor for one in each if one.floor is not None]
    lean = [one.direction.value for one in each if one.direction is not None]
    return [
        f"{np.mean(value):.3f} ± {np.std(value, ddof=1):.3f}",
        f"{np.mean(half):.3f}",
        f"{np.mean([one.value.value for one in floors]):.3f}",
        f"{np.mean([one > floor.value.high for one, floor in zip(value, floors, strict=True)]):.2f}",
        f"{np.mean(lean):+.3f}",
        f"{np.mean([one.direction.value for one in floors]):+.3f}",
        f"{np.mean([bool(one.biased) for one in each]):.2f}",
        f"{np.mean([bool(one.dependent()) for one in each]):.2f}",
    ]


def methods(*, logs: int = 200, slow: int = 3, methods: tuple[str, ...] = tuple(METHODS)) -> Iterator[str]:
    """Errors of each method, and how `binned` does on smaller sets, under the null, by query and on other laws.

    logs: of 5,000 documents, a fifth as many of 58,880; slow: of 58,880 documents for methods that train.
    """
    fifth = max(logs // 5, 2)
    for method in methods:
        yield from errors(method, {58_880: fifth, 5_000: logs} if method == "binned" else {58_880: slow, 5_000: 20})
    yield from smaller(logs)
    yield from null(2 * logs)
    yield from by_query(max(logs // 2, 2))
    yield from others({58_880: max(fifth // 4, 2), 5_000: logs // 2})
    single, start = documents(gaussian(0.3), 58_880, 0), time.perf_counter()
    yield str(cmip(*single))
    yield f"with 200 permutations: {time.perf_counter() - start:.2f} s"


COMMANDS = {methods: "", models: "", excess: ""}
if __name__ == "__main__":
    run_commands(__file__, COMMANDS)
