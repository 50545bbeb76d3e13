"""`--require`: a gate for machines: it passes what is shown to be better, or not worse by more than a margin."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from ..errors import UsageError
from ..language.registry import Later
from .layout import option
from .streams import echo

gates = Later("..evaluation.gate", __package__)

FAILED = 3
"""The exit code of a gate that is closed, as of --strict."""


def _checked(context: click.Context, given_to: click.Parameter, given: Any) -> Any:
    """Refuse what no gate can ask, when the second of both options is known: before anything is read."""
    known = {**context.params, given_to.name: given}
    if {"require", "margin"} <= known.keys():
        if known["require"] is not None:
            gates.Gate.of(known["require"], known["margin"])
        elif known["margin"] is not None:
            raise UsageError("--margin is for --require not-worse only", "omit it, or use --require not-worse")
    return given


def require(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the gate to a command."""
    margin = option(
        "--margin",
        metavar="MARGIN",
        use="output",
        callback=_checked,
        help="How much worse `--require not-worse` lets pass: 1% of the mean, or 0.01 in units of the reward.",
    )
    required = option(
        "--require",
        type=click.Choice(["better", "not-worse"]),
        use="output",
        callback=_checked,
        help="Exit with code 3 unless the trust is sound and the interval is above 0, or above minus the margin.",
    )
    return required(margin(command))


def gate(result: Any, options: dict[str, Any]) -> None:
    """Exit with 3 if the result does not meet --require."""
    required, margin = options.get("require"), options.get("margin")
    if required is not None and not result.meets(required, margin):
        asked = gates.Gate.of(required, margin)
        said = "; ".join(f"{name} is {asked.said(one)}" for name, one in result.decisions.items())
        said = said or "nothing was decided"
        more = "" if margin is None else f" --margin {margin}"
        echo(f"not passed: --require {required}{more} asks for a sound verdict; {said}", err=True)
        sys.exit(FAILED)
