"""Click models on real search sessions, beside CLAX and PyClick: the table of docs/reference/benchmarks.md.

Every fifth session is held out; all systems learn from the same others and predict the same held-out ones. Here their
predictions are scored, by one formula: log-likelihood per session (nats) of all clicks by the chain rule, and
perplexity, the mean over ranks of 2^(mean bits of loss at the rank), of clicks predicted without and with those above.
Probabilities are kept 1e-10 from 0 and 1.

CLAX is installed from the Python package index into an environment of its own, in the folder --peers. PyClick is in no
package index: --pyclick is the folder of a checkout of your own, which is run in that environment, too.

    python -m benchmarks.real_clicks real-clicks [--log path/to/trainSample] [--models pbm ubm] [--peers FOLDER]
        [--pyclick FOLDER]
    python -m benchmarks.real_clicks held-out [--log path/to/trainSample]
"""

from __future__ import annotations

import subprocess
import sys
import time
import venv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

import offrank
import offrank_papers.neural  # noqa: F401  which makes `ncm` and `cacm` known
from benchmarks._page import markdown_head, markdown_row, run
from offrank.clicks import click_model
from offrank.log.source import Needs, Source
from offrank.readers import yandex

HERE = Path(__file__).resolve().parent
SAMPLE = HERE.parents[1] / "shared" / "data" / "yandex-relpred" / "trainSample"
CLAX = ("clax-models==0.1.1", "jax==0.7.2")  # its flax cannot be imported beside a later JAX
MODELS = {  # of offrank: as the two runners call them
    "gctr": {"clax": "GlobalCTRModel", "pyclick": "GCTR"},
    "rctr": {"clax": "RankCTRModel", "pyclick": "RCTR"},
    "dctr": {"clax": "DocumentCTRModel", "pyclick": "DCTR"},
    "rdctr": {"clax": "DocumentRankCTRModel"},
    "pbm": {"clax": "PositionBasedModel", "pyclick": "PBM"},
    "ubm": {"clax": "UserBrowsingModel", "pyclick": "UBM"},
    "cascade": {"clax": "CascadeModel", "pyclick": "CM"},
    "dcm": {"clax": "DependentClickModel", "pyclick": "DCM"},
    "ccm": {"clax": "ClickChainModel", "pyclick": "CCM"},
    "sdbn": {"clax": "SDBN", "pyclick": "SDBN"},
    "dbn": {"clax": "DynamicBayesianNetwork", "pyclick": "DBN"},
    "trust": {},
    "ncm": {},
    "cacm": {},
}
CLIP = 1e-10


@dataclass(frozen=True)
class Log:
    """Sessions in memory: query [n], items [n, k], clicks [n, k] 0 or 1."""

    query: np.ndarray
    items: np.ndarray
    clicks: np.ndarray

    def where(self, rows: np.ndarray) -> Log:
        """Some of the sessions."""
        return Log(self.query[rows], self.items[rows], self.clicks[rows])

    def source(self) -> Source:
        """The same as a log of offrank."""
        rows = {"query": self.query, "slate": self.items.tolist(), "clicks": self.clicks.tolist()}
        return offrank.read_log(pa.table(rows))


@dataclass(frozen=True)
class Found:
    """Predicted click chances [n, k] of the held-out sessions, without and with the clicks above, and CPU seconds."""

    marginal: np.ndarray
    conditional: np.ndarray
    seconds: float

    def scores(self, clicks: np.ndarray) -> tuple[float, float, float]:
        """(log-likelihood per session, perplexity, conditional perplexity)."""
        before, given = (_bits(chance, clicks) for chance in (self.marginal, self.conditional))
        return -float(given.sum(axis=1).mean()) * np.log(2), *(
            float(np.exp2(b.mean(axis=0)).mean()) for b in (before, given)
        )


def _bits(chance: np.ndarray, clicks: np.ndarray) -> np.ndarray:
    """[n, k] -log2 P of what happened."""
    kept = np.clip(chance.astype(np.float64), CLIP, 1 - CLIP)
    return -np.log2(np.where(clicks > 0, kept, 1 - kept))


def sessions(path: Path) -> Log:
    """All sessions of a file, with the names of their queries."""
    source = yandex(path).select(Needs(frozenset(["clicks"]), labels=frozenset(["query"])))
    batches = [batch for part in range(source.parts()) for batch in source.batches(part)]
    labels = [np.array(batch.labels["query"].names)[batch.labels["query"].codes] for batch in batches]
    items = [np.take_along_axis(batch.contexts.candidates, batch.slates, axis=1) for batch in batches]
    return Log(*map(np.concatenate, (labels, items, [batch.clicks for batch in batches])))


def read(path: Path) -> tuple[Log, Log]:
    """(sessions to learn from, every fifth session); queries are numbers, clicks 0 or 1."""
    found = sessions(path)
    _, query = np.unique(found.query, return_inverse=True)
    whole, held = Log(query, found.items, (found.clicks > 0).astype(np.int64)), np.arange(len(query)) % 5 == 0
    return whole.where(~held), whole.where(held)


