"""The command `offrank reproduce`, an entry point: importing it must load nothing heavy."""

from __future__ import annotations

from typing import Any

import click

import offrank
from offrank.cli.options import overwrite, quiet
from offrank.cli.running import saying


@click.command()
@click.argument("name")
@click.argument("log", required=False)
@click.option("--format", help="Of LOG, such as criteo_paper; else by suffix.")
@click.option("-o", "folder", metavar="FOLDER", help="Where to write; by default reproduce-NAME.")
@click.option("--scale", default="full", show_default=True, help="full (1), the published size; small; or a number.")
@click.option("--seed", default=4, show_default=True)
@overwrite
@quiet
def reproduce(name: str, log: str | None, folder: str | None, **options: Any) -> None:
    """Reproduce a paper: its tables, pictures and claims beside what is found here.

    NAME is interpol (windows between two click models), non-shuffled (ranking metrics on non-shuffled traffic),
    slates (the pseudoinverse estimator of slates, in simulations), slates-math (its mathematics), criteo-checks
    (propensities by number of slots), criteo-learning (learning from one-slot banners) or cmip (debiasedness of click
    models; cmip-published-code as its code has it). The criteo ones are of LOG, cmip and slates of judged queries (an
    MSLR fold, an SVMlight file), or of simulated ones. Interrupted, cmip and slates go on where they were when they
    are called again.
    """
    read = log is not None and options["format"] is not None
    given = offrank.read_log(log, format=options["format"]) if read else log
    how = {
        "scale": options["scale"],
        "seed": options["seed"],
        "overwrite": options["overwrite"],
        "say": saying(options),
    }
    made = offrank.reproduce(name, folder, log=given, **how)
    if not options["quiet"]:
        made.show()
