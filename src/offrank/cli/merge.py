"""`offrank merge`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .layout import command, option
from .options import FILE, json, page_options, quiet, strict, with_options, worth_options, writable
from .require import require
from .running import deliver


@command()
@click.argument("states", nargs=-1, required=True, metavar="STATE...")
@option("--state", use="output", type=FILE, callback=writable, help="Write the merged state, to be merged again.")
@with_options(json, strict, require, quiet, page_options, worth_options)
def merge(states: tuple[str, ...], **options: Any) -> None:
    """One result from the STATEs that `evaluate` or `compare` has written with --state, such as a week from its days.

    offrank merge monday.state tuesday.state --html week.html
    """
    deliver(offrank.merge(states, state=options["state"], overwrite=options["overwrite"]), options)
