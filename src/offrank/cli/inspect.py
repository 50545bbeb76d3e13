"""`offrank inspect`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import FILE, json, quiet, reading_of, workers, writable, written_options
from .running import reading, tell


@click.command()
@written_options
@click.option("--save", metavar="MAPPING.TOML", type=FILE, callback=writable, help="Write what --config takes.")
@json
@workers
@quiet
def inspect(log: str, **options: Any) -> None:
    """What is read as what in LOG, which policies may have drawn it, and what to ask next.

    offrank inspect log.parquet --save mapping.toml
    """
    with reading(options) as (progress, executor):
        found = offrank.inspect(log, **reading_of(options), executor=executor, progress=progress)
    tell(found, options)
    if options["save"]:
        found.save(options["save"])
        if found.command and not options["quiet"] and options["json"] != "-":
            click.echo(f"or, by what was saved,\n  {found.command_with(options['save'])}")
