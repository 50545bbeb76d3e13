"""The result for a terminal: one line per estimate, and each warning in words once."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from offrank.report import facts, words
from offrank.report.answers import answers
from offrank.report.facts import Document, Finding, Record
from offrank.report.rows import SIGNS, Row, measured, row, rows

_STYLES = {"ok": "", "note": "cyan", "warning": "yellow", "serious": "bold red"}
_WIDE = 110


def print_result(document: Document, console: Console | None = None) -> None:
    """Print a result document; in colour only where the console is a terminal that shows it."""
    console = console or Console()
    for part in _parts(document, console.width):
        console.print(part)


def render_text(document: Document, width: int | None = None) -> str:
    """The same as plain text without colour, as wide as the terminal (80 columns where there is none)."""
    if width is None:
        width = min(shutil.get_terminal_size((80, 24)).columns, 120)
    written = io.StringIO()
    print_result(document, Console(file=written, width=width, color_system=None, force_terminal=False))
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n"


def _parts(document: Document, width: int) -> Iterator[RenderableType]:
    found = facts.findings(document)
    marks = {finding.code: index for index, finding in enumerate(found, 1)}
    if document.get("title"):
        yield Text(words.printable(document["title"]), style="bold")
    for answer in answers(document):
        reasons = "".join(f"\n- {reason}" for reason in answer.reasons)
        yield _spaced(_prose(f"{answer.text} {answer.aside}".strip() + reasons))
    yield from _skipped(document)
    if document.get("kind") == "check":
        yield from _checked(document)
        return
    for target in facts.targets(document):
        if worded := rows(document, target):
            lines = [(one.estimator, one) for one in worded]
            yield _spaced(_table(target, "estimator", lines, marks, width))
    if facts.groups(document):
        yield from _groups(document, marks, width)
    for finding in found:
        yield _spaced(_finding(finding, marks[finding.code]))
    yield from _checked(document)


def _skipped(document: Document) -> Iterator[RenderableType]:
    """What was left out while reading, never in silence."""
    skipped = (document.get("log") or {}).get("skipped") or {}
    if listed := [f"{words.count(number)} for `{rule}`" for rule, number in skipped.items() if number]:
        yield _spaced(_prose(f"Left out while reading: {words.listing(listed)}."))
    if learnt := (document.get("log") or {}).get("learnt_from"):
        yield _spaced(_prose(f"Left out: {words.count(learnt)} impressions that the policy was learnt from."))


def _checked(document: Document) -> Iterator[RenderableType]:
    """What was checked, and the inverse propensities per slot count."""
    if document.get("checks"):
        yield _spaced(Text("Checks of the log", style="bold"))
        yield _checks(document["checks"])
    if document.get("slots"):
        yield _spaced(_slots(document["slots"]))


def _groups(document: Document, marks: dict[str, int], width: int) -> Iterator[RenderableType]:
    """One table of groups per target, of the estimator that answers; all would bury the reader."""
    shown = facts.groups(document)[: facts.MOST_GROUPS]
    for target in facts.targets(document):
        chosen = facts.grouped_estimator(document, target)
        found = [one for group in shown for one in facts.estimates_of(document, target, group)]
        lines = [(str(one["group"]), row(one)) for one in found if one["estimator"] == chosen]
        if lines:
            yield _spaced(_table(f"{target} by {chosen}", document.get("by") or "group", lines, marks, width))
    left_out = ["Other estimators by group are in the HTML report and in the JSON."]
    if hidden := facts.hidden_groups(document):
        left_out.append(f"{words.plural(hidden, 'smaller group is', 'smaller groups are')} not shown.")
    yield Text(" ".join(left_out), style="dim")


def _table(title: str, first: str, lines: list[tuple[str, Row]], marks: dict[str, int], width: int) -> Table:
    """One line per row; the interval of the difference only where there is room for it."""
    wide, truth = width >= _WIDE, any(one.truth != words.MISSING for _, one in lines)
    table = Table(
        title=Text(words.printable(title), style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0) if wide else 0,
    )
    table.add_column(Text(words.printable(first)), overflow="fold")
    ends = ["interval"] if wide else []
    for name in ("value", "interval", "change", *ends, "ESS", "weight", *(["truth"] if truth else [])):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("see", no_wrap=True)
    for label, one in lines:
        cells = ["", one.refusal, *([""] * (3 + wide + truth))]
        if not one.refusal:
            ends = [one.difference_interval] if wide else []
            cells = [one.value, one.interval, one.difference, *ends, one.ess, one.mean_weight]
            cells += [one.truth] if truth else []
        see = ",".join(str(marks[code]) for code in one.codes)
        cells = [
            words.shorten(words.printable(label), 60) or "(empty)",
            *cells,
            f"{SIGNS[one.severity]} {see}".strip(),
        ]
        table.add_row(*map(Text, cells), style=_STYLES[one.severity])
    return table


def _finding(finding: Finding, mark: int) -> Text:
    text = Text(f"[{mark}] {finding.code}", style="bold").append(f" ({finding.severity})", _STYLES[finding.severity])
    for message, places in finding.shown(3):
        text.append_text(_prose(f"\n{message} ({places})"))
    if finding.rest(3):
        text.append_text(_prose(f"\n{finding.rest(3)}"))
    for whose, remedy in finding.remedies(3):
        text.append_text(_prose(f"\nWhat to do{f' ({whose})' if whose else ''}: {remedy}"))
    return text


def _checks(checks: list[Record]) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for check in checks:
        status = check.get("status") or "ok"
        said = str(check.get("title") or check["code"])
        if check.get("value") is not None:
            said += f": {measured(check)}"
        if check.get("expected") is not None:
            said += f", expected {check['expected']:g}"
        if status != "ok" or check.get("value") is None:
            said += f"\n{check.get('message') or ''} {check.get('remedy') or ''}".rstrip()
        table.add_row(Text(status, _STYLES.get(status, "dim")), _prose(said))
    return table


def _slots(slots: list[Record]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="1 / propensity", title_justify="left")
    table.add_column("slots", justify="right")
    for name in ("impressions", "before sub-sampling", "mean", "largest"):
        table.add_column(name, justify="right")
    for one in slots:
        counts = [f"{one['impressions']:,}", f"{one['estimated_impressions']:,.0f}"]
        sizes = [f"{one[name]:.4g}" for name in ("mean_inverse_propensity", "max_inverse_propensity")]
        table.add_row(str(one["slots"]), *counts, *sizes)
    return table


def _spaced(part: RenderableType) -> Padding:
    return Padding(part, (1, 0, 0, 0))


def _prose(text: str) -> Text:
    """Text without its marks for code and emphasis, and without what could rewrite the terminal."""
    plain = "\n".join(words.printable(line) for line in text.replace("**", "").replace("`", "").split("\n"))
    return Text(plain, style="not bold")
