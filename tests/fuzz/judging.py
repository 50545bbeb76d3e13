"""One case, drawn and judged: an answer that is right, an error that says what to do, or a failure."""

from __future__ import annotations

import os
import random
import re
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from offrank.errors import OffrankError

from . import files, forms, logs, peaks, shapes
from .answers import Wrong
from .cases import Invalid, Layout, LogCase, Unwritable
from .changes import changed
from .files import FileCase
from .questions import QUESTIONS, Asked, judge_refusal
from .shrink import AnyCase, shrunk

SECONDS, BYTES = 60.0, 2 << 30
"""The most that a case may take, of the time of the processor."""
_IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where cases are written: where removing a folder takes no disk, if there is such a place."""
_OF_BYTES, _WIDE, _STRANGE = 0.17, 0.65, 0.3
"""The share of cases that are files with edited bytes; and of the others, those with a row per impression, and those
that are written as strangers write."""
_COSTLY = {"duckdb": 0.25}
"""How often a form is drawn, where that is not 1: a base takes ten times as long to write and to open as a file."""
Outcome = Literal["answered", "refused", "unwritable", "failed"]


@dataclass(frozen=True)
class CaseOutcome:
    """How a case ended. why: what is wrong; where: the traceback; memory: the most bytes that the process held."""

    outcome: Outcome
    why: str = ""
    where: str = ""
    memory: int = 0

    @property
    def kind(self) -> str:
        """The failure without its particulars: the type of the error and the line that raised it, or what is wrong."""
        if not self.where:
            said = re.sub(r"/\S*/log/", "", self.why.partition("\n")[0])
            return re.sub(r"'.*?'|[\d.+-]+(e[\d+-]+)?", "_", said)[:60]
        return f"{self.why.partition(':')[0]} at {self.where.rpartition('/offrank/')[2].partition(', in')[0]}"


def draw_case(seed: str) -> AnyCase:
    """Draw the case of a seed."""
    rng = random.Random(seed)
    if rng.random() < _OF_BYTES:
        return files.draw_file(seed, rng)
    layout: Layout = "wide" if rng.random() < _WIDE else "long"
    asked = rng.choices(list(QUESTIONS), [often for _, often in QUESTIONS.values()])[0]
    form = rng.choices(list(forms.FORMS), [_COSTLY.get(name, 1.0) for name in forms.FORMS])[0]
    invalid: Invalid = "skip" if rng.random() < 0.3 else "raise"
    case = LogCase(layout, logs.draw_log(layout, rng), form, asked, invalid, seed=seed)
    if rng.random() < _STRANGE:
        return _of_stranger(case, rng)
    return changed(forms.by_query(case) if form == "hive" else case, rng)


def _of_stranger(case: LogCase, rng: random.Random) -> LogCase:
    """Return a log as a stranger writes it; of a third nothing is said, so that it is known by its shape."""
    names = [name for name, shape in shapes.SHAPES.items() if shape.layout == case.layout]
    case = replace(shapes.shaped(case, rng.choice(names)), told=rng.random() < 0.7)
    if not case.told:
        case = replace(case, invalid="raise")  # else rows that are read in another way would be left out
    able = shapes.SHAPES[case.shape].forms or [*forms.FORMS]
    form = case.form if case.form in able else rng.choice(sorted(able))
    case = shapes.in_its_names(changed(replace(case, form=form), rng))
    typed = sorted({*able} & {*forms.TYPED})
    if rng.random() < _STRANGE or not typed:
        return case
    types = {forms.ANY_COLUMN: rng.choice(list(forms.TYPES))}
    return replace(case, form=rng.choice(typed), types=types, changed=(*case.changed, "a type of Arrow's"))


def judge_case(case: AnyCase) -> CaseOutcome:
    """Write a case into a folder of its own, ask, and judge what comes."""
    begun, before = time.process_time(), peaks.reset()
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as folder, _strict():
        found = replace(_judged(case, Path(folder)), memory=max(0, peaks.peak() - before))
    taken = time.process_time() - begun
    if taken > SECONDS:
        return replace(found, outcome="failed", why=f"slow: {taken:.0f} seconds", where="")
    if found.memory > BYTES:
        return replace(found, outcome="failed", why="large: more than 2 GiB of memory", where="")
    return found


def smallest(case: AnyCase, found: CaseOutcome) -> AnyCase:
    """Return a small case that fails as this one did."""
    return replace(shrunk(case, lambda other: judge_case(other).kind == found.kind), seed=case.seed)


def _judged(case: AnyCase, folder: Path) -> CaseOutcome:
    try:
        try:
            _ask(case, folder)
        except OffrankError as error:
            judge_refusal(case, error)
            return CaseOutcome("refused", str(error))
    except Unwritable as error:
        return CaseOutcome("unwritable", str(error))
    except Wrong as error:
        return CaseOutcome("failed", f"wrong: {error}")
    except Exception as error:  # noqa: BLE001  whatever it is, it is what is looked for
        return CaseOutcome("failed", f"{type(error).__name__}: {error}", traceback.format_exc())
    return CaseOutcome("answered")


def _ask(case: AnyCase, folder: Path) -> None:
    if isinstance(case, FileCase):
        case.ask(folder)
        return
    (folder / "log").mkdir()
    ask, _ = QUESTIONS[case.question]
    ask(Asked(case, forms.written(case, folder / "log"), folder))


@contextmanager
def _strict() -> Iterator[None]:
    """Make every warning an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
