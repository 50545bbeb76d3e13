"""The studies of this paper, computed in parallel, saved and resumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from offrank.language import Say

from ..resume import WORKERS, Heed, own_folder, resumed, spoken, workers
from .design import Study, StudyQueries
from .study import Found, studied

VERSION = 3
"""To be increased whenever the results of a study change: results of two versions are never mixed."""

_WORKERS = WORKERS


def all_studies(queries: StudyQueries, folder: Path, say: Say) -> Mapping[Study, Found]:
    """Return the results of each study: read if saved, otherwise simulated and saved.

    An interruption loses the studies in progress. What only adds studies is not among the settings: more runs, other
    numbers of sessions and neural models can be added.
    """
    design = queries.design
    settings = {"version": VERSION, "data": queries.data, "digest": queries.digest, **asdict(design)}
    for name in ("runs", "neural_runs", "fewer", "repetitions"):
        del settings[name]

    def simulated(study: Study, heed: Heed) -> Found:
        return studied(queries, study, lambda _: heed())

    def before(missing: list[Study]) -> None:
        cores = workers(_WORKERS)
        say(f"{len(missing)} studies will take about {spoken(design.seconds(missing) / cores)} on {cores} cores")

    return resumed(design.studies(), own_folder(folder, settings), simulated, say, _WORKERS, before)
