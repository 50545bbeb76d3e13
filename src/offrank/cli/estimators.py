"""`offrank estimators`."""

from __future__ import annotations

import click

import offrank

from ..language.spelling import signature
from .layout import command
from .names import assumed, summary, write


@command()
def estimators() -> None:
    """The estimators that -e takes: what they compute, and what they assume of users."""
    made = offrank.estimators.ESTIMATORS.items()
    click.echo("Use one or several: -e snips -e 'interpol(window=2)'. `auto` takes the one of least estimated error.\n")
    write((signature(make, name), f"{summary(make)} Assumes {assumed(name, make)}.") for name, make in made)
    click.echo("\nBeginning with `sn` they are self-normalised: snips, snrips, snipm, sninterpol; wpi is that of pi.")
