"""Metamorphic relations: changes to a log that must not change an answer.

Two different answers to the same question show an error, even if the right one is unknown. A question is any function
of a log, such as `lambda log: offrank.evaluate(log, "top(new)")`; a log is a table with a row per impression.

    log = LogTable(table, beside=("old", "new"))
    for relation in RELATIONS.values():
        check_relation(lambda log: offrank.evaluate(log, MyPolicy(), estimators=["ipm"]), log, relation)

Everything in an answer is compared: estimates, intervals, findings and their words, or the error if the question is
refused; for a histogram only its total. Values keyed by row number (the thirds of `learn`,
drawn slates) follow their row, so that such answers need not survive `rows in another order`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from offrank.errors import OffrankError, UsageError
from offrank.estimators import estimator
from offrank.language.assumptions import needs_curve
from offrank.reward_models import SlateRegression

Question = Callable[[Any], Any]
"""Maps anything that `read_log` takes to a result with `to_dict`, a dataclass, or plain dicts, lists and numbers."""

Leaves = dict[str, Any]
"""A flattened answer: the path of each value, such as `estimates[top(new), ips].low`, -> text or number."""

OMITTED = frozenset({"command", "created", "log", "other", "row", "source", "title", "versions"})
"""Fields that describe the call rather than the log; of these, `log` is compared if it describes the data read."""

NAMES = ("target", "estimator", "model", "metric", "group")
"""Lists of rows with such a field are keyed by it, other lists by number."""

ROOTS = frozenset({"low", "high", "standard_error", "mean_weight_low", "mean_weight_high"})
"""Fields that depend on a standard error."""

REWARDS = ("value", "low", "high", "standard_error")
"""Fields of an estimate in the unit of the reward."""


@dataclass(frozen=True)
class LogTable:
    """A log with a row per impression, and the kinds of its columns, under the names that `read_log` uses.

    - table: the columns. beside: those with a value for each candidate (or for each item of the slate, where the log
      has no candidates): scores, `features`, `feature_values`, grades.
    - rankings: those that hold lists of item ids, besides `slate` and `candidates`.
    """

    table: pa.Table
    beside: tuple[str, ...] = ()
    rankings: tuple[str, ...] = ()

    def replaced(self, columns: Mapping[str, Any]) -> pa.Table:
        """Return the table with these columns in place of the old ones, each of the old type if there was one."""
        table = self.table
        for name, values in columns.items():
            at = table.schema.get_field_index(name)
            kind = None if at < 0 else table.schema.field(at).type
            array = values if isinstance(values, pa.Array) else pa.array(values, kind)
            table = table.append_column(name, array) if at < 0 else table.set_column(at, name, array)
        return table


@dataclass(frozen=True)
class Relation:
    """A change to a log, and its effect on the answers.

    - change: returns the changed log, as anything that `read_log` takes.
    - expected: the theoretical answer to the changed log, given the answer to the original; fields that it omits are
      not compared. None: nothing may change.
    """

    name: str
    change: Callable[[LogTable, np.random.Generator], Any]
    expected: Callable[[Leaves], Leaves] | None = None


def permute_candidates(log: LogTable, rng: np.random.Generator) -> pa.Table:
    """Permute each row's candidates, with their scores and features; they are written out if the log has none."""
    written = "candidates" if "candidates" in log.table.schema.names else "slate"
    orders = [rng.permutation(len(row)) for row in log.table[written]]
    moved = {}
    for name, source in [("candidates", written), *((name, name) for name in log.beside)]:
        rows = zip(log.table[source].to_pylist(), orders, strict=True)
        permuted = [[row[place] for place in order] for row, order in rows]
        moved[name] = pa.array(permuted, log.table.schema.field(source).type)
    return log.replaced(moved)


