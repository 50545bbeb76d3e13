"""`offrank policies`."""

from __future__ import annotations

import click

import offrank

from ..language.spelling import signature
from .layout import command
from .names import summary, write


@command()
def policies() -> None:
    """The policies that --logging and --target take: what they show."""
    click.echo("Columns are written as the log calls them: --target 'top(new_score)'. A policy may hold another:")
    click.echo("--logging 'epsilon(top(old_score), 0.1)'.\n")
    write((signature(make, name), summary(make)) for name, make in offrank.policies.POLICIES.items())
