"""Evaluations as states in files: what was asked, of which files, and what was counted, before it is finished."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate, pairwise
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import OffrankError, StateError, UsageError
from ..estimators.family import family
from ..language.files import atomic_write, regular
from ..log.batch import LogBatch, RunCache
from ..log.source import Source
from ..policies.fit import replaced
from ..readers.by_file import ByFile, file_name, files_of, first_row, layout_of, without_rows
from ..readers.files import describe
from ..readers.log import period_of, time_column
from ..running import reproducibility
from ..running.identity import digest
from ..running.quantities import Quantities, Quantity
from ..running.states import dumps, loads
from ..sums.base import Fold, total
from ..sums.fingerprint import Fingerprint
from ..wording import Option, Wording
from .ab_test import OF_STATE
from .log_counts import LogCounts
from .log_pass import Pass
from .provenance import Provenance
from .question import PER_ITEM, Question

FORM = "evaluation"
TOTALS = "totals"
COLUMNS = "cluster columns"
"""What the log's answer to `cluster` was, beside what was asked."""
VERSION = reproducibility.versions()["offrank"]
_FEWEST = 25
"""Different rows from which two logs do not have the same ones, each as often, by chance."""
_REMEDY = "merge only states of the same question: the same arguments, and logs with the same columns"


@dataclass(frozen=True)
class State:
    """An evaluation that is not finished.

    - where: the file that it is in. offrank: the version that wrote it.
    - question: what was asked, by its spellings. layout: the columns of the log.
    - job: a digest of all that is counted. learnt: the rows that the examination curve was learnt from.
    - paths: the files of the log, as they were named. files: names -> numbers that their rows have.
    - counted: the state of the folds. period: the first and the last day of the log, if known.
    """

    where: str
    offrank: str
    question: Mapping[str, Any]
    layout: Mapping[str, Any]
    job: str
    learnt: Fingerprint | None
    paths: tuple[str, ...]
    files: Mapping[str, int]
    counted: Any
    period: Mapping[str, str] | None = None

    def save(self, path: Path) -> None:
        """Write one file atomically."""
        held = {name: value for name, value in vars(self).items() if name != "where"}
        with atomic_write(path) as temporary:
            temporary.write_bytes(dumps({"form": FORM, **held}))

    @classmethod
    def load(cls, path: Path) -> State:
        """Read what `save` wrote.

        Raises:
            StateError: it is damaged, of another version, or no state of an evaluation.
            UsageError: there is no such file.
        """
        try:
            found = loads(regular(path).read_bytes(), str(path))
        except (FileNotFoundError, IsADirectoryError) as error:
            raise UsageError(
                f"there is no state {str(path)!r}", Wording("write it first: {}", Option("state", str(path)))
            ) from error
        if not isinstance(found, dict) or found.pop("form", None) != FORM:
            raise StateError(f"{path} is not the state of an evaluation", "give a state file that evaluate has written")
        try:
            return cls(str(path), **found)
        except TypeError as error:
            raise StateError(f"{path} is damaged: {error}", "write it again") from error

    def counted_by(self, where: str) -> tuple[Pass, Quantities]:
        """The pass that counted it and its quantities, made again from the spellings. where: the log in words."""
        source = without_rows(self.layout, where, self.period)
        job = pass_of_state(Question.from_dict(self.question, source), self.learnt)
        return job, job.quantities(source)


@dataclass(frozen=True)
class FileRows:
    """numbers: name of a file -> numbers that its rows have."""

    numbers: Mapping[str, int]

    def __add__(self, other: FileRows) -> FileRows:
        more = {name: max(rows, self.numbers.get(name, 0)) for name, rows in other.numbers.items()}
        return FileRows({**self.numbers, **more})


@dataclass(frozen=True)
class FilesFold(Fold):
    """Reduces the batches of a `ByFile` to {name of a file: numbers that its rows have}."""

    folder: str

    def of(self, batch: LogBatch) -> FileRows:
        last = int(batch.row.max(initial=batch.base)) - batch.base + 1
        return FileRows({file_name(self.folder, batch.file): last} if len(batch) else {})


