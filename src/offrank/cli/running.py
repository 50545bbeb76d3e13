"""Running a verb: its progress, its errors, its outputs and gates, and the exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from types import FrameType
from typing import Any, NoReturn

import click

import offrank

from ..errors import OffrankError, UsageError
from ..language import silent
from ..language.files import remove_unfinished
from ..language.registry import Later
from ..wording import Style, command_line, worded
from .layout import option
from .options import arguments, source
from .pace import Pace
from .streams import echo, place_of

gates = Later("..findings.gate", __package__)

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
        said = "; ".join([said or "nothing was decided", *(one.said for one in result.guardrails if not one.passes)])
        more = "" if margin is None else f" --margin {margin}"
        echo(f"not passed: --require {required}{more} asks for a sound verdict; {said}", err=True)
        sys.exit(FAILED)


_STYLE: Style = "command line"
_ENDS = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 1.0
"""Seconds of compiling before it is shown."""


def safely(command: Callable[..., Any]) -> Callable[..., None]:
    """Show errors as one message and an exit code, without a traceback."""

    @wraps(command)
    def guarded(*arguments: Any, **options: Any) -> None:
        try:
            with _interruptible():
                command(*arguments, **options)
        except OffrankError as error:
            echo(f"error: {error.said(_STYLE)}", err=True)
            sys.exit(2 if isinstance(error, UsageError) else 1)
        except BrokenPipeError:
            raise  # the reader of the output has closed it: no message is possible
        except OSError as error:
            echo(f"error: {place_of(error)}: {error.strerror or error}", err=True)
            sys.exit(1)

    return guarded


@contextmanager
def _interruptible() -> Iterator[None]:
    """End the process at once at Ctrl-C and `kill`: an exception that is raised in compiled code crashes it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _ENDS}
    ours = [number for number in _ENDS if before[number] in (signal.default_int_handler, signal.SIG_DFL)]
    for number in ours:  # others are ignored or handled elsewhere
        signal.signal(number, _leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    remove_unfinished()
    if sys.stderr.isatty():
        os.write(2, b"\r\x1b[2K\x1b[?25h")  # clear the line of the progress bar, show the cursor again
    os.write(2, b"interrupted; nothing was left half-written\n")
    os._exit(128 + number)


@contextmanager
def working(options: dict[str, Any]) -> Iterator[tuple[Any, Any, Callable[[str], Any]]]:
    """Yield a progress bar on a terminal, the executor of the options, and a function that writes beside the bar."""
    from concurrent.futures import ThreadPoolExecutor

    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TaskProgressColumn

    executor: Any = ThreadPoolExecutor(options["workers"]) if options.get("workers") else None
    if options.get("fresh") and not options.get("checkpoint"):
        raise UsageError("--fresh begins a checkpoint again, and there is none", "omit it, or use --checkpoint FOLDER")
    if options.get("checkpoint"):
        executor = offrank.CheckpointFolder(options["checkpoint"], executor, fresh=options["fresh"])
    try:
        if options["quiet"] or not sys.stderr.isatty():
            yield None, executor, silent
            return
        columns = (
            "{task.description}",
            BarColumn(20),
            TaskProgressColumn(),
            "{task.fields[rate]}",
            "{task.fields[left]}",
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
            task = bars.add_task("reading", total=None, rate="", left="")
            unwatch = _watch_compiler(
                lambda text: bars.update(task, description=text), lambda: bars.tasks[0].description
            )

            def say(text: str) -> None:
                if bars.tasks[0].finished:  # all is read, and the remaining time is unknown
                    bars.tasks[0].total = None
                bars.update(task, description=escape(text), rate="", left="")

            try:
                threads = options.get("workers") or os.cpu_count() or 1
                yield Pace(partial(bars.update, task), workers=threads), executor, say
            finally:
                unwatch()
    finally:
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)


def _watch_compiler(show: Callable[[str], object], shown: Callable[[], str]) -> Callable[[], object]:
    """Show that loops are compiled, once that has taken a second; return the function that ends this."""
    from numba.core import event

    spent, began, before = [0.0], [0.0], [""]

    class Compiling(event.Listener):
        def on_start(self, _event: object) -> None:  # inner functions are compiled within outer ones
            began.append(time.monotonic())
            before.append(shown())
            if spent[0] > _PATIENCE:
                show("compiling, once on this machine")

        def on_end(self, _event: object) -> None:
            spent[0] += (time.monotonic() - began.pop()) * (len(began) == 1)
            show(before.pop())

    listener = Compiling()
    event.register("numba:compile", listener)
    return lambda: event.unregister("numba:compile", listener)


def saying(options: dict[str, Any]) -> Callable[[str], object]:
    """Yield the function that a verb calls with a description of each step."""
    return silent if options["quiet"] else partial(click.echo, err=True)


def result_of(verb: Callable[..., Any], log: str | list[str] | None, options: dict[str, Any], **more: Any) -> Any:
    """Return what a verb makes of LOG, if it reads one, by the options that are its arguments. more: others of them."""
    with working(options) as (progress, executor, say):
        by = {"executor": executor, "progress": progress, "say": say, **more}
        read = [] if log is None else [source(log, options)]
        return verb(*read, **arguments(verb, {**options, **by}))


def run_verb(verb: Callable[..., Any], log: str | list[str], options: dict[str, Any], **more: Any) -> None:
    """Run a verb on LOG, and deliver the result."""
    deliver(result_of(verb, log, options, **more), options)


def deliver(result: Any, options: dict[str, Any]) -> None:
    """Print and write the result, and exit with its code."""
    words = click.get_current_context().meta["offrank.words"]
    given = {name: options[name] for name in ("title", "unit", "worth") if options.get(name) is not None}
    result = result.with_facts(command=command_line(["offrank", *words]), **given)
    tell(result, options)
    if refused := _refusals(result, printed=not options["quiet"] and options.get("json") != "-"):
        echo("\n".join(refused), err=True)
        sys.exit(1)
    gate(result, options)
    be_strict(result.usable if hasattr(result, "verdicts") else result.trustworthy, options)


def be_strict(usable: bool, options: dict[str, Any]) -> None:
    """Exit with the code of what is not to be trusted, with --strict."""
    if options["strict"] and not usable:
        click.echo("not to be used: see the reasons above (--strict)", err=True)
        sys.exit(3)


def tell(made: Any, options: dict[str, Any]) -> None:
    """Print the result of a verb, and write it as a page and as JSON if requested."""
    json, html = options.get("json"), options.get("html")
    if json == "-":
        click.echo(made.to_json(style=_STYLE))
    elif not options["quiet"]:
        made.show(_STYLE)
    if html:
        made.save_html(html, _STYLE, options.get("overwrite", False))
    if json not in (None, "-"):
        made.to_json(json, style=_STYLE, overwrite=options.get("overwrite", False))


def _refusals(result: Any, *, printed: bool) -> list[str]:
    """Return the requested estimates that cannot be given; for a check that is a finding, not a failure.

    printed: whether the result was, which has the reasons and what to do; nothing is told twice.
    """
    if result.facts.get("kind") == "check" or not hasattr(result, "estimates"):
        return []
    refused = list(result.estimates.refused.values())
    if refused and printed:
        every = len(refused) + len(result.estimates)
        return [f"error: {len(refused)} of {every} estimates cannot be given; the output says why"]
    remedies = dict.fromkeys(f"  what to do: {worded(error.remedy, _STYLE)}" for error in refused)
    return [*(f"error: {worded(error.message, _STYLE)}" for error in refused), *remedies]
