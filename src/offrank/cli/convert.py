"""`offrank convert`."""

from __future__ import annotations

from typing import Any

import offrank

from .layout import command, option
from .options import arguments, output, quiet, source, written_options
from .running import reading
from .streams import echo


@command()
@written_options
@output("LOG.PARQUET|LOG.ARROW")
@option("--score", "scores", multiple=True, metavar="NAME", help="A score of the long layout; no other needs it.")
@quiet
def convert(log: str | list[str], **options: Any) -> None:
    """Write LOG once as Parquet (small) or Arrow (large, quickest to read) in the wide layout.

    offrank convert banners.txt.gz --format criteo_paper -o banners.parquet
    """
    with reading(options) as (progress, _):
        made = offrank.convert(source(log, options), **arguments(options), progress=progress)
    if not options["quiet"]:
        echo(str(made))