def ours(names: list[str], known: Log, held: Log) -> Iterator[tuple[str, Found]]:
    """Every model of offrank: a fit from the table in memory, all passes over it included.

    What Numba compiles once and keeps on disk is compiled before; what JAX compiles each time counts.
    """
    test = held.source().select(Needs(frozenset(["clicks"]), keys=frozenset(["query"])))
    batches = [batch for part in range(test.parts()) for batch in test.batches(part)]
    for name in names:
        click_model(name).fit(known.where(np.arange(len(known.query)) < 300).source(), by="query")
        log, start = known.source(), time.process_time()
        fitted = click_model(name).fit(log, by="query")
        seconds = time.process_time() - start
        laws = [(fitted.law(batch.contexts, batch.slates), batch.clicks) for batch in batches]
        marginal = np.concatenate([law.marginal() for law, _ in laws])
        yield name, Found(marginal, np.concatenate([law.conditional(clicks) for law, clicks in laws]), seconds)


def of_peers(runner: str, names: list[str], folder: Path, *more: str) -> Iterator[tuple[str, Found]]:
    """The models of a runner beside this file, run by the environment in the folder."""
    for name in (name for name in names if runner in MODELS[name]):
        made = folder / f"{runner}.npz"
        made.unlink(missing_ok=True)
        command = [
            str(python_of(folder)),
            str(HERE / "_peers.py"),
            runner,
            str(folder / "log.npz"),
            str(made),
            MODELS[name][runner],
        ]
        if subprocess.run([*command, *more], check=False, stdout=subprocess.DEVNULL).returncode or not made.is_file():
            print(f"{runner}: {name} failed", file=sys.stderr)
            continue
        with np.load(made) as found:
            yield name, Found(found["marginal"], found["conditional"], float(found["seconds"]))


def told(system: str, clicks: np.ndarray, found: Iterator[tuple[str, Found]]) -> Iterator[tuple[str, Found]]:
    """The same, each said as soon as it is known."""
    for name, one in found:
        print(f"{system} {name}: {' | '.join(numbers(one, clicks))}", file=sys.stderr, flush=True)
        yield name, one


def python_of(folder: Path) -> Path:
    return folder / "bin" / "python"


def exported(folder: Path, known: Log, held: Log) -> None:
    """Write both parts with documents as numbers from 1, of all pairs of query and item."""
    both = [np.stack([np.repeat(log.query, log.items.shape[1]), log.items.ravel()], axis=1) for log in (known, held)]
    _, place = np.unique(np.concatenate(both), axis=0, return_inverse=True)
    number = 1 + place.reshape(-1, known.items.shape[1])
    n = len(known.query)
    named = {"known": number[:n], "held": number[n:], "known_clicks": known.clicks, "held_clicks": held.clicks}
    np.savez(folder / "log.npz", **named, known_query=known.query, held_query=held.query)


def install(folder: Path) -> None:
    """Make the environment of the peers, where there is none yet."""
    if not python_of(folder).is_file():
        venv.create(folder, with_pip=True)
    if subprocess.run([str(python_of(folder)), "-c", "import clax"], check=False, capture_output=True).returncode:
        subprocess.run([str(python_of(folder)), "-m", "pip", "install", "-q", *CLAX], check=True)


QUANTITIES = ("log-likelihood", "perplexity", "conditional perplexity", "CPU s")


def numbers(found: Found, clicks: np.ndarray) -> list[str]:
    """The quantities of one model, as text."""
    likelihood, before, given = found.scores(clicks)
    return [f"{likelihood:.4f}", f"{before:.4f}", f"{given:.4f}", f"{found.seconds:.2g}"]


def real_clicks(
    *,
    log: Path = SAMPLE,
    models: tuple[str, ...] = tuple(MODELS),
    peers: Path | None = None,
    pyclick: Path | None = None,
) -> Iterator[str]:
    """A row per model: each quantity by each system.

    log: a file in the format of the Yandex challenge. peers: the folder of an environment for CLAX, made where there is
    none; pyclick: of a checkout of PyClick.
    """
    if pyclick and not peers:
        raise SystemExit("PyClick runs in the environment of the peers: give its folder with --peers")
    known, held = read(there(log))
    names = list(models)
    each = {"offrank": dict(told("offrank", held.clicks, ours(names, known, held)))}
    if peers:
        install(peers)
        exported(peers, known, held)
        each["CLAX"] = dict(told("CLAX", held.clicks, of_peers("clax", names, peers)))
    if peers and pyclick:
        found = of_peers("pyclick", names, peers, str(pyclick.resolve()))
        each["PyClick"] = dict(told("PyClick", held.clicks, found))
    yield f"{len(known.query):,} sessions to learn from, {len(held.query):,} held out"
    yield ""
    yield from markdown_head("model", *(f"{what}: {system}" for what in QUANTITIES for system in each))
    for name in names:
        if any(name in found for found in each.values()):
            by_system = [numbers(found[name], held.clicks) if name in found else [""] * 4 for found in each.values()]
            yield markdown_row(f"`{name}`", *(words[at] for at in range(len(QUANTITIES)) for words in by_system))