def pass_of_state(question: Question, learnt: Fingerprint | None) -> Pass:
    """The pass of a question by which nothing is learnt; only the columns of its log, which is open, matter."""
    plan, source = question.plan, question.log
    spec = question.spec.with_clusters_of(source)
    spec = spec.with_rows_of(source, plan.logging) if spec.draws_rows else spec
    curve = plan.trained.curve
    families = {repr(one): family(one, curve) for one in plan.estimators}
    job = Pass(plan.targets, plan.logging, families, spec, question.by, Provenance(curve, learnt))
    job = replace(job, totals=question.totals, control=question.control, scorecard=question.scorecard)
    compares = plan.baseline is not None
    known = compares and (job.layout.tells_lists or job.logging.confirmed.merges)
    return replace(job, compares=compares, no_history=OF_STATE if known else None).referenced(source)


def refuse_learnt(question: Question) -> None:
    """Raise if a state is asked for and something would be learnt from each log, so that days have different ones.

    Raises:
        UsageError: a policy or an estimator is, or only a part of the log is read.
    """
    if question.held_out is not None:
        raise UsageError("a state needs the whole log, not the part that a policy left out", "use one of the two")
    found: list[Any] = []

    def seen(one: Any) -> Any:
        found.append(one)
        return one

    plan = question.plan
    for policy in (*plan.targets.values(), plan.logging):
        replaced(policy, seen)
    for estimator in plan.estimators:
        _ = seen(estimator) if estimator.kind.preselected else replaced(estimator, seen)
    if found:
        raise UsageError(
            f"{found[0]!r} is learnt from the log itself, so states of two logs could not be merged",
            Wording(
                "name a policy (with its shares, if it is balanced), an estimator or a model file that is the same "
                "for every log, or leave out {}",
                Option("state"),
            ),
        )


def counted(job: Pass, question: Question, log: Source, path: str | PathLike[str], cache: RunCache) -> LogCounts:
    """Read a log with its rows numbered by file, and write its state to a path. cache: of batches.

    Raises:
        UsageError: the question cannot be made again from its spellings.
    """
    asked, executor, progress = job.quantities(log, cache), question.executor, question.progress
    begun = _begun(question, log, job, asked)
    source = ByFile.of(log, Path(path))
    both = Quantities(source, asked.needs, asked.cache)
    both.add(Quantity("job", asked.fold), Quantity("files", FilesFold(source.folder)))
    found = both.state(executor, progress)
    ended = replace(begun, files=found["files"].numbers, counted=found["job"])
    ended.save(Path(path))
    return finished(ended, job, asked)


def _begun(question: Question, log: Source, job: Pass, quantities: Quantities) -> State:
    """The state before anything was counted, from which the same pass can be made."""
    items: dict[str, Any] = {PER_ITEM: sorted(job.scorecard.lists)} if job.scorecard and job.scorecard.lists else {}
    items |= {"where": kept} if (kept := vars(log).get("where")) else {}
    asked = {**question.to_dict(), COLUMNS: list(job.spec.columns), **items}
    paths = (log.describe(),) if (files := files_of(log)) is None else files.paths
    period = period_of(log)
    layout = {**layout_of(log), "time": period["column"] if period else time_column(log)}
    known = layout, digest(quantities.fold), job.trained.curve_rows, paths
    state = State(str(question.state), VERSION, asked, *known, {}, None, period)
    try:
        again = digest(state.counted_by(log.describe())[1].fold)
    except OffrankError:
        again = ""
    if again != state.job:
        raise UsageError(
            "a policy, an estimator or a model cannot be identified by its name, so its states cannot be merged",
            Wording("use ones with a spelling, and save models to files; or leave out {}", Option("state")),
        )
    return state


def finished(state: State, job: Pass, asked: Quantities) -> LogCounts:
    """The counts of the log of a state.

    Raises:
        StateError: two files have numbers of rows in common. EmptyLogError: there are no impressions.
    """
    for name, following in pairwise(sorted(state.files, key=first_row)):
        if first_row(name) + state.files[name] > first_row(following):
            said = f"the rows of {name} and {following} have the same row numbers by chance"
            raise StateError(said, "rename one of the files")
    before = accumulate(state.files.values(), initial=0)
    bases = {first_row(name): base for name, base in zip(state.files, before, strict=False)}
    return LogCounts.of(job, asked, state.counted, describe(state.paths), bases)


