"""`simulate`: write a log of a world whose truth is known."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..language import Say, silent
from ..language.from_text import GENERATED
from ..language.outputs import refuse_outputs
from .deferred import conversion, judged_queries, simulated, source, users, world_rankers, worlds

if TYPE_CHECKING:
    from ..log.graded_queries import Judged
    from ..running.executors import Progress
    from ..simulation.rankers import Ranker
    from ..simulation.simulated import Simulated
    from ..simulation.users import User


def simulate(
    path: str | os.PathLike[str],
    *,
    sessions: int = 100_000,
    user: str | os.PathLike[str] | User = "pbm",
    rankers: str | Sequence[str] | Mapping[str, Ranker] = "noisy_oracle",
    temperature: float = 0.1,
    data: str | os.PathLike[str] | Judged = GENERATED,
    qrels: str | os.PathLike[str] | None = None,
    queries: int | None = None,
    documents: int = 10,
    slots: int = 0,
    seed: int = 0,
    world_seed: int = 0,
    overwrite: bool = False,
    progress: Progress | None = None,
    say: Say = silent,
) -> Simulated:
    """Simulate a log of clicks in a world of judged queries, and return the true values of policies in it.

    Parameters:
        path: The file to write. Parquet or (by its suffix) Arrow, atomically.
        sessions: How many impressions.
        user: pbm, dbn(gamma=0.9) or trust; or a fitted model's file, M.json. The model then draws the clicks.
        rankers: noisy_oracle or uniform; the first draws the log. It does so by Plackett-Luce; the scores of all are in
            the log, and those of these two always. In Python also rankers by name, such as those of
            `offrank_papers.rankers`.
        temperature: Of Plackett-Luce; 0 sorts by score.
        data: Judged queries in SVMlight. By default "generated", which resemble MSLR; a run of TREC where its judgments
            are given: qrels.
        qrels: Judgments of TREC; the data are then a run of TREC.
        queries: How many; by default all, or 1000 generated.
        documents: Per query. They are sampled by grade.
        slots: How many are shown; by default all.
        seed: Of the sessions. Two seeds of one world give a log to learn from and one to test on.
        world_seed: Of documents and rankers.
        overwrite: Replace the file if it is there.
        progress: Called with (parts done, all parts) of the log, as they are read.
        say: Called with a description of each step.

    Returns:
        The file, the world, the logging policy, and the true clicks per session of policies.

    Raises:
        UsageError: arguments that cannot work.
        LogError: the data cannot be read.

    Examples:
        >>> simulated = offrank.simulate("simulated.parquet", sessions=1000, seed=1)
    """
    refuse_outputs(path, log=data, read=[user, qrels], overwrite=overwrite)
    who = users.user_or_model(user)
    by_name = world_rankers.rankers_of([rankers] if isinstance(rankers, str) else rankers)
    say(f"1. Judged queries: {data if isinstance(data, str | os.PathLike) else 'as given'}")
    judged = judged_queries.judged_queries(data, queries, world_seed, progress, qrels)
    sampled, left_out = judged_queries.stratified(judged, documents, world_seed)
    say(f"2. Scores of {', '.join(by_name)}")
    world = worlds.JudgedWorld.of(sampled, who, by_name, seed=world_seed, slots=slots, temperature=temperature)
    logging = world.policy(next(iter(by_name)))
    say(f"3. {sessions:,} sessions to {os.fspath(path)}")
    drawn = source.SimulatedSource(world, sessions, logging, seed)
    written = conversion.convert(drawn, path, overwrite=overwrite, progress=progress)
    say("4. Values of policies in this world")
    truths, notes = simulated.truths_of(world), simulated.notes_on(world)
    return simulated.Simulated(written, world, logging, truths, left_out, notes)
