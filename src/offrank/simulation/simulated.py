"""The result of `simulate`: the log that was written, and what policies earn in its world."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..clicks.documents import UNSEEN
from ..clicks.fitted import Fitted
from ..frames import Plain, plain
from ..language.formatting import nine_digits, percent, quote
from ..policies.base import Policy
from ..policies.top import Top
from ..readers.convert import Converted
from ..report.document import Answer, Document, Figures, Section
from ..report.printable import Printed
from .truth import Truth
from .users import GRADE
from .worlds import JudgedWorld


@dataclass(frozen=True)
class Simulated(Printed, Plain):
    """The simulated log, and its true values.

    Parameters:
        written: the file that was written, and its rows.
        world: the world that the log is of.
        logging: the policy that drew the log.
        truths: policy -> expected clicks per session.
        left_out: queries with too few documents.
        notes: what a reader should know about the world.

    Examples:
        >>> offrank.simulate("simulated.parquet", sessions=100, queries=5, slots=3).written.rows
        100
    """

    written: Converted
    world: JudgedWorld
    logging: Policy
    truths: Mapping[str, Truth]
    left_out: int = 0
    notes: tuple[str, ...] = ()

    @property
    def next_steps(self) -> list[str]:
        """Return commands to try on the log."""
        path = self.written.path
        log, model = shlex.quote(str(path)), shlex.quote(str(path.with_name("pbm.json")))
        drawn = f"--logging {shlex.quote(repr(self.logging))}"
        # A window suits lists of which much is not shown, see docs/concepts/which-estimator.md.
        clicks = "pbm" if self.world.slots == self.world.documents else "'interpol(window=2)'"
        target = f"offrank evaluate {log} --target 'top({GRADE})' {drawn} -e snipm -e {clicks} --examination {model}"
        return [
            f"offrank clicks fit {log} --model pbm -o {model}",
            f"offrank clicks evaluate {log} --model {model} --labels {GRADE}",
            f"offrank check {log} {drawn}",
            target,
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain dicts and numbers."""
        return {
            "schema": 1,
            "kind": "simulate",
            "log": str(self.written.path),
            "sessions": self.written.rows,
            "queries": len(self.world),
            "documents": self.world.documents,
            "left_out": self.left_out,
            "user": repr(self.world.user),
            "logging": repr(self.logging),
            "truth": plain(self.truths),
            "notes": list(self.notes),
        }

    def to_document(self) -> Document:
        """Return the page: the best policy, the true value of each policy, and next steps."""
        best, most = max(self.truths.items(), key=lambda one: nine_digits(one[1].value))
        left_out = f"; left out: {self.left_out:,} with fewer documents" if self.left_out else ""
        answer = f"{quote(best)} **has the highest value in this world**: {most.said} clicks per session."
        drawn = self.truths.get(repr(self.logging))
        if drawn is not None:
            answer += f" {quote(repr(self.logging))}, which generated the log, has {drawn.said}."
        rows = tuple((name, str(truth)) for name, truth in self.truths.items())
        table = Figures("", ("policy", "clicks per session"), rows)
        notes = tuple(f"note: {note}." for note in self.notes)
        steps = "\n".join(["", "Try:", *(f"  {line}" for line in self.next_steps)])
        return Document(
            "A simulated log whose true values are known",
            f"{self.written}: {len(self.world):,} queries of {self.world.documents} documents{left_out}.",
            (Section("Values of policies", notes, tables=(table,)), Section("What to try", code=steps)),
            (Answer(answer),),
        )


def truths_of(world: JudgedWorld) -> dict[str, Truth]:
    """Return the true value of each ranker's policy, of its sorted ranking, and of the best one by grade."""
    policies: dict[str, Policy] = {repr(policy): policy for policy in map(world.policy, world.scores)}
    for name in (*world.scores, GRADE):
        if name != "uniform":
            policy = Top(name)
            policies.setdefault(repr(policy), policy)
    return {name: world.truth(policy) for name, policy in policies.items()}


def notes_on(world: JudgedWorld) -> tuple[str, ...]:
    """Return notes for readers of the numbers."""
    found, user, most = [], world.user, float(world.grade.max())
    highest = getattr(user, "highest", most)
    if isinstance(user, Fitted):
        unseen = float((user.documents.codes(world.contexts()) == UNSEEN).mean())
        if unseen:
            found.append(
                f"{percent(unseen)} of the documents are unknown to the model, which clicks on them according to "
                "its prior"
            )
    elif most < highest:
        found.append(
            f"no grade exceeds {most:g}, but the user model allows {highest:g}: highest={most:g} gives more clicks"
        )
    return tuple(found)
