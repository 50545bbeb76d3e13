"""`offrank clicks`: the verbs of click models."""

from __future__ import annotations

import click

from .clicks_evaluate import evaluate
from .clicks_fit import fit
from .clicks_harvest import harvest


@click.group()
def clicks() -> None:
    """Click models: how slates are clicked, learnt from a log."""


for verb in (fit, evaluate, harvest):
    clicks.add_command(verb)
