"""The studies of this paper, computed in parallel, saved and resumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from offrank.errors import optional
from offrank.language import Say

from ..resume import Found, Heed, own_folder, resumed
from .data import MOST_WORKERS, SlatesData
from .design import SlateStudy, seed_of
from .study import studied

VERSION = 1
"""To be increased whenever the results of a study change: results of two versions are never mixed."""


def all_studies(data: SlatesData, folder: Path, say: Say) -> Mapping[SlateStudy, Found]:
    """Return the results of each study: read if saved, otherwise simulated and saved.

    The number of runs is not among the settings: more runs can be added to fewer.
    """
    design = data.design
    settings = {"version": VERSION, "data": data.data, "digest": data.digest, **asdict(design)}
    del settings["runs"]

    def simulated(study: SlateStudy, heed: Heed) -> Found:
        return studied(data.world(study.space, study.logging), design, seed_of(design.seed, study.name), heed)

    def before(missing: list[SlateStudy]) -> None:
        say(data.price(missing))

    one_thread = optional("threadpoolctl", "the direct method needs scikit-learn", "models").threadpool_limits(1)
    with one_thread:  # of linear algebra: there are as many studies as cores
        return resumed(design.studies(), own_folder(folder, settings), simulated, say, MOST_WORKERS, before)
