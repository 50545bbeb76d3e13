"""`--require`: a gate for machines, which passes only what is shown to be better, or not shown to be worse."""

from __future__ import annotations

import sys
from typing import Any

import click

from .layout import option
from .streams import echo

FAILED = 3
"""The exit code of a gate that is closed, as of --strict."""

require = option(
    "--require",
    type=click.Choice(["better", "not-worse"]),
    use="output",
    help="Exit with code 3 unless this is the decision and the trust is sound.",
)


def gate(result: Any, options: dict[str, Any]) -> None:
    """Exit with 3 if the result does not meet --require."""
    required = options.get("require")
    if required is not None and not result.meets(required):
        said = ", ".join(f"{name} is {one.decision!r}, trust {one.trust!r}" for name, one in result.decisions.items())
        said = said or "nothing was decided"
        echo(f"not passed: --require {required} asks for a sound verdict; {said}", err=True)
        sys.exit(FAILED)
