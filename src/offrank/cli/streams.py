"""The streams of the command: each is there, and can take any text."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

import click

from ..language.registry import Later

formatting = Later("..language.formatting", __package__)


def ready() -> None:
    """Open what the caller has closed, and write `?` for what the encoding of the terminal lacks.

    A closed stream is opened to nowhere: else the next file that is opened gets its number, and what is printed goes
    into that file.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if mode == "r" else os.O_WRONLY)  # the lowest number that is free
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: SIM115, PTH123  as long as the process
    with suppress(AttributeError, ValueError):  # what stands in for it in tests and notebooks
        if sys.stdout.errors in ("strict", "surrogateescape"):
            sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]


def echo(text: str, *, err: bool = False) -> None:
    """Print lines that may hold names of files, columns and ids: none of them moves the cursor or turns a line."""
    lines = (line if line.isprintable() else formatting.printable(line) for line in text.split("\n"))
    click.echo("\n".join(lines), err=err)


def place_of(error: OSError) -> str:
    """Return what an error of input or output is about: its file; a full disk without a name is standard output."""
    return str(error.filename or ("standard output" if error.errno == errno.ENOSPC else "input or output"))
