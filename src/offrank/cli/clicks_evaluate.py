"""`offrank clicks evaluate`."""

from __future__ import annotations

from typing import Any

import offrank

from ..language.from_text import named_files
from .layout import command, option
from .options import (
    checkpoint_options,
    confidence,
    duplicates_option,
    graded_by,
    grades_option,
    models_option,
    page_options,
    results_options,
    sessions_cluster,
    source,
    with_options,
    written_options,
)
from .running import deliver, reading

judged_options = with_options(
    page_options,
    results_options,
    checkpoint_options,
    models_option,
    graded_by,
    grades_option,
    duplicates_option,
    confidence(),
    sessions_cluster,
)
"""Options of every verb that evaluates click models on a log."""


@command()
@written_options
@judged_options
@option("--ood", metavar="LOG", use="log", help="Another log, such as of another ranking policy: judge on both.")
@option("--labels", metavar="COLUMN", help="Grades beside the candidates (or the slate): nDCG.")
def evaluate(log: str | list[str], models: tuple[str, ...], ood: str | None, **options: Any) -> None:
    """How well does each MODEL predict the clicks of LOG? Differences are to the first.

    offrank clicks evaluate log.parquet --model dbn.json --model pbm.json
    """
    how = ("labels", "by", "grades_by", "confidence", "cluster")
    with reading(options) as (progress, executor):
        given = {name: options[name] for name in how} | {"executor": executor, "progress": progress}
        other = None if ood is None else source(ood, options)
        result = offrank.evaluate_clicks(source(log, options), named_files(models), other=other, **given)
    deliver(result, options)