def merged(states: Sequence[State]) -> tuple[State, Pass, Quantities]:
    """One state of several, in their order, and the pass that finishes it with its quantities.

    Raises:
        StateError: they are of different questions, or two hold the same rows.
    """
    first = states[0]
    for other in states[1:]:
        _refuse_unlike(first, other)
    _refuse_twice(states)
    paths = tuple(path for one in states for path in one.paths)
    files = {name: rows for one in states for name, rows in one.files.items()}
    first = replace(first, question={**first.question, TOTALS: _added([one.question[TOTALS] for one in states])})
    job, asked = first.counted_by(describe(paths))
    if digest(asked.fold) != first.job:
        versions = "" if first.offrank == VERSION else f" by offrank {first.offrank}, and this is {VERSION}"
        raise StateError(
            f"a policy or a model has changed since {first.where} was counted{versions}",
            "keep the files of policies and models unchanged between days, or count the days again",
        )
    whole = reduce(total, (one.counted for one in states))
    periods = [one.period for one in states]
    return replace(first, paths=paths, files=files, counted=whole, period=_spanned(periods)), job, asked


def looked_at_daily(states: Sequence[State]) -> str | None:
    """The kind of interval that holds at each of many looks, if these states are of several days, of the usual kind."""
    firsts = {one.period and one.period["first"][:10] for one in states}
    usual = all(one.question["interval"] == "studentised" for one in states)
    return "anytime" if usual and len(firsts) > 1 and None not in firsts else None


def _spanned(periods: Sequence[Mapping[str, str] | None]) -> dict[str, str] | None:
    """The period of several logs together; None if that of one is not known, or their columns differ."""
    known = [one for one in periods if one is not None]
    if len(known) < len(periods) or len({one["column"] for one in known}) > 1:
        return None
    return {**known[0], "first": min(one["first"] for one in known), "last": max(one["last"] for one in known)}


def _added(totals: Sequence[Mapping[str, float] | None]) -> dict[str, float] | None:
    """The true numbers of several logs together."""
    given = [one for one in totals if one is not None]
    return {name: sum(one[name] for one in given) for name in given[0]} if given else None


@contextmanager
def well_formed() -> Iterator[None]:
    """Turn the errors of states that hold something else than they should into one.

    Raises:
        StateError: a state is malformed.
    """
    try:
        yield
    except OffrankError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise StateError(f"one of the states is malformed: {error}", "count its log again") from error


def _refuse_unlike(one: State, other: State) -> None:
    """Raise if two states are not of the same question, with the first difference."""
    for name in dict.fromkeys([*one.question, *other.question]):
        mine, theirs = (state.question.get(name) for state in (one, other))
        if name == TOTALS and mine is not None and theirs is not None and set(mine) == set(theirs):
            continue  # each log has its own
        if mine != theirs:
            raise StateError(f"{name} is {mine!r} in {one.where}, and {theirs!r} in {other.where}", _REMEDY)
    if one.job == other.job:
        return
    for name in ("kind", "renamed", "top_k", "time"):
        mine, theirs = one.layout[name], other.layout[name]
        if mine != theirs:
            raise StateError(f"{name} of the log is {mine!r} in {one.where}, and {theirs!r} in {other.where}", _REMEDY)
    for some, others in ((one, other), (other, one)):
        if more := sorted({*some.layout["columns"]} - {*others.layout["columns"]}):
            raise StateError(
                f"the log of {some.where} has the column {more[0]!r}, but that of {others.where} does not", _REMEDY
            )
    raise StateError(
        f"{one.where} and {other.where} were counted with different policies or models of the same names", _REMEDY
    )


def _refuse_twice(states: Sequence[State]) -> None:
    """Raise if two states hold the same rows: those of one file, or of equal content."""
    held: dict[Any, str] = {}
    for one in states:
        contents, rows = one.counted["contents"], one.counted["impressions"].n
        same = [f"the file {name}" for name in one.files]
        if len(contents.key) >= _FEWEST:
            same.append(f"the same {rows:,} rows ({digest(contents)[:8]})")
        for what in same:
            if what in held:
                raise StateError(f"{held[what]} and {one.where} both hold {what}", "merge each day once")
            held[what] = one.where
