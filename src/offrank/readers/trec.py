"""Runs and judgments of TREC: what rankers found for queries, and how good each document is. No clicks.

run: query Q0 document rank score tag; judgments (qrels): query 0 document grade
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..errors import EmptyLogError, LogError
from ..language.files import atomic_write
from ..log.graded_queries import Judged
from .files import expand
from .text import is_whole, lines, malformed

_RUN, _QRELS = "query Q0 document rank score tag", "query 0 document grade"
_LINES: Mapping[Literal["run", "qrels"], re.Pattern[str]] = {
    "run": re.compile(r"\S+[ \t]+(Q0|q0|0)[ \t]+\S+[ \t]+\d+[ \t]+[-+]?[\d.]+([eE][-+]?\d+)?[ \t]+\S+[ \t]*"),
    "qrels": re.compile(r"\S+[ \t]+(Q0|q0|0)[ \t]+\S+[ \t]+-?\d+(\.\d+)?[ \t]*"),
}


@dataclass(frozen=True)
class TrecJudged(Judged):
    """Judged documents with the names of their queries, by row of `query`, and documents, by number in `document`."""

    queries: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()


def read_trec(run: str | Path, qrels: str | Path) -> TrecJudged:
    """Read a run of TREC with its judgments, both plain or packed: the documents of each query, best score first.

    A document that is not judged has grade 0, as one below 0 has. The one feature is the score. Queries are
    numbered by their names if those are whole numbers, else in the order of the run.

    Parameters:
        run: the file of the run.
        qrels: the file of the judgments.

    Returns:
        The judged documents, with their names.

    Raises:
        LogError: a line that is not in the format; a document twice for a query; no query of the run is judged.

    Examples:
        >>> judged = offrank.simulation.mslr_like(10, (5, 5))
        >>> offrank.readers.write_trec(judged, "run.txt", "qrels.txt")
        >>> offrank.readers.read_trec("run.txt", "qrels.txt").grade.size
        50
    """
    grades: dict[tuple[str, str], float] = {}
    for query, document, grade in read_qrels(qrels):
        grades[query, document] = max(grade, 0.0)
    found: dict[str, dict[str, float]] = {}
    for query, document, score in read_run(run):
        if document in found.setdefault(query, {}):
            raise LogError(f"{run}: query {query!r} has document {document!r} twice", "give each document once")
        found[query][document] = score
    if not {query for query, _ in grades} & found.keys():
        ours, theirs = (next(iter(each), "") for each in (found, [query for query, _ in grades]))
        raise LogError(
            f"no query of {run} ({ours!r} ...) is judged in {qrels} ({theirs!r} ...)", "give the judgments for this run"
        )
    highest = {query: sorted(each.items(), key=lambda one: -one[1]) for query, each in found.items()}
    ranked = [(query, *one) for query, each in highest.items() for one in each]
    names = tuple(found)
    numbers = [int(name) for name in names] if all(map(_is_number, names)) else range(len(names))
    return TrecJudged(
        np.array(numbers, np.int64),
        np.append(0, np.cumsum([len(each) for each in found.values()])),
        np.array([grades.get((query, document), 0.0) for query, document, _ in ranked]),
        np.array([[score] for _, _, score in ranked]),
        np.arange(len(ranked)),
        names,
        tuple(document for _, document, _ in ranked),
    )


def read_qrels(path: str | Path) -> Iterator[tuple[str, str, float]]:
    """Yield query, document and grade of each line of judgments, plain or packed.

    Raises:
        LogError: a line that is not in the format. EmptyLogError: no lines.
    """
    return _read(path, 4, _QRELS)


def read_run(path: str | Path) -> Iterator[tuple[str, str, float]]:
    """Yield query, document and score of each line of a run, plain or packed; raise as `read_qrels` does."""
    return _read(path, 6, _RUN)


def kind_of_trec(text: str) -> Literal["run", "qrels", ""]:
    """Return whether all lines of a text are those of a run or of judgments; empty if of neither."""
    read = [line for line in text.splitlines() if line.strip()]
    for kind, pattern in _LINES.items():
        if read and all(map(pattern.fullmatch, read)):
            return kind
    return ""


def size_of_run(run: str | Path) -> tuple[int, int]:
    """Return how many queries a run has, and the longest list of documents; raise a `LogError` at another line."""
    sizes = Counter(query for query, _, _ in read_run(run))
    return len(sizes), max(sizes.values())


def write_trec(judged: Judged, run: str | Path, qrels: str | Path, tag: str = "offrank", feature: int = 0) -> None:
    """Write judged documents as a run of TREC, by one of their features, and its judgments, each atomically.

    Queries and documents have their names if they were read by `read_trec`, else their numbers. Grades are rounded.

    Parameters:
        judged: the documents.
        run: the file of the run to write.
        qrels: the file of the judgments to write.
        tag: the name of the run.
        feature: the column of the score, from 0.

    Examples:
        >>> judged = offrank.simulation.mslr_like(10, (5, 5))
        >>> offrank.readers.write_trec(judged, "run.txt", "qrels.txt")
    """
    queries, names = _names(judged)
    with atomic_write(run) as first, atomic_write(qrels) as second:
        found, graded = [], []
        for at, query in enumerate(queries):
            rows = np.arange(judged.first[at], judged.first[at + 1])
            rows = rows[np.argsort(-judged.features[rows, feature], kind="stable")]
            for rank, row in enumerate(rows.tolist(), 1):
                document, score = names[judged.document[row]], float(judged.features[row, feature])
                found.append(f"{query} Q0 {document} {rank} {score!r} {tag}\n")
                graded.append(f"{query} 0 {document} {round(judged.grade[row])}\n")
        Path(first).write_text("".join(found), encoding="utf-8")
        Path(second).write_text("".join(graded), encoding="utf-8")


def _names(judged: Judged) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the names of the queries, and those of documents by their number."""
    if isinstance(judged, TrecJudged):
        return judged.queries, judged.documents
    return judged.query.tolist(), range(int(judged.document.max(initial=-1)) + 1)


def _read(path: str | Path, width: int, form: str) -> Iterator[tuple[str, str, float]]:
    """Yield query, document and the number of each line: the grade of 4 words, the score of 6."""
    read = 0
    for file in expand(path):
        for number, line in lines(file):
            words = line.split()
            if not words:
                continue
            value = _value(words, width)
            if value is None:
                raise malformed(file, number, line.strip(), f"'{form}'", "write one line per document")
            read += 1
            yield words[0], words[2], value
    if not read:
        raise EmptyLogError(f"{path} has no documents", f"write lines of '{form}'")


def _value(words: Sequence[str], width: int) -> float | None:
    """Return the grade or the score of a line, None if it is not in the format."""
    try:
        return float(words[3 if width == 4 else 4]) if len(words) == width else None
    except ValueError:
        return None


def _is_number(name: str) -> bool:
    return is_whole(name) and str(int(name)) == name
