"""What `simulate` made: the log, and what policies truly earn in its world."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..clicks.documents import UNSEEN
from ..clicks.fitted import Fitted
from ..policies.base import Policy
from ..readers.convert import Converted
from ..simulation.placed import Placed
from ..simulation.truth import Truth
from ..simulation.users import GRADE
from ..simulation.worlds import World


@dataclass(frozen=True)
class Simulated:
    """What was written, and what is true of it.

    truths: policy -> expected clicks per session. logging: the policy that drew the log. left_out: queries with too
    few documents. notes: what should be known of the world.
    """

    written: Converted
    world: World
    logging: Policy
    truths: Mapping[str, Truth]
    left_out: int = 0
    notes: tuple[str, ...] = ()

    @property
    def next_steps(self) -> list[str]:
        """Commands to try on the log."""
        path = self.written.path
        log, model = shlex.quote(str(path)), shlex.quote(str(path.with_name("pbm.json")))
        steps = [
            f"offrank clicks fit {log} --model pbm -o {model}",
            f"offrank clicks evaluate {log} --model {model} --labels {GRADE}",
        ]
        if isinstance(self.logging, Placed):  # no words spell it, so that only its logged propensities are known
            return [*steps, f"offrank check {log}"]
        drawn = f"--logging {shlex.quote(repr(self.logging))}"
        # A window is for lists of which much is not shown, see docs/choosing.md.
        clicks = "pbm" if self.world.slots == self.world.documents else "'interpol(window=2)'"
        target = f"offrank evaluate {log} --target 'top({GRADE})' {drawn} -e snipm -e {clicks} --examination {model}"
        return [*steps, f"offrank check {log} {drawn}", target]

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "log": str(self.written.path),
            "sessions": self.written.rows,
            "queries": len(self.world),
            "documents": self.world.documents,
            "left_out": self.left_out,
            "user": repr(self.world.user),
            "logging": repr(self.logging),
            "truth": {name: dataclasses.asdict(truth) for name, truth in self.truths.items()},
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        width = max(map(len, self.truths))
        left_out = f"; left out: {self.left_out:,} with fewer documents" if self.left_out else ""
        return "\n".join(
            [
                f"{self.written}: {len(self.world):,} queries of {self.world.documents} documents{left_out}",
                f"drawn by {self.logging!r}",
                "clicks per session that policies earn in this world:",
                *(f"  {name:{width}}  {truth}" for name, truth in self.truths.items()),
                *(f"note: {note}" for note in self.notes),
            ]
        )


def notes(world: World) -> tuple[str, ...]:
    """What a reader of the numbers should know."""
    found, user, most = [], world.user, float(world.grade.max())
    highest = getattr(user, "highest", most)
    if isinstance(user, Fitted):
        unseen = float((user.documents.codes(world.contexts()) == UNSEEN).mean())
        if unseen:
            found.append(f"the model has never seen {unseen:.1%} of the documents: there its prior clicks")
    elif most < highest:
        found.append(f"no grade is above {most:g}, while the user knows {highest:g}: highest={most:g} clicks more")
    if isinstance(world.policy(next(iter(world.scores))), Placed):
        found.append(
            "the page shows rankings in an order of its own (published-code): judge by the logged propensities"
        )
    return tuple(found)
