"""Logs of bandits: Open Bandit Pipeline and Data, and Vowpal Wabbit."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from ...errors import LogError, UsageError
from ...log.arrays import array_names, read_arrays
from ...wording import Option, Wording
from .. import flat
from ..computed_columns import Computed, DerivedTable, always, in_lists, one_each
from ..csv_json import CsvJsonTable
from ..description import Description
from ..files import Files, suffix
from ..opening import Beginning, open_table
from ..tables import MemoryTable, refuse_lacking
from ..unfolding import documents
from ..wide import Invalid, WideLog
from .registry import READERS, Reader
from .router import kept_rate

Feedback = Mapping[str, Any]

_SAVE = "save it where you trust it: numpy.savez('log.npz', **{k: v for k, v in feedback.items() if v is not None})"
_NAMES = {"action", "reward"}
_NEEDED = ("action", "reward", "pscore", "slate_id")
_BESIDE = "pscore", "n_actions", "n_unique_action"
"""Of these, one is in every feedback."""
_JSON = re.compile(rb'\s*\{(?=.*"n_rounds"\s*:\s*\d)(?=.*"n_(unique_)?actions?"\s*:\s*\d)', re.DOTALL)


@READERS.register
@Reader
def obp(source: Any, *, invalid: Invalid = "raise") -> WideLog:
    """Read `bandit_feedback` of Open Bandit Pipeline: the dict itself, or a `.npz` or JSON file of it.

    - A round is an impression of one slot, with all actions as candidates. Columns: slate (the action), candidates,
      clicks, propensity (`pscore`), and, where they are there, `position` to group by, the scores `expected_reward` and
      `pi_b` beside the candidates, and `features` (the round's context, then those of the action). Rewards other than
      0 and 1 are the column `reward` instead of clicks.
    - Feedback with `slate_id` is read as slates: `pscore` is the propensity of a slate, and `pscore_cascade` gives
      `slot_propensity`. `pscore_item_position` knows one rank of each item alone, and is not read.

    A pickle is refused: reading it would run what is in it.

    Raises:
        UsageError: it is no feedback. LogError: it cannot be read, or its arrays do not fit together.
    """
    feedback, where = _feedback(source)
    if not {*feedback} >= _NAMES:
        raise UsageError(f"{where} has no {' and no '.join(sorted(_NAMES - {*feedback}))}", "give obp's feedback")
    try:
        made = _slates(feedback, where) if "slate_id" in feedback else _rounds(feedback, where)
    except (TypeError, ValueError, IndexError, OverflowError, pa.ArrowException) as error:
        raise LogError(
            f"the arrays of {where} have inconsistent shapes: {error}", "use obp's feedback unchanged"
        ) from error
    return WideLog(made, {}, invalid)


@obp.recognised
def _is_obp(beginning: Beginning) -> Mapping[str, Any] | None:
    source = beginning.source
    if isinstance(source, Mapping):
        return {} if _is_feedback([*source]) else None
    if len(beginning.paths) != 1:
        return None
    return {} if _is_feedback([*array_names(beginning.paths, beginning.head)]) or _JSON.match(beginning.head) else None


def _is_feedback(names: list[Any]) -> bool:
    return {*names} >= _NAMES and any(name in names for name in _BESIDE)


def _feedback(source: Any) -> tuple[Feedback, str]:
    """Return the arrays by name, those that are None left out, and what holds them."""
    if isinstance(source, Mapping):
        return {name: value for name, value in source.items() if value is not None}, "the feedback"
    if not isinstance(source, str | PathLike):
        raise UsageError(f"{type(source).__name__} is not feedback of obp", "give its dict, or the path of one file")
    path = fspath(source)
    try:
        with Path(path).open("rb") as file:
            head = file.read(4)
        if head.startswith(b"\x80"):
            raise LogError(f"{path} is a Python pickle, which could run arbitrary code", _SAVE)
        if head.startswith(b"PK"):
            return read_arrays(path, _NEEDED, _SAVE), path
        found = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise LogError(f"{path} cannot be read: {error}", "give a .npz or JSON file of obp's feedback") from error
    if not isinstance(found, dict):
        raise LogError(
            f"{path} does not contain a JSON object", "give the feedback as one object, with an array for each name"
        )
    return {name: value for name, value in found.items() if value is not None}, path


def _rounds(feedback: Feedback, where: str) -> DerivedTable:
    """Return a row per round."""
    action, reward = np.asarray(feedback["action"]), np.asarray(feedback["reward"], np.float64)
    actions = _actions(feedback, action)
    columns: dict[str, Any] = {"action": action.astype(np.int64), "earned": reward}
    if "pscore" in feedback:
        columns["propensity"] = np.asarray(feedback["pscore"], np.float64)
    if "position" in feedback:
        columns["position"] = np.asarray(feedback["position"])
    for name in ("expected_reward", "pi_b"):
        if name in feedback:
            columns[name] = _of_actions(np.asarray(feedback[name], np.float64), columns.get("position"), actions)
    kept = {name: name for name in columns if name not in ("action", "earned")}
    computed: dict[str, Computed] = {
        "slate": one_each("action"),
        "candidates": always(pa.array(np.arange(actions)), "action"),
    }
    if np.isin(reward, (0, 1)).all():
        computed["clicks"] = one_each("earned")
    else:
        kept["reward"] = "earned"
    if "context" in feedback:
        context = np.asarray(feedback["context"], np.float64).reshape(len(action), -1)
        columns["context"] = in_lists(pa.array(context.ravel()), context.shape[1])
        about = np.asarray(feedback.get("action_context", np.eye(actions)), np.float64).reshape(actions, -1)
        computed["features"] = ("context",), partial(_features, about)
    return DerivedTable(MemoryTable(pa.table(columns), where), kept, computed, width=actions)


def _actions(feedback: Feedback, action: NDArray[Any]) -> int:
    """Return the number of actions."""
    said = next((int(feedback[name]) for name in _BESIDE[1:] if name in feedback), None)
    if said is None:
        raise ValueError("n_actions is missing")
    if not np.issubdtype(action.dtype, np.integer) or (len(action) and not 0 <= action.min() <= action.max() < said):
        raise ValueError(f"an action is not between 0 and {said - 1}")
    return said


def _of_actions(values: NDArray[Any], position: NDArray[Any] | None, actions: int) -> pa.Array:
    """Return the values of each round's actions, at its position where they differ by position."""
    if values.ndim == 3:
        at = np.zeros(len(values), int) if position is None or values.shape[2] == 1 else position
        values = values[np.arange(len(values)), :, at]
    return in_lists(pa.array(np.ascontiguousarray(values).ravel()), actions)


def _features(about: NDArray[Any], rows: pa.RecordBatch) -> pa.Array:
    """Return the features of each action of each round: those of the round, then those of the action."""
    context = np.asarray(rows.column(0).flatten()).reshape(len(rows), -1)
    shape = len(rows), len(about)
    both = ((context[:, None], context.shape[1]), (about, len(about[0])))
    found = np.concatenate([np.broadcast_to(values, (*shape, width)) for values, width in both], axis=2)
    return in_lists(in_lists(pa.array(found.ravel()), found.shape[2]), len(about))


def _slates(feedback: Feedback, where: str) -> DerivedTable:
    """Return a row per slate, its items in the order of their positions."""
    slate, position = (np.asarray(feedback[name]) for name in ("slate_id", "position"))
    order = np.lexsort((position, slate))
    slate = slate[order]
    first = np.flatnonzero(np.diff(slate, prepend=slate[:1] - 1))
    ends = pa.array(np.append(first, len(slate)), pa.int64())
    action = np.asarray(feedback["action"])[order]
    lists = {"slate": action.astype(np.int64), "clicks": np.asarray(feedback["reward"], np.float64)[order]}
    if "pscore_cascade" in feedback:
        whole = np.asarray(feedback["pscore_cascade"], np.float64)[order]
        above = np.where(np.isin(np.arange(len(whole)), first), 1.0, np.roll(whole, 1))
        lists["slot_propensity"] = np.minimum(whole / above, 1.0)
    columns = {name: pa.LargeListArray.from_arrays(ends, pa.array(values)) for name, values in lists.items()}
    if "pscore" in feedback:
        columns["propensity"] = pa.array(np.asarray(feedback["pscore"], np.float64)[order][first])
    actions = _actions(feedback, action)
    computed = {"candidates": always(pa.array(np.arange(actions)), "slate")}
    return DerivedTable(
        MemoryTable(pa.table(columns), where), dict(zip(columns, columns, strict=True)), computed, actions
    )


_CONTEXT, _OF_ITEM = "item_context.csv", "user-item_affinity_"
_ROLES = {"slate": "item_id", "clicks": "click", "propensity": "propensity_score"}


@READERS.register
@Reader
def open_bandit(path: str | Path, *, n_items: int | None = None, invalid: Invalid = "raise") -> WideLog:
    """Read a campaign of Open Bandit Data: its folder, or its CSV file (also `.csv.gz`).

    The published rows cannot be reassembled into slates of three, so each row is an impression of one
    slot; `position` (1 left, 3 right) stays a column to group by, and so do `timestamp`,
    `user_feature_0` and the other columns. Every item of the campaign is a candidate: those of the
    `item_context.csv` beside the log, or 0 ... n_items - 1.
    Columns: slate, candidates, clicks, propensity (of the item at this position), and the file's others.

    Raises:
        UsageError: n_items is not a positive number.
        LogError: no such log, or no item_context.csv beside it.
        ColumnError: a column of Open Bandit Data is missing.
    """
    if n_items is not None and n_items < 1:
        raise UsageError(f"n_items is {n_items!r}", "give the number of items of the campaign")
    log = _campaign(Path(path))
    items = tuple(range(n_items)) if n_items is not None else _items_of(log.with_name(_CONTEXT))
    csv = CsvJsonTable(Files((str(log),)), "csv")
    refuse_lacking(csv, (*_ROLES.values(), "position"), "use a campaign's log of Open Bandit Data")
    others = {
        name: name for name in csv.names if name and name not in _ROLES.values()
    }  # one without a name counts rows
    typed = csv.typed(dict.fromkeys(others, pa.string()) | dict.fromkeys(("click", "propensity_score"), pa.float64()))
    computed: dict[str, Computed] = {"slate": one_each("item_id"), "clicks": one_each("click")}
    computed["candidates"] = always(pa.array(items), "item_id")
    return WideLog(DerivedTable(typed, {"propensity": "propensity_score"} | others, computed, len(items)), {}, invalid)


@open_bandit.recognised
def _is_open_bandit(beginning: Beginning) -> dict[str, Any] | None:
    beside = any(path.endswith(_CONTEXT) for path in beginning.paths)
    try:
        log = _campaign(Path(beginning.source))
    except (LogError, TypeError):
        return None
    own = {*_ROLES.values(), "position"} <= {*beginning.names} or beside
    if own and log.with_name(_CONTEXT).is_file():
        return {}
    items = sum(name.startswith(_OF_ITEM) for name in beginning.names)  # a copy of the log alone has a column for each
    return {"n_items": items} if own and items else None


def _campaign(path: Path) -> Path:
    """Return the log of a campaign's folder, or the file itself."""
    if path.is_file():
        return path
    found = [p for p in sorted(path.glob("*.csv*")) if suffix(p) == ".csv" and p.name != _CONTEXT]
    if len(found) != 1:
        what = f"{len(found)} logs" if path.is_dir() else "no such file or folder"
        raise LogError(f"{str(path)!r}: {what}", "give one campaign's CSV file, or the folder that contains it")
    return found[0]


def _items_of(path: Path) -> tuple[int, ...]:
    if not path.is_file():
        raise LogError(
            f"{_CONTEXT} is missing next to the log, so its candidates are unknown: {str(path)!r}",
            Wording("add the file, or give the number of items: {}", Option("format", "open_bandit(n_items=34)")),
        )
    try:
        options = pyarrow.csv.ConvertOptions(include_columns=["item_id"], column_types={"item_id": pa.int64()})
        table = pyarrow.csv.read_csv(path, convert_options=options)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise LogError(f"{path} cannot be read: {error}", "use the campaign's own file, with item_id") from error
    return tuple(table.column("item_id").to_pylist())


_ONE = ("_label_cost", "_label_probability", "a")
_SLOTS = ("_outcomes._label_cost", "_outcomes._a", "_outcomes._p")


@READERS.register
@Reader.of("nested", of_tables=True)
def dsjson(source: Any, *, invalid: Invalid = "raise") -> WideLog:
    """Read dsjson of contextual bandits, also with slots (`_outcomes`), a JSON object a line.

    An impression is an event. Columns: slate (the action taken, or those of the slots), candidates (`a`, or `_a` of the
    first slot), reward (`-_label_cost`; of slots the clicks), propensity (`_label_probability`; of slots
    `slot_propensity`, the first of `_p`), inclusion (1 - `pdrop`), the score `p` beside the candidates of one action,
    `EventId`, `Timestamp`, and what `c` tells of all actions, to group by. Events without a label break a rule.

    Raises:
        ColumnError: it has neither form.
    """
    table = documents(open_table(source))
    slots = _SLOTS[0] in table.names
    refuse_lacking(table, _SLOTS if slots else _ONE, "give Vowpal Wabbit's dsjson")
    shared = [name for name in table.names if name.startswith("c.") and not name.startswith(("c._multi", "c._slots"))]
    kept = {name: name for name in (*shared, "EventId", "Timestamp", *([] if slots else ["p"])) if name in table.names}
    if slots:
        made: dict[str, Computed] = {"slate": (_SLOTS[1:2], _tops), "candidates": (_SLOTS[1:2], _first)}
        made |= {"clicks": (_SLOTS[:1], _earned), "slot_propensity": (_SLOTS[2:], _tops)}
        notes = {"clicks": "-_label_cost", "slot_propensity": "_p"}
    else:
        made = {"slate": (_ONE[2:], _top), "reward": (_ONE[:1], _earned)}
        kept |= {"candidates": "a", "propensity": "_label_probability"}
        notes = {"reward": "-_label_cost", "propensity": "_label_probability"}
    made |= {"inclusion": (("pdrop",), kept_rate)} if "pdrop" in table.names else {}
    return WideLog(DerivedTable(table, kept, made), {}, invalid, description=Description("nested", notes=notes))


@dsjson.recognised
def _is_dsjson(beginning: Beginning) -> Mapping[str, Any] | None:
    names = {*beginning.names}
    return {} if {*_ONE} <= names or ({*_SLOTS} <= names and "_label_cost" not in names) else None


def _earned(rows: pa.RecordBatch) -> pa.Array:
    """Return what was earned: costs with the other sign."""
    column = flat.plain_column(rows.column(0))
    if not pa.types.is_nested(column.type):
        return pc.negate(column)
    return type(column).from_arrays(column.offsets, pc.negate(column.values))


def _top(rows: pa.RecordBatch) -> pa.Array:
    return in_lists(_first(rows), 1)


def _first(rows: pa.RecordBatch) -> pa.Array:
    """Return the first value of each list."""
    return pc.list_element(rows.column(0), 0)


def _tops(rows: pa.RecordBatch) -> pa.Array:
    """Return the first value of each list in the lists of each row."""
    column = flat.plain_column(rows.column(0))
    return type(column).from_arrays(column.offsets, pc.list_element(column.values, 0))
