"""Recipes of what strangers bring: each log, what `inspect` says drew it, and what the command that it prints answers.

    python -m benchmarks.strangers.recipes --write

Worlds have queries with click rates by item and a known decay by rank, so that what a ranking earns is a sum.
"""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

import offrank
from benchmarks._page import markdown_head, run
from benchmarks.strangers.worlds import best, chances, teams
from offrank.cli import main as command_line

QUERIES, ITEMS, SLOTS, ROWS = 40, 6, 3, 5000
SEEN = np.array([1.0, 0.6, 0.4])
"""How often each rank is looked at."""
EVEN = np.zeros((QUERIES, ITEMS))
Row = dict[str, Any]


class World:
    """Click rates and scores of the items of some queries, and a log with a list for each request."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.rate = self.rng.beta(1.2, 3.0, (QUERIES, ITEMS))
        self.old, self.new = (self.rng.normal(size=(QUERIES, ITEMS)) + weight * self.rate for weight in (1.5, 2.0))
        self.query = self.rng.integers(0, QUERIES, ROWS)

    def sampled(self, scores: Any = EVEN) -> Any:
        """Lists drawn by Plackett-Luce from logits of the queries."""
        return best(scores[self.query] + self.rng.gumbel(size=(ROWS, ITEMS)), SLOTS)

    def sorted_by(self, scores: Any) -> Any:
        return best(scores[self.query], SLOTS)

    def earns(self, scores: Any) -> float:
        """What the items with the highest scores earn in a random request."""
        return float((np.take_along_axis(self.rate, best(scores, SLOTS), axis=1)[self.query] * SEEN).sum(axis=1).mean())

    def rows(self, shown: Any, *scores: str, pool: bool = True) -> list[Row]:
        """A row per list. scores: those beside the candidates, which pool leaves out."""
        clicks = (self.rng.random((ROWS, SLOTS)) < self.rate[self.query[:, None], shown] * SEEN).astype(int)
        return [
            {"query": f"q{query}", "slate": [f"d{one}" for one in shown[at]], "clicks": clicks[at].tolist()}
            | ({"candidates": [f"d{one}" for one in range(ITEMS)]} if pool else {})
            | {name: getattr(self, name)[query].tolist() for name in scores}
            for at, query in enumerate(self.query)
        ]

    def explored(self, share: float, shown: Any) -> tuple[Any, Any]:
        """Lists of which a share are random; which."""
        which = self.rng.random(ROWS) < share
        shown[which] = self.sampled()[which]
        return shown, which


def uniform(world: World) -> list[Row]:
    return world.rows(world.sampled(), "new")


def costs(world: World) -> list[Row]:
    """A score of which the lowest is best, as `inspect` cannot know, under negative numbers."""
    world.new = -np.abs(world.new) - 1
    return uniform(world)


def ids_in_text(world: World) -> list[Row]:
    rows = uniform(world)
    for row in rows:
        row["clicked"] = "|".join(item for item, click in zip(row["slate"], row.pop("clicks"), strict=True) if click)
    return rows


def null_clicks(world: World) -> list[Row]:
    return [{**row, "clicks": row["clicks"] if any(row["clicks"]) else None} for row in uniform(world)]


def structs(world: World) -> list[Row]:
    """Lists of structs beside their candidates, drawn by v1."""
    found = []
    for at, row in enumerate(world.rows(world.sampled(world.old), "old", "new")):
        shown = zip(row["slate"], row["clicks"], strict=True)
        results = [
            {"product": {"id": one}, "slot": rank, "clicked": bool(it)} for rank, (one, it) in enumerate(shown, 1)
        ]
        pool = zip(row["candidates"], row["old"], row["new"], strict=True)
        able = [{"product_id": one, "v1": old, "v2": new} for one, old, new in pool]
        found.append({"req": f"r{at}", "query": row["query"], "results": results, "candidates": able})
    return found


def flagged(values: tuple[Any, Any], name: str) -> Callable[[World], list[Row]]:
    """A bucket of random lists. values: of its rows and of the others."""

    def made(world: World) -> list[Row]:
        shown, which = world.explored(0.15, world.sorted_by(world.old))
        return [{**row, name: values[not at]} for row, at in zip(world.rows(shown, "new"), which, strict=True)]

    return made


def team_draft(world: World) -> list[Row]:
    """Two rankings merged, each of which is logged as far as it could be shown."""
    both = [world.sorted_by(each) for each in (world.old, world.new)]
    shown = np.array([teams(world.rng, [each[at].tolist() for each in both], SLOTS) for at in range(ROWS)])
    beside = ({name: [f"d{one}" for one in each[at]] for name, each in zip(("rank_a", "rank_b"), both, strict=True)}
              for at in range(ROWS))  # fmt: skip
    return [{**row, **more} for row, more in zip(world.rows(shown, pool=False), beside, strict=True)]


def shuffled_top(world: World) -> list[Row]:
    shown = world.sorted_by(world.old)
    shown[:, :2] = world.rng.permuted(shown[:, :2], axis=1)
    return world.rows(shown, "old", "new")


def random_arms(world: World) -> list[Row]:
    """An A/B test of two rankers that draw, of which neither scores nor candidates are logged."""
    arm = world.rng.integers(0, 2, ROWS)
    shown = np.where(arm[:, None] == 0, world.sampled(world.old), world.sampled(world.new))
    return [{**row, "variant": "AB"[one]} for row, one in zip(world.rows(shown, pool=False), arm, strict=True)]


def tied(explored: float, *, chance: bool) -> Callable[[World], list[Row]]:
    """Sorted by a score of few values. chance: whether a coin breaks ties, else the order of the candidates."""

    def made(world: World) -> list[Row]:
        world.old = np.round(0.7 * world.old)
        by = world.rng.random((ROWS, ITEMS)) if chance else np.broadcast_to(np.arange(ITEMS), (ROWS, ITEMS))
        shown, _ = world.explored(explored, np.lexsort((by, -world.old[world.query]), axis=1)[:, :SLOTS])
        return world.rows(shown, "old", "new")

    return made


def slot_probabilities(world: World) -> list[Row]:
    """The probability of each slot given those above, without the pool."""
    shown, found = world.sampled(world.old), []
    p = chances(world.old[world.query], shown)
    for at, row in enumerate(world.rows(shown, pool=False)):
        parts = zip(row["slate"], p[at].tolist(), row["clicks"], strict=True)
        slots = [{"item": item, "p": chance, "click": click} for item, chance, click in parts]
        found.append({"query": row["query"], "slots": slots})
    return found


def one_bad_propensity(world: World) -> list[Row]:
    """The probability of each list, of which one is 1.043."""
    shown = world.sampled(world.old)
    p = chances(world.old[world.query], shown).prod(axis=1)
    p[77] = 1.043
    return [{**row, "propensity": one} for row, one in zip(world.rows(shown, "new"), p.tolist(), strict=True)]


def logarithms(world: World) -> list[Row]:
    shown = world.sampled(world.old + 0.5 * world.new)
    return [{**row, "logp": -1 - at % 7 / 3} for at, row in enumerate(world.rows(shown, "new"))]


RECIPES: dict[str, tuple[Callable[[World], list[Row]], str]] = {
    "random lists, a score": (uniform, "new"),
    "the same, scores below 0": (costs, "new"),
    "clicked ids as `d3\\|d5`": (ids_in_text, "new"),
    "null where nothing was clicked": (null_clicks, ""),
    "lists of structs, drawn by `v1`": (structs, "new"),
    "15 % explored, a flag": (flagged((True, False), "explored"), "new"),
    "15 % explored, `Zufall` is ja or nein": (flagged(("ja", "nein"), "Zufall"), "new"),
    "15 % explored, the others without a value": (flagged(("epsilon", None), "mode"), "new"),
    "two rankings merged by team draft": (team_draft, ""),
    "the first two shuffled": (shuffled_top, "old"),
    "two random arms, nothing beside them": (random_arms, ""),
    "ties broken by a coin": (tied(0.0, chance=True), ""),
    "ties broken by the candidates' order, 15 % explored": (tied(0.15, chance=False), ""),
    "`slots.p` without the pool": (slot_probabilities, ""),
    "a propensity of 1.043": (one_bad_propensity, ""),
    "`logp` for the propensity": (logarithms, ""),
}
"""Each with the score whose value the command tells, if it tells one."""


def answered(command: str) -> str:
    """Run a command and those that it prints; return the first sentence of the last, or how it fails."""
    out, errors = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        try:
            command_line(shlex.split(command)[1:], prog_name="offrank")
            ended = 0
        except SystemExit as end:
            ended = int(end.code or 0)
    more = re.search(r"^  (offrank .*)", out.getvalue(), re.MULTILINE)
    if command.split()[1] == "inspect" and more:
        return answered(more[1])
    said = " ".join(out.getvalue().split())
    value = re.search(r"would have earned ([\d.]+)[^(]*\([^)]*?([\d.]+) to ([\d.]+)\)", said)
    if ended not in (0, 3):
        return f"fails: {errors.getvalue().strip()[:60]}"
    return f"{value[1]} ({value[2]} to {value[3]})" if value else command.split()[1]


def recipe(name: str, seed: int) -> str:
    """Return the row of a recipe."""
    make, score = RECIPES[name]
    world = World(seed)
    Path("log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in make(world)))
    found = offrank.inspect("log.jsonl")
    law = found.logging
    said = "asked" if law is None else f"`{law.policy}`, {law.status}" if law.policy else law.status
    said += f": `{law.bucket}`" if law is not None and law.bucket else ""
    said = "its clicks cannot be read" if law is not None and found.unreadable else said
    verb = " ".join(found.command.split()[1:3] if "clicks fit" in found.command else found.command.split()[1:2])
    end = answered(found.command) if found.command else "nothing"
    truth = f"{world.earns(getattr(world, score)):.3f}" if score else ""
    return f"| {name} | {said} | {verb and f'`{verb}`'} | {end if truth else ''} | {truth} |"


def recipes(*, seed: int = 5) -> Iterator[str]:
    """Each log, what `inspect` says drew it, and what the command that it prints answers."""
    yield from markdown_head("a log of", "drawn by, as `inspect` says", "next", "which says", "truth", left=4)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for number, name in enumerate(RECIPES):
            yield recipe(name, seed + number)


COMMANDS = {recipes: "recipes"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
