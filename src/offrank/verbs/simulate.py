"""`simulate`: write a log of a world whose truth is known."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import formatting
from ..clicks.documents import UNSEEN
from ..clicks.fitted import Fitted
from ..clicks.model import load
from ..errors import UsageError
from ..frames import Plain, plain
from ..log.judged import Judged
from ..policies.base import Policy
from ..policies.top import Top
from ..readers.convert import Converted, convert
from ..readers.svmlight import read_svmlight
from ..report.document import Answer, Document, Figures, Section
from ..report.printable import Printed
from ..running.executors import Progress
from ..simulation.judged import Preset, mslr_like, stratified
from ..simulation.placed import Placed
from ..simulation.rankers import NoisyOracle, Ranker, ranker
from ..simulation.source import SimulatedSource
from ..simulation.truth import Truth
from ..simulation.users import GRADE, CarouselUser, User, user
from ..simulation.worlds import JudgedWorld
from ..steps import Say, silent

GENERATED = "generated"
_QUERIES = 1000
_ALWAYS = ("noisy_oracle", "uniform")


@dataclass(frozen=True)
class Simulated(Printed, Plain):
    """The simulated log, and its true values.

    truths: policy -> expected clicks per session. logging: the policy that drew the log. left_out: queries with too
    few documents. notes: what a reader should know about the world.
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
        steps = [
            f"offrank clicks fit {log} --model pbm -o {model}",
            f"offrank clicks evaluate {log} --model {model} --labels {GRADE}",
        ]
        if isinstance(self.logging, Placed):  # it has no spelling, so only its logged propensities are known
            return [*steps, f"offrank check {log}"]
        drawn = f"--logging {shlex.quote(repr(self.logging))}"
        # A window suits lists of which much is not shown, see docs/choosing.md.
        clicks = "pbm" if self.world.slots == self.world.documents else "'interpol(window=2)'"
        target = f"offrank evaluate {log} --target 'top({GRADE})' {drawn} -e snipm -e {clicks} --examination {model}"
        return [*steps, f"offrank check {log} {drawn}", target]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain dicts and numbers."""
        return {
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
        best, most = max(self.truths.items(), key=lambda one: formatting.nine_digits(one[1].value))
        left_out = f"; left out: {self.left_out:,} with fewer documents" if self.left_out else ""
        answer = f"{formatting.quote(best)} **earns most in this world**: {most.value:.4f} clicks per session."
        drawn = self.truths.get(repr(self.logging))
        if drawn is not None:
            answer += f" {formatting.quote(repr(self.logging))}, which has drawn the log, earns {drawn.value:.4f}."
        rows = tuple((name, str(truth)) for name, truth in self.truths.items())
        table = Figures("", ("policy", "clicks per session"), rows)
        notes = tuple(f"note: {note}." for note in self.notes)
        steps = "\n".join(["", "Try:", *(f"  {line}" for line in self.next_steps)])
        return Document(
            "A log of a world whose truth is known",
            f"{self.written}: {len(self.world):,} queries of {self.world.documents} documents{left_out}.",
            (Section("What policies earn", notes, tables=(table,)), Section("What to try", code=steps)),
            (Answer(answer),),
        )


def simulate(
    path: str | os.PathLike[str],
    *,
    sessions: int = 100_000,
    user: str | os.PathLike[str] | User = "pbm",
    rankers: str | Sequence[str] = "noisy_oracle",
    temperature: float = 0.1,
    data: str | os.PathLike[str] | Judged = GENERATED,
    queries: int | None = None,
    documents: int | None = None,
    slots: int = 0,
    preset: Preset = "paper",
    seed: int = 0,
    world_seed: int = 0,
    progress: Progress | None = None,
    say: Say = silent,
) -> Simulated:
    """Write a log that a user clicked in a world of judged queries, and return the true value of policies there.

    - path: the file to write, Parquet or (by its suffix) Arrow, atomically.
    - user: its spelling, or the file of a fitted click model, `MODEL.json`, which then draws the clicks.
    - rankers: their spellings; the first draws the log by Plackett-Luce at this temperature (0: sorted by score), the
      scores of all are in the log, and those of `noisy_oracle` and `uniform` always.
    - data: SVMlight files, or "generated" for data that resemble MSLR. queries: how many of them, by default all,
      or 1,000 generated. documents: how many each, sampled by grade; by default 10, and 25 for a carousel.
    - slots: how many documents are shown, by default all.
    - preset: "paper" or "published-code", for all settings at once, see the page on simulation.
    - world_seed: determines the documents and the rankers' scores; seed: the sessions. Two seeds of one world give
      a log to learn from and one to test on.

    Raises:
        UsageError: arguments that cannot work.
        LogError: the data cannot be read.
        MissingExtraError: a ranker that learns, without the extra `models`.

    Examples:
        >>> simulated = offrank.simulate("simulated.parquet", sessions=1000, seed=1)
    """
    who = _user(user, preset)
    if documents is None:
        documents = 25 if isinstance(who, CarouselUser) else 10
    names = [rankers] if isinstance(rankers, str) else list(rankers)
    by_name = _rankers(names, preset)
    say(f"1. Judged queries: {data if isinstance(data, str | os.PathLike) else 'as given'}")
    judged = _judged(data, queries, world_seed, progress)
    sampled, left_out = stratified(judged, documents, world_seed, preset=preset)
    say(f"2. Scores of {', '.join(dict.fromkeys([*names, *_ALWAYS]))}")
    world = JudgedWorld.of(sampled, who, by_name, seed=world_seed, slots=slots, temperature=temperature, preset=preset)
    logging = world.policy(next(iter(by_name)))
    say(f"3. {sessions:,} sessions to {os.fspath(path)}")
    written = convert(SimulatedSource(world, sessions, logging, seed), path, progress=progress)
    say("4. What policies earn in this world")
    return Simulated(written, world, logging, _truths(world), left_out, _notes(world))


def _user(given: str | os.PathLike[str] | User, preset: Preset) -> User:
    if isinstance(given, os.PathLike) or (isinstance(given, str) and given.endswith(".json")):
        return load(given)
    # A spelling that names its own preset keeps it.
    return user(given) if "preset" in str(given) else user(given, preset=preset)


def _judged(data: str | os.PathLike[str] | Judged, queries: int | None, seed: int, progress: Progress | None) -> Judged:
    if queries is not None and queries < 1:
        raise UsageError(f"queries is {queries!r}", "give at least 1")
    if data == GENERATED:
        return mslr_like(queries or _QUERIES, seed=seed)
    found = data if isinstance(data, Judged) else read_svmlight(Path(data), progress=progress)
    return found if queries is None else found.take(np.arange(min(queries, len(found))))


def _rankers(spellings: Sequence[str], preset: Preset) -> dict[str, Ranker]:
    """Return the rankers under the names of their columns, in order."""
    found: dict[str, Ranker] = {}
    for spelling in [*spellings, *_ALWAYS]:
        as_published = preset == "published-code" and spelling == "noisy_oracle"
        one = NoisyOracle(variance=0.25) if as_published else ranker(spelling)
        found.setdefault(spelling.partition("(")[0].strip(), one)
    return found


def _truths(world: JudgedWorld) -> dict[str, Truth]:
    """Return the true value of each ranker's policy, of its sorted ranking, and of the best one by grade."""
    policies: dict[str, Policy] = {repr(policy): policy for policy in map(world.policy, world.scores)}
    for name in (*world.scores, GRADE):
        if name != "uniform":
            policy = world.placed(Top(name))
            policies.setdefault(repr(policy), policy)
    return {name: world.truth(policy) for name, policy in policies.items()}


def _notes(world: JudgedWorld) -> tuple[str, ...]:
    """Return notes for readers of the numbers."""
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
