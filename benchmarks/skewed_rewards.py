"""How often 95 % intervals hold the truth where rewards are skewed, and how often that is said.

Healthy logs of a position-based world, whose clicks earn 1 on average, by laws from a single value to such as have no
variance. For each law and size: the verdicts (sound, with care, none), how often a sound one's interval holds the
truth, then for each estimator the coverage of all its intervals, how many have a warning, and the coverage of the rest.

    python benchmarks/skewed_rewards.py [--logs 400] [--rows 1000 3000] [--workers 2] [--only NAME]
        [--kept FILE] [--write docs/reference/benchmarks.md]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from _page import generated
from trust_worlds.engine import Floats, Law, Users
from trust_worlds.log import Draft, Step
from trust_worlds.world import World

import offrank

SIX = ("ips", "snips", "rips", "snrips", "ipm", "snipm")
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def lognormal(sigma: float) -> Draw:
    return lambda rng, shape: np.exp(sigma * rng.normal(size=shape) - sigma**2 / 2)


def pareto(index: float) -> Draw:
    return lambda rng, shape: (1 + rng.pareto(index, size=shape)) * (index - 1) / index


def gamma(shape: float) -> Draw:
    return lambda rng, size: rng.gamma(shape, 1 / shape, size=size)


def ratings(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """One to five stars, over their mean."""
    return rng.choice(np.arange(1, 6), p=(0.1, 0.1, 0.2, 0.3, 0.3), size=shape) / 3.6


def earning(draw: Draw) -> Step:
    """Every click earns something."""

    def step(draft: Draft) -> None:
        clicks = np.asarray(draft.columns["clicks"])
        draft.columns["clicks"] = clicks * draw(draft.rng, clicks.shape)

    return step


def dense(draw: Draw) -> Step:
    """Every slot earns something, in proportion to the chance of a click."""

    def step(draft: Draft) -> None:
        relevance = draft.engine.columns["relevance"][draft.query[:, None], draft.slate]
        draft.columns["clicks"] = draft.users.expected(relevance) * draw(draft.rng, relevance.shape)

    return step


def world(name: str, *steps: Step, rare: float = 1.0) -> World:
    users = Users(tuple(rare * each for each in Users().curve))
    return World(name, target=Law("near_score", temperature=0.8), users=users, written=steps, estimators=SIX)


WORLDS = {
    one.name: one
    for one in (
        world("clicks"),
        world("stars", earning(ratings)),
        world("gamma 2", earning(gamma(2))),
        world("gamma 0.5", earning(gamma(0.5))),
        world("lognormal 1", earning(lognormal(1))),
        world("lognormal 1.5", earning(lognormal(1.5))),
        world("lognormal 2", earning(lognormal(2))),
        world("lognormal 1, every slot", dense(lognormal(1))),
        world("lognormal 2, every slot", dense(lognormal(2))),
        world("lognormal 1, rare", earning(lognormal(1)), rare=0.2),
        world("lognormal 2, rare", earning(lognormal(2)), rare=0.2),
        world("Pareto 3", earning(pareto(3))),
        world("Pareto 2", earning(pareto(2))),
        world("Pareto 1.5", earning(pareto(1.5))),
    )
}


@dataclass(frozen=True)
class Outcome:
    """What was said of one log. trust: sound, with care or none; held: its interval; each: (held, warned)."""

    trust: str
    held: bool | None
    decided: bool | None
    each: tuple[tuple[bool, bool], ...]


def judged(task: tuple[str, int, int]) -> Outcome:
    """One log of a world, judged."""
    name, rows, seed = task
    here = WORLDS[name]
    result = offrank.evaluate(here.table(rows, seed), **here.question())
    each = []
    for estimator in SIX:
        found = result[estimator]
        warned = any(one.severity != "note" for one in (*found.warnings, *found.about_log))
        each.append((found.low <= here.truth <= found.high, warned))
    said = result.verdict
    if said.value is None or said.difference is None:
        return Outcome("none", None, None, tuple(each))
    away = here.truth - here.unit * here.drawn.value(here.engine, here.users)
    held = said.value.low <= here.truth <= said.value.high
    difference = said.difference.low <= away <= said.difference.high
    return Outcome(said.trust, held, difference, tuple(each))


def share(found: Sequence[bool | None]) -> str:
    """In per cent; of few in brackets with their number."""
    if not found:
        return ""
    percent = 100 * sum(map(bool, found)) / len(found)
    return f"{percent:.0f}" if len(found) >= 100 else f"({percent:.0f}, {len(found)})"


def lines(found: dict[tuple[str, int], list[Outcome]]) -> Iterator[str]:
    """The table as Markdown."""
    header = "| Law of a click's reward | rows | sound / with care / none | sound holds | difference"
    yield f"{header} | {' | '.join(SIX)} |"
    yield "|---|--:|--:|--:|--:|" + "--:|" * len(SIX)
    for (name, rows), outcomes in found.items():
        words = [share([one.trust == word for one in outcomes]) for word in ("sound", "with care", "none")]
        sound = [one for one in outcomes if one.trust == "sound"]
        cells = [name, f"{rows:,}", " / ".join(words), share([one.held for one in sound])]
        cells.append(share([one.decided for one in sound]))
        for place in range(len(SIX)):
            held, warned = zip(*(one.each[place] for one in outcomes), strict=True)
            rest = [hit for hit, said in zip(held, warned, strict=True) if not said]
            cells.append(" / ".join(share(part) for part in (held, warned, rest) if part))
        yield f"| {' | '.join(cells)} |"


def kept(path: Path | None, logs: int) -> dict[tuple[str, int], list[Outcome]]:
    found = {}
    for line in path.read_text().splitlines() if path and path.exists() else ():
        name, rows, outcomes = json.loads(line)
        if len(outcomes) == logs:
            found[name, rows] = [Outcome(*one) for one in outcomes]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logs", type=int, default=400)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 3000])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="laws whose name holds this")
    parser.add_argument("--kept", type=Path, help="a file of what was measured, to go on from")
    parser.add_argument("--write", type=Path, help="the page that includes the table")
    arguments = parser.parse_args()
    found = kept(arguments.kept, arguments.logs)
    with ProcessPoolExecutor(arguments.workers, multiprocessing.get_context("spawn")) as pool:
        for key in ((name, rows) for name in WORLDS if arguments.only in name for rows in arguments.rows):
            if key not in found:
                found[key] = list(pool.map(judged, [(*key, seed) for seed in range(arguments.logs)], chunksize=20))
                if arguments.kept:
                    with arguments.kept.open("a") as file:
                        file.write(json.dumps([*key, [astuple(one) for one in found[key]]]) + "\n")
            print(list(lines({key: found[key]}))[-1], flush=True)
    if arguments.write:
        ordered = {
            (name, rows): found[name, rows] for name in WORLDS for rows in arguments.rows if (name, rows) in found
        }
        made = [f"{arguments.logs} logs of each law and size, in per cent.", "", *lines(ordered)]
        generated(arguments.write, "skewed rewards", made, "benchmarks/skewed_rewards.py")


if __name__ == "__main__":
    main()
