"""`offrank clicks predict`."""

from __future__ import annotations

from typing import Any

import offrank

from .layout import command, option
from .options import duplicates_option, json, output, page_options, quiet, source, strict, with_options, written_options
from .running import deliver, reading

_results = with_options(json, strict, quiet)


@command()
@written_options
@option("--model", required=True, metavar="FILE", help="A click model that `clicks fit` has written.")
@output("TABLE")
@duplicates_option
@page_options
@_results
def predict(log: str | list[str], model: str, path: str, **options: Any) -> None:
    """How likely is each slot of LOG clicked, by MODEL? TABLE is a .parquet or .csv.

    offrank clicks predict log.parquet --model pbm.json -o predicted.parquet
    """
    with reading(options) as (progress, _):
        made = offrank.predict_clicks(
            source(log, options), model, path, overwrite=options["overwrite"], progress=progress
        )
    deliver(made, options)
