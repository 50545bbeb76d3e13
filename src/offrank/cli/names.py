"""`offrank estimators` and `offrank policies`: what can be typed, what it does, and what it assumes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import click

import offrank

from ..errors import OffrankError
from ..language.assumptions import in_words
from ..language.spelling import signature
from .layout import command

_WIDTH = 100
_FOR_EXAMPLE = {"base": "ips", "window": "window=1", "grades": "'grades.csv'"}
_FOR_EXAMPLE |= dict.fromkeys(("maximum", "strength", "threshold"), "10")
_MODELS = ("pbm", "lasso")
"""Arguments by their names, with which an estimator can say what it assumes; one of the models fits."""


def write(entries: Iterable[tuple[str, str]]) -> None:
    """Print entries in two columns."""
    formatter = click.HelpFormatter(width=_WIDTH)
    formatter.write_dl([(spelled, said.replace("`", "")) for spelled, said in entries], col_max=34)
    click.echo(formatter.getvalue().rstrip())


def summary(make: Callable[..., Any]) -> str:
    """Return the first paragraph that is said of a part."""
    words = (make.__doc__ or "").strip().split("\n\n")[0]
    return " ".join(words.split())


def assumed(name: str, make: Callable[..., Any]) -> str:
    """Return what an estimator assumes, made with an argument of each kind."""
    places = [one.name for one in inspect.signature(make).parameters.values() if one.default is one.empty]
    models = _MODELS if "model" in inspect.signature(make).parameters else ("",)
    for model in models:
        given = ", ".join(filter(None, [*(_FOR_EXAMPLE.get(one, "") for one in places), model]))
        try:
            made = offrank.estimators.estimator(f"{name}({given})" if given else name)
        except OffrankError:
            continue
        return in_words(made.kind.assumes)
    return "what its own documentation says"


@command()
def estimators() -> None:
    """The estimators that -e takes: what they compute, and what they assume of users."""
    made = offrank.estimators.ESTIMATORS.items()
    click.echo("Use one or several: -e snips -e 'interpol(window=2)'. `auto` takes the one of least estimated error.\n")
    write((signature(make, name), f"{summary(make)} Assumes {assumed(name, make)}.") for name, make in made)
    click.echo("\nBeginning with `sn` they are self-normalised: snips, snrips, snipm, sninterpol; wpi is that of pi.")


@command()
def policies() -> None:
    """The policies that --logging and --target take: what they show."""
    click.echo("Columns are written as the log calls them: --target 'top(new_score)'. A policy may hold another:")
    click.echo("--logging 'epsilon(top(old_score), 0.1)'.\n")
    write((signature(make, name), summary(make)) for name, make in offrank.policies.POLICIES.items())