def relabel_items(log: LogTable, rng: np.random.Generator, *, text: bool = False) -> pa.Table:
    """Give every item another id, which changes the order of the ids; text: integers become strings."""
    names = [name for name in ("slate", "candidates", *log.rankings) if name in log.table.schema.names]
    columns = {name: log.table[name].to_pylist() for name in names}
    known = sorted({item for rows in columns.values() for row in rows for item in row or ()}, key=str)
    numbers = (10**9 + 7919 * rng.permutation(len(known))).tolist()
    ids = dict(zip(known, [f"item {number}" if text else number for number in numbers], strict=True))
    kind = pa.list_(pa.string() if text else pa.int64())
    relabelled = {
        name: pa.array([None if row is None else [ids[item] for item in row] for row in rows], kind)
        for name, rows in columns.items()
    }
    return log.replaced(relabelled)


def reorder_rows(log: LogTable, rng: np.random.Generator) -> pa.Table:
    """Permute the impressions."""
    return log.table.take(pa.array(rng.permutation(len(log.table))))


def cut_into_batches(log: LogTable, rng: np.random.Generator) -> pa.Table:
    """Split the rows into record batches of any length, some of one row."""
    return pa.concat_tables(_pieces(log.table, rng))


def add_column(log: LogTable, rng: np.random.Generator) -> pa.Table:
    """Add a column that is not used, and permute the others."""
    names = log.table.schema.names
    unread = next(name for name in map("unread{}".format, range(len(names) + 1)) if name not in names)
    return log.replaced({unread: rng.random(len(log.table)).tolist()}).select([unread, *reversed(names)])


RELATIONS: Mapping[str, Relation] = {
    relation.name: relation
    for relation in (
        Relation("candidates in another order", permute_candidates),
        Relation("items under other numbers", relabel_items),
        Relation("items named by text", lambda log, rng: relabel_items(log, rng, text=True)),
        Relation("rows in another order", reorder_rows),
        Relation("rows in other batches", cut_into_batches),
        Relation("an unread column", add_column),
    )
}
"""Changes that must not change any answer, by name."""