# Held-out rankings ----------------------------------------------------------------------------------------------------

RANKINGS = 3  # targets per query
FEWEST = 50  # held-out impressions of a target
ESTIMATORS = ["logged", "ipm", "interpol(window=1)", "interpol(window=2)", "interpol(window=3)", "pbm"]


@dataclass(frozen=True)
class Trial:
    """One target of one query: its held-out mean clicks, and what each estimator said."""

    query: str
    held_out: int
    truth: float
    noise: float
    estimates: dict[str, float]

    def error(self, estimator: str) -> float:
        """Estimate less truth, in clicks per impression."""
        return self.estimates[estimator] - self.truth


def targets(log: Log, nth: int) -> dict[str, tuple[int, ...]]:
    """Each query's nth most frequent ranking, where it was shown often enough."""
    shown: dict[str, Counter[tuple[int, ...]]] = {}
    for query, slate in zip(log.query.tolist(), log.items.tolist(), strict=True):
        shown.setdefault(query, Counter())[tuple(slate)] += 1
    ranked = {query: counts.most_common(nth + 1)[nth:] for query, counts in shown.items()}
    return {query: found[0][0] for query, found in ranked.items() if found and found[0][1] >= FEWEST}


def trials(log: Log) -> Iterator[Trial]:
    """Every target of every query, estimated without the impressions that showed it."""
    for nth in range(RANKINGS):
        target = targets(log, nth)
        log_of_targets = log.where(np.isin(log.query, list(target)))
        wanted = np.array([target[query] for query in log_of_targets.query.tolist()])
        held_out = (log_of_targets.items == wanted).all(axis=1)
        yield from _judge(log_of_targets, wanted, held_out)


def _judge(log: Log, wanted: np.ndarray, held_out: np.ndarray) -> Iterator[Trial]:
    others, truth = log.where(~held_out), log.where(held_out)
    by_rank = others.clicks.mean(axis=0)
    table = pa.table(
        {
            "query": others.query,
            "slate": others.items.tolist(),
            "clicks": others.clicks.tolist(),
            "target": wanted[~held_out].tolist(),
        }
    )
    result = offrank.evaluate(
        offrank.read_log(table),
        target=offrank.Ranking("target"),
        logging=offrank.Counted(by="query"),
        estimators=ESTIMATORS,
        examination=by_rank / by_rank[0],  # rank CTR: too steep, since better documents stand higher
        by="query",
    )
    for query, estimates in result.groups.items():
        clicks = truth.clicks[truth.query == query].sum(axis=1)
        noise = float(clicks.std(ddof=1) / np.sqrt(len(clicks)))
        found = {name: estimate.value for (_, name), estimate in estimates.given.items()}
        yield Trial(query, len(clicks), float(clicks.mean()), noise, found)


def root_mean_square(found: list[Trial], estimator: str) -> float:
    """Root mean square error over the trials in which the estimator gave a value."""
    errors = [trial.error(estimator) for trial in found if estimator in trial.estimates]
    return float(np.sqrt(np.mean(np.square(errors)))) if errors else float("nan")


def there(log: Path) -> Path:
    """The file, if it is there."""
    if not log.is_file():
        raise SystemExit(f"no sessions at {log}: give the path of a file in the format of the Yandex challenge")
    return log


def held_out(*, log: Path = SAMPLE) -> Iterator[str]:
    """Estimates against held-out clicks: the mean clicks of a ranking, from the sessions that showed others.

    Each query's most frequent rankings are taken in turn as the target. The impressions that showed exactly that
    ranking are held out: their mean clicks are the truth. It is estimated from the query's other impressions, with rank
    propensities counted in those. The last line has the root mean squares of the errors over all trials; the truth's
    own noise (± two standard errors) is part of it.
    """
    found = list(trials(sessions(there(log))))
    yield from markdown_head("query", "held out", "truth", *(f"`{name}`" for name in ESTIMATORS))
    for trial in sorted(found, key=lambda trial: -trial.held_out):
        values = [f"{trial.estimates[e]:.3f}" if e in trial.estimates else "none" for e in ESTIMATORS]
        yield markdown_row(trial.query, f"{trial.held_out:,}", f"{trial.truth:.3f} ± {2 * trial.noise:.3f}", *values)
    yield markdown_row("error", "", "", *(f"{root_mean_square(found, e):.3f}" for e in ESTIMATORS))


COMMANDS = {real_clicks: "", held_out: ""}
if __name__ == "__main__":
    run(__file__, COMMANDS)
