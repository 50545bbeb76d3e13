"""`demo`: the main job from end to end, on a simulated log whose truth is known."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from ..evaluation.result import Result
from ..language import Say, silent
from ..language.argument import seed_number
from ..language.outputs import refuse_output
from ..language.spelling import split
from ..policies.top import Top
from ..readers.log import read_log
from ..report.document import Document, Section
from ..report.printable import Printed
from ..running.executors import Progress
from ..simulation.search import LOGGING, SearchWorld, write_log
from ..wording import Style
from .check import check
from .evaluate import evaluate

TARGETS = {"better": Top("new_score"), "worse": Top("naive_score")}
ESTIMATORS = split(
    "ips, snips, clip(snips, 200), rips, snrips, ipm, snipm, interpol(window=1), interpol(window=1, form=windowed), pbm"
)


@dataclass(frozen=True)
class Demo(Printed):
    """Result of the demo: the log, its check, the evaluation beside the truth, and the report."""

    log: Path
    report: Path
    checked: Result
    evaluated: Result

    def to_document(self) -> Document:
        """Return one screen: the question, the verdicts beside the truth, the report's place, and next steps."""
        answers = tuple(replace(one, reasons=()) for one in self.evaluated.to_document().answers)
        size = self.evaluated.metadata.log.impressions
        title = "Would two new rankers have earned more clicks than the old one?"
        steps = ["", f"The report: {self.report}", "Try it yourself:", *(f"  {line}" for line in self.next_steps)]
        again = Section("To try it yourself", code="\n".join(steps))
        return Document(title, f"From {size:,} simulated impressions.", (again,), answers)

    @property
    def next_steps(self) -> list[str]:
        """Return commands to try on the demo's log."""
        log = shlex.quote(str(self.log))
        question = f"offrank evaluate {log} --logging 'plackett_luce(old_score)'"
        better = f"{question} --target 'top(new_score)' -e snipm -e 'interpol(window=1)'"
        return [
            f"offrank check {log} --logging 'plackett_luce(old_score)' --target 'top(new_score)'",
            f"{better} --examination 1,.5,.333,.25 --by device",
            f"{question} --target 'epsilon(top(new_score), 0.2)' -e snips -e snipm --html report.html",
        ]


def demo(
    folder: str | os.PathLike[str] = "offrank-demo",
    *,
    impressions: int = 200_000,
    seed: int = 7,
    overwrite: bool = False,
    say: Say = silent,
    progress: Progress | None = None,
    style: Style = "python",
) -> Demo:
    """Simulate a log, check it, evaluate a better and a worse ranker, and write the report.

    Parameters:
        folder: where `log.parquet`, `report.html` and `result.json` go.
        impressions: size of the log.
        seed: of the simulation.
        overwrite: replace files of these names that are not of a demo.
        say: called with a description of each step.
        progress: called with (parts done, total parts).
        style: whether advice in the report names arguments or command-line options ("command line").

    Returns:
        The paths of the log and the report, the check and the evaluation.

    Examples:
        >>> offrank.demo("small-demo", impressions=5000).report.name
        'report.html'
    """
    world = SearchWorld(impressions=impressions, seed=seed_number(seed))
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    log, report, result = (place / name for name in ("log.parquet", "report.html", "result.json"))
    for path in (log, report, result):
        refuse_output(path, overwrite=overwrite)
    say(f"1. Simulating {world.impressions:,} impressions of {world.queries} queries to {log}")
    write_log(world, log)
    source = read_log(log)
    say("2. Checking the log: are its propensities correct, and does it cover the target?")
    checked = check(source, logging=LOGGING, progress=progress)
    say(f"3. Evaluating a better and a worse ranker with {len(ESTIMATORS)} estimators, in one pass")
    evaluated = evaluate(source, TARGETS, LOGGING, ESTIMATORS, examination=list(world.examination), progress=progress)
    truths = {name: world.truth(target) for name, target in TARGETS.items()}
    shown = {"checks": checked.metadata.checks, "slots": checked.metadata.slots}
    evaluated = evaluated.with_truths(truths).with_facts(kind="demo", command=_command(folder, world), **shown)
    evaluated.save_html(report, style, overwrite)
    evaluated.to_json(result, style=style, overwrite=overwrite)
    return Demo(log, report, checked, evaluated)


def _command(folder: str | os.PathLike[str], world: SearchWorld) -> str:
    options = ["--impressions", str(world.impressions), "--seed", str(world.seed)]
    return shlex.join(["offrank", "demo", os.fspath(folder), *options])