def files(folder: Path) -> Relation:
    """Write the rows in order to several Parquet files of several row groups, in an empty folder."""

    def change(log: LogTable, rng: np.random.Generator) -> list[str]:
        paths = []
        for number, piece in enumerate(_pieces(log.table, rng, 4)):
            paths.append(str(folder / f"{number:03}.parquet"))
            pq.write_table(piece, paths[-1], row_group_size=max(len(piece) // 2, 1))
        return paths

    return Relation("rows in several files", change)


def scale_rewards(factor: float, scaled: Sequence[str] = REWARDS) -> Relation:
    """Multiply every click and reward by a positive factor: estimates scale with it, weights and findings stay.

    scaled: the fields of rows and intervals in the unit of the reward; words and click rates by rank are not
    compared.
    """

    def expected(before: Leaves) -> Leaves:
        kept = {where: leaf for where, leaf in before.items() if where.startswith(("estimates", "metrics", "logged"))}
        kept = {where: leaf for where, leaf in kept.items() if _field(where) not in {"message", "remedy"}}
        return {
            where: leaf * factor if isinstance(leaf, float) and _field(where) in scaled else leaf
            for where, leaf in kept.items()
        }

    return Relation("rewards scaled", lambda log, _: _rewarded(log, factor, 0.0), expected)


def shift_rewards(by: float, estimators: Sequence[Any], factor: float = 1.0) -> Relation:
    """Multiply every reward by `factor` and add `by`, which is spread equally over the slots.

    Estimates that are self-normalised or use control variates shift by as much, with the same errors; others
    shift by that times their mean weight, whose expectation is 1; those that use no clicks do not shift (`direct`).
    Theory is silent on estimators with an examination curve or a click model, since clicks that are equal at all
    ranks violate their assumption; on those that learn a regression; and on those that divide slot by slot, if slates
    differ in length.
    With a factor of 0 every reward is the same.

    - estimators: the requested ones, as objects or spellings.
    """
    kinds = {repr(one): one for one in map(estimator, estimators)}

    def expected(before: Leaves) -> Leaves:
        found: Leaves = {}
        named = [where.removesuffix(".estimator") for where in before if where.endswith(".estimator")]
        for row in [row for row in named if row.startswith("estimates[")]:
            moves = _moves(kinds.get(before[f"{row}.estimator"]), before[f"{row}.mean_weight"])
            if moves is None or before[f"{row}.value"] is None:
                continue
            found[f"{row}.value"] = factor * before[f"{row}.value"] + by * moves[0]
            if moves[1]:
                found[f"{row}.standard_error"] = factor * before[f"{row}.standard_error"]
        return found

    return Relation("rewards shifted", lambda log, _: _rewarded(log, factor, by), expected)


def check_relation(
    ask: Question, log: LogTable, relation: Relation, rng: np.random.Generator | None = None, tolerance: float = 1e-9
) -> None:
    """Assert that the answers to a question satisfy a relation.

    tolerance: relative for numbers above 1, absolute below.

    Raises:
        AssertionError: the answers differ; the message says where and how.
    """
    found = broken(ask, log, relation, rng, tolerance)
    some = [f"{where}: {before!r}, then {after!r}" for where, (before, after) in list(found.items())[:8]]
    assert not found, f"{relation.name}: {len(found)} differences\n" + "\n".join(some)


def broken(
    ask: Question, log: LogTable, relation: Relation, rng: np.random.Generator | None = None, tolerance: float = 1e-9
) -> dict[str, tuple[Any, Any]]:
    """Return where the answer breaks a relation: (expected, found) by path."""
    before = flat_answer(ask, log.table)
    after = flat_answer(ask, relation.change(log, rng or np.random.default_rng(0)))
    if relation.expected is None:
        return differences(before, after, tolerance)
    expected = relation.expected(before)
    return differences(expected, {where: after[where] for where in expected if where in after}, tolerance)


def check_more_estimators(
    ask: Callable[[Any, list[str]], Any], log: Any, fewer: Sequence[str], more: Sequence[str]
) -> None:
    """Assert that asking for more estimators revives nothing that fewer of them refuted.

    What is wrong with the log itself stays as severe, and if it refutes the logging policy only estimates that do not
    depend on that policy may answer. (Too little overlap, or a disagreement of assumptions, is no fault of the log:
    there, more estimators may sharpen.)

    - ask: maps a log and spellings of estimators to the result of `offrank.evaluate` or `offrank.compare`.

    Raises:
        AssertionError: something is revived.
    """
    before, after = ask(log, list(fewer)), ask(log, list(dict.fromkeys([*fewer, *more])))
    least = {one.code: one.severity for one in before.about_log}
    found = {one.code: one.severity for one in after.about_log}
    severities = ("serious", "warning", "note", None)
    for code, severity in least.items():
        explained = severity != "serious" and "serious" in found.values()
        weaker = severities.index(found.get(code)) > severities.index(severity)
        assert explained or not weaker, f"{code} was {severity} with {fewer}, and is {found.get(code)} with {more} too"
    if "serious" in least.values():
        assert "serious" in found.values(), f"{fewer} refuted the log, and with {more} nothing does"
    for verdict in after.verdicts.values() if "serious" in found.values() else ():
        assert not verdict.usable or estimator(str(verdict.estimator)).kind.logging is None, (
            f"{fewer} refuted the log, and with {more} there is an answer: {verdict}"
        )


def flat_answer(ask: Question, log: Any) -> Leaves:
    """Return the flattened answer to a question; an error of offrank is an answer too.

    A usage error is compared with its words; others name rows and files, which may change.
    """
    try:
        return dict(_leaves(ask(log), ""))
    except OffrankError as error:
        return {"refused": type(error).__name__} | ({"why": error.message} if isinstance(error, UsageError) else {})


def differences(before: Leaves, after: Leaves, tolerance: float = 1e-9) -> dict[str, tuple[Any, Any]]:
    """Return where two answers differ, with both sides; `nothing` if one has none.

    Standard errors and ends of intervals near zero are roots of differences of sums, with half the digits.
    """
    found = {}
    for where in before | after:
        left, right = before.get(where, "nothing"), after.get(where, "nothing")
        absolute = math.sqrt(tolerance) / 100 if _field(where) in ROOTS else tolerance
        if left != right and not _close(left, right, tolerance, absolute):
            found[where] = left, right
    return found


def _close(left: Any, right: Any, relative: float, absolute: float) -> bool:
    if not (isinstance(left, float | int) and isinstance(right, float | int)):
        return False
    return math.isclose(left, right, rel_tol=relative, abs_tol=absolute) or (math.isnan(left) and math.isnan(right))


def _leaves(found: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Yield every text and number of an answer, with its path."""
    if hasattr(found, "to_dict"):
        yield from _leaves(found.to_dict(), where)
    elif dataclasses.is_dataclass(found) and not isinstance(found, type):
        yield from _leaves({field.name: getattr(found, field.name) for field in dataclasses.fields(found)}, where)
    elif isinstance(found, Mapping) and {"edges", "counts"} <= set(found):
        # A weight at a bin edge may fall on either side, by rounding.
        yield from _leaves({"total": sum(found["counts"]) + found.get("zeros", 0)}, where)
    elif isinstance(found, Mapping):
        for name, value in found.items():
            if name not in OMITTED or (name == "log" and isinstance(value, Mapping)):
                yield from _leaves(value, f"{where}.{name}" if where else str(name))
    elif isinstance(found, np.ndarray | np.generic):
        yield from _leaves(found.tolist(), where)
    elif isinstance(found, list | tuple):
        for number, value in enumerate(found):
            yield from _leaves(value, f"{where}[{_label(value, number)}]")
    else:
        yield where, found


def _label(row: Any, number: int) -> str:
    named = [str(row[name]) for name in NAMES if row.get(name) is not None] if isinstance(row, Mapping) else []
    return ", ".join(named) or str(number)


def _field(where: str) -> str:
    return where.rpartition(".")[2]


def _moves(made: Any, mean_weight: float | None) -> tuple[float, bool] | None:
    """Return the shift of an estimate per unit of reward, and whether its error is unchanged; None: not known."""
    if made is None or _has_curve(made) or _learns(made) or len(made.members(None)) > 1:
        return None
    if made.kind.normalisation is not None:
        return None if made.kind.normalisation == "slot" else (1.0, True)
    if made.kind.weighs == "model":
        return 0.0, True
    return (mean_weight, False) if made.normalised and mean_weight is not None else None


def _has_curve(made: Any) -> bool:
    """Whether an estimator, or one that it stands for, uses an examination curve."""
    try:
        return any(needs_curve(one.kind.assumes) for one in made.members(None))
    except UsageError:  # it needs one to say what it stands for
        return True


def _learns(made: Any) -> bool:
    """Whether an estimator, or the one that it wraps, learns from the rewards of the log."""
    return isinstance(getattr(made.unnormalised, "model", None), SlateRegression)


def _rewarded(log: LogTable, factor: float, by: float) -> pa.Table:
    columns: dict[str, Any] = {}
    if "clicks" in log.table.schema.names:
        rows = log.table["clicks"].to_pylist()
        clicks = [[factor * click + by / len(row) for click in row] for row in rows]
        columns["clicks"] = pa.array(clicks, pa.list_(pa.float64()))
    if "reward" in log.table.schema.names:
        rewards = [factor * reward + by for reward in log.table["reward"].to_pylist()]
        columns["reward"] = pa.array(rewards, pa.float64())
    return log.replaced(columns)


def _pieces(table: pa.Table, rng: np.random.Generator, most: int = 9) -> list[pa.Table]:
    """Split the table into at most this many nonempty pieces; the first has one row."""
    inside = rng.integers(1, max(len(table), 2), most - 2)
    cuts = np.unique([0, min(1, len(table)), *inside, len(table)])
    return [table.slice(int(first), int(last - first)) for first, last in pairwise(cuts)]
