"""The interface of a log for the jobs that read it: parts, and batches of each part."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self, TypeVar, runtime_checkable

from ..errors import ColumnError, UsageError
from ..wording import Option, Wording
from .batch import LogBatch

S = TypeVar("S")
ShownAbility = Literal["log_prob", "slot_probs", "rank_law"]
"""What can be asked about the slates shown in a log, also where only these have logged probabilities."""
Ability = ShownAbility | Literal["sample", "rank_probs", "pair_probs"]
"""What can be asked of a policy; the last three only of a law over any slate."""


@dataclass(frozen=True)
class Needs:
    """The columns that a job needs; a source reads no others.

    roles: names from `schema.ROLES`. scores, rankings, keys, labels, clusters, numbers: the user's own column names,
    numbers those with one number per impression, item_numbers those with one per item shown, times those with a date
    or time.
    weights: the scores among them that must not be negative; positive: those that must be above 0. written:
    `role:column`, probabilities of the shown slates under another policy than the logging one
    (`propensity:new_propensity`). holes: whether the job supports ranks where nothing was shown, which are -1 inside
    slates; otherwise they break a rule. exchangeable: whether the result depends only on these columns, so that other
    items with the same numbers would be treated alike. texts: whether the batches hold the texts of the items and keys
    beside their codes.
    """

    roles: frozenset[str] = frozenset()
    scores: frozenset[str] = frozenset()
    weights: frozenset[str] = frozenset()
    positive: frozenset[str] = frozenset()
    rankings: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    item_numbers: frozenset[str] = frozenset()
    times: frozenset[str] = frozenset()
    holes: bool = False
    texts: bool = False
    exchangeable: bool = False

    def __or__(self, other: Needs) -> Needs:
        theirs = vars(other)
        both = {name: mine | theirs[name] for name, mine in vars(self).items()}
        return Needs(**{**both, "exchangeable": self.exchangeable and other.exchangeable})


def needs(*roles: str, **columns: str) -> Needs:
    """The needs in short form: `needs("clicks", scores="old_score")`."""
    named: Any = {kind: frozenset([name]) for kind, name in columns.items()}
    return Needs(frozenset(roles), **named)


class Source(Protocol):
    """A picklable description of a log (paths and options), read lazily."""

    def parts(self) -> int:
        """The number of parts that can be read in parallel.

        Returns:
            The number; parts are counted from 0.

        Examples:
            >>> offrank.read_log([{"slate": ["a", "b"], "clicks": [1, 0]}]).parts()
            1
        """

    def batches(self, part: int) -> Iterator[LogBatch]:
        """The impressions of one part, in order.

        Parameters:
            part: its number, from 0.

        Returns:
            Batches of some thousand rows.

        Examples:
            >>> log = offrank.read_log([{"slate": ["a", "b"], "clicks": [1, 0]}])
            >>> [batch.clicks.tolist() for batch in log.batches(0)]
            [[[1.0, 0.0]]]
        """

    def select(self, needed: Needs) -> Source:
        """The same log, reading these columns only.

        Parameters:
            needed: the columns.

        Returns:
            A log of the same rows.

        Raises:
            ColumnError: the log has no such column.

        Examples:
            >>> needed = offrank.log.Needs(frozenset(["candidates"]), frozenset(["new_score"]))
            >>> log = offrank.read_log("offrank-demo/log.parquet").select(needed)
            >>> list(next(iter(log.batches(0))).contexts.scores)
            ['new_score']
        """

    def describe(self) -> str:
        """A description of where the log is, for reports.

        Returns:
            A few words.

        Examples:
            >>> offrank.read_log("offrank-demo/log.parquet").describe()
            'offrank-demo/log.parquet'
        """


class OnePart:
    """A source or a table that is read as one part."""

    def parts(self) -> int:
        return 1


def has(source: Source, needed: Needs) -> bool:
    """Whether a source has these columns; one that can tell is asked, since an error takes long to word."""
    if hasattr(type(source), "has"):
        return bool(source.has(needed))  # type: ignore[attr-defined]
    try:
        source.select(needed)
    except ColumnError:
        return False
    return True


def has_clicks(source: Source) -> bool:
    """Whether a log has clicks, and not rewards alone."""
    return has(source, Needs(frozenset(["clicks"])))


def refuse_unknown_clusters(needed: Needs, known: Collection[str], source: Source) -> None:
    """Raise if a cluster column is missing from a source of batches, so that it cannot be used.

    Raises:
        ColumnError: one is not among the `known`.
    """
    for name in sorted(needed.clusters - set(known)):
        raise ColumnError(
            f"{source.describe()} has no column {name!r} to cluster by", Wording("use {}", Option("cluster", None))
        )


def refuse_once(source: Source, why: str) -> None:
    """Raise if a log that is to be read several times can be read once only; called before anything is read.

    why: what needs several readings, as the rest of a sentence.

    Raises:
        UsageError: it can be read once.
    """
    if is_read_once(source):
        raise read_once(source.describe(), why)


def is_read_once(source: Source) -> bool:
    """Whether a log is a stream that can be read once only."""
    inner: Any = source
    while inner is not None:
        if getattr(inner, "once", False):
            return True
        inner = getattr(inner, "source", None) or getattr(inner, "table", None)
    return False


def read_once(where: str, why: str) -> UsageError:
    """Return the error about a stream that is to be read again."""
    return UsageError(
        f"the {where} can be read only once, but {why}",
        "give a function that opens it again, read_log(lambda: ...), or save it as Parquet and read that",
    )


class Engine(Protocol):
    """What reduces a log where its rows are."""

    def each(self, task: Callable[[int], S], progress: Callable[[int, int], None] | None = None) -> Iterable[S]:
        """Return the results of `task(0)` in order, each where part 0 of the log is some of its rows."""


@runtime_checkable
class Located(Protocol):
    """A source or a table whose rows may be elsewhere."""

    def engine(self) -> Engine | None:
        """Return what reduces it there; None if its parts can be read anywhere."""


def engine_of(log: Any) -> Engine | None:
    """Return what reduces a source or a table where its rows are; None if its parts can be read anywhere."""
    return log.engine() if isinstance(log, Located) else None


def refuse_placed(source: Any, what: str) -> None:
    """Raise if the rows of a log are elsewhere. what: the job that reads them here, one after another.

    Raises:
        UsageError: they are.
    """
    if engine_of(source) is not None:
        raise UsageError(
            f"{what} in this process, row by row, but the rows of the {source.describe()} are elsewhere",
            "save the log as a folder of Parquet files, and give the folder",
        )


@dataclass(frozen=True)
class SourceOver:
    """Some rows of a source, as a source."""

    source: Source

    def parts(self) -> int:
        return self.source.parts()

    def engine(self) -> Engine | None:
        return engine_of(self.source)

    def select(self, needed: Needs) -> Self:
        return replace(self, source=self.source.select(needed))


@runtime_checkable
class Stamped(Protocol):
    """A source, or a table of one, that can be told from what it was."""

    def stamp(self) -> Mapping[str, Any] | None:
        """Return what changes with the log: plain values by what they say; None if nothing tells its changes."""


def stamp_of(log: Any) -> Mapping[str, Any] | None:
    """Return what changes with a log: sizes and times of its files, columns, rows; None if nothing does."""
    return log.stamp() if isinstance(log, Stamped) else None
