"""`offrank inspect`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import FILE, columns_of, json, quiet, reading_of, workers, writable, written_options
from .running import reading, safely


@click.command()
@written_options
@click.option("--save", metavar="MAPPING.TOML", type=FILE, callback=writable, help="Write what --config takes.")
@json
@workers
@quiet
@safely
def inspect(log: str, **options: Any) -> None:
    """What is read as what in LOG, which policies may have drawn it, and what to ask next.

    offrank inspect log.parquet --save mapping.toml
    """
    with reading(options) as (progress, executor):
        given = {**reading_of(options), "executor": executor, "progress": progress}
        found = offrank.inspect(log, columns_of(options), **given)
    if options["json"] == "-":
        click.echo(found.to_json())
    elif options["json"]:
        found.to_json(options["json"])
    silent = options["quiet"] or options["json"] == "-"
    if not silent:
        click.echo(str(found), nl=False)
    if options["save"]:
        found.save(options["save"])
        if not silent and found.command:
            click.echo(f"or, by what was saved,\n  {found.command_with(options['save'])}")
