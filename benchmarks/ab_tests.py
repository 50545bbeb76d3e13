"""An A/B test of two rankers that sort: how many sessions the combination saves, and how often it is right.

Users of click models, users for whom no step but the means is right, tests that are clustered, uneven, or of revenue;
rankers from alike to such that share nothing; several sizes. The truth is the expected clicks of both, exactly.

    python benchmarks/ab_tests.py [--logs 200] [--sessions 2000,20000,200000] [--seed 1] [--keep FOLDER] [--by-verb]
                                  [--only alike,near] [--users comparing,bored]
                                  [--write docs/how-to/you-have-an-ab-test.md]

In FOLDER stands what each log said, so that a run goes on where another ended, and several can share the kinds. With
`--logs 0` the tables are made of what stands there. Logs are compared from counts of sessions that are alike, which
says what `compare` does (tests/verbs/test_ab_counts.py); `--by-verb` asks it, and takes 10 to 100 times as long.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from _ab_counts import Comparer
from _ab_worlds import LIKENESS, USERS, Drawn, World
from _page import generated
from numpy.typing import NDArray

import offrank
from offrank.evaluation.ab_test import ArmsCompared
from offrank.language.formatting import percent

Floats = NDArray[np.float64]
LOGGING = "by(arm, {A: top(a_score), B: top(b_score)})"
ASKED = ["snips", "snrips"]
MEANS, COMBINED, ALONE, STEPS = "difference of means", "combined", "if only the lists differ", "steps"
ASKED_FOR = ["PBM", "DBN", "comparing", "best of list", "bottom up", "bored", "clustered", "90 : 10", "revenue"]
TOGETHER = 50
"""Logs of a kind after which what they said is kept."""
LEAST_HELD, MOST_ERROR, FEWEST = 0.93, 1.1, 40
"""What is counted in all kinds: of those with that many logs."""


@dataclass(frozen=True)
class Answer:
    """How one answer did in the logs of one kind: how many had it, the share it held in, error and sessions saved.

    error: over that of the means of the same logs. saved: the median.
    """

    logs: int
    held: float
    error: float
    saved: float

    @classmethod
    def of(cls, logs: Sequence[dict[str, Any]], name: str, true: float) -> Answer | None:
        """None where no log has it."""
        some = [(one[name], one[MEANS]) for one in logs if name in one]
        if not some:
            return None
        (value, low, high), (means, least, most) = np.array(some, float).transpose(1, 2, 0)
        error = np.sqrt(np.mean((value - true) ** 2) / np.mean((means - true) ** 2))
        saved = float(np.median(((most - least) / (high - low)) ** 2))
        return cls(len(some), float(np.mean((low <= true) & (true <= high))), float(error), saved)

    @property
    def cells(self) -> str:
        """What stands of it in a table."""
        return f"{percent(self.held, 1)} | {self.error:.2f} | {self.saved:.2f}"


Answers = dict[str, Answer | None]
Kind = tuple[str, str, int]
"""Likeness, users and sessions."""


def said(found: ArmsCompared) -> dict[str, Any]:
    """What each answer says of a log: value and ends; and by how many standard errors steps are contradicted."""
    answers = {MEANS: found.means, COMBINED: found.combined, ALONE: found.lists_alone}
    steps = {step.estimator: step.contrast.value / step.contrast.standard_error for step in found.steps if step.share}
    return {
        STEPS: steps,
        **{name: [each.value, each.low, each.high] for name, each in answers.items() if each is not None},
    }


def by_verb(drawn: Drawn) -> ArmsCompared:
    """What `compare` says of a log."""
    asked = ASKED if drawn.reward is None else ASKED[:1]
    cluster = "user" if drawn.test.sessions > 1 else None
    found = offrank.compare(drawn.table, None, LOGGING, asked, cluster=cluster).metadata.ab_test
    assert found is not None
    return found.compared[0]


def cell(world: World, kind: Kind, asked: argparse.Namespace) -> list[dict[str, Any]]:
    """What the logs of one kind said, so many or more if these are kept."""
    (likeness, users, sessions), seed = kind, asked.seed
    place = asked.keep and asked.keep / f"{likeness}-{users}-{sessions}-{seed}.json".replace(" ", "")
    found: list[dict[str, Any]] = []
    if place and place.exists():
        found = json.loads(place.read_text(encoding="utf-8"))
    compared = by_verb if asked.by_verb else Comparer(world, USERS[users]).compared
    while len(found) < asked.logs:
        found.append(said(compared(Drawn.of(world, users, sessions, 1000 * seed + len(found)))))
        if place and (len(found) % TOGETHER == 0 or len(found) == asked.logs):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(found), encoding="utf-8")
    return found


def every(asked: argparse.Namespace) -> dict[Kind, Answers]:
    """How each answer did in each kind of log; printed as it comes."""
    found = {}
    for kind in product(asked.only, asked.users, asked.sessions):
        world = World.of(kind[0])
        true, logs = world.truth(kind[1]), cell(world, kind, asked)
        if not logs:
            continue
        found[kind] = {name: Answer.of(logs, name, true) for name in (MEANS, COMBINED, ALONE)}
        refuted = float(np.mean([any(abs(t) > 3 for t in one[STEPS].values()) for one in logs]))
        every_one = " | ".join("" if one is None else one.cells for one in found[kind].values())
        print(*kind, len(logs), f"{true:+.4f} | {every_one} | contradicted {percent(refuted)}", flush=True)
    return found


def page(found: dict[Kind, Answers], asked: argparse.Namespace) -> Iterator[str]:
    """The tables, a line at a time."""
    yield "Held: by the printed interval at 95 %. Error: over that of the means. Saved: sessions, the median over logs."
    yield "The second table is of the combined estimate."
    yield ""
    yield "| of all kinds | kinds | logs | held | in the worst | below 93 % | error, largest | above 1.1 |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for name in (MEANS, COMBINED, ALONE):
        known = [one for each in found.values() if (one := each[name]) is not None and one.logs >= FEWEST]
        if not known:
            continue
        held, logs = np.array([one.held for one in known]), np.array([one.logs for one in known])
        error = np.array([one.error for one in known])
        whole = percent(float((held * logs).sum() / logs.sum()), 1)
        yield (
            f"| {name} | {len(known)} | {logs.sum():,} | {whole} | {percent(float(held.min()), 1)} "
            f"| {(held < LEAST_HELD).sum()} | {error.max():.2f} | {(error > MOST_ERROR).sum()} |"
        )
    yield ""
    shared = {one: percent(World.of(one).shared) for one in asked.only}
    heads = (f"{one} ({shared[one]} shared): held | error | saved" for one in asked.only)
    yield f"| sessions | users | logs | {' | '.join(heads)} |"
    yield f"|--:|---|--:|{'--:|--:|--:|' * len(asked.only)}"
    for sessions, users in product(asked.sessions, asked.users):
        some = [
            found[one, users, sessions][COMBINED] if (one, users, sessions) in found else None for one in asked.only
        ]
        if any(some):
            logs = [one.logs for one in some if one is not None]
            cells = " | ".join("| |" if one is None else one.cells for one in some)
            yield f"| {sessions:,} | {users} | {' to '.join(map(str, sorted({min(logs), max(logs)})))} | {cells} |"


def main() -> None:
    """Print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=200)
    parser.add_argument("--sessions", type=lambda text: [*map(int, text.split(","))], default=[2000, 20_000, 200_000])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(LIKENESS))
    parser.add_argument("--users", type=lambda text: text.split(","), default=ASKED_FOR)
    parser.add_argument("--by-verb", action="store_true")
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    found = list(page(every(asked), asked))
    print(*found, sep="\n")
    if asked.write is not None:
        generated(asked.write, "ab tests", found, "benchmarks/ab_tests.py")


if __name__ == "__main__":
    main()
