"""`offrank check`."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .options import confidence, log_options, totals_option
from .running import judge


@click.command()
@log_options
@click.option("--target", help="A policy whose support in the log is of interest.")
@totals_option
@confidence(0.99)
def check(log: str, **options: Any) -> None:
    """Is LOG fit to judge other rankings by? Propensities, weights, support, sub-sampling."""
    judge(offrank.check, log, options)
