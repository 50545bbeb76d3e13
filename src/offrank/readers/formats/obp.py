"""`bandit_feedback` of Open Bandit Pipeline (obp), as a dict in memory, a `.npz` or a JSON file.

n_rounds, n_actions, action, reward, position, pscore, context, action_context, expected_reward, pi_b; of slates:
slate_id, action, position, reward, pscore, pscore_cascade.
"""

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
from numpy.typing import NDArray

from ...errors import LogError, UsageError
from ...log.arrays import array_names, read_arrays
from ..beginning import Beginning
from ..computed_columns import Computed, DerivedTable, always, in_lists, one_each
from ..tables import MemoryTable
from ..wide import Invalid, WideLog
from .registry import READERS, Reader

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
def _recognised(beginning: Beginning) -> Mapping[str, Any] | None:
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
        head = _first(path)
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


def _first(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(4)


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
    both = [
        np.broadcast_to(context[:, None], (*shape, context.shape[1])),
        np.broadcast_to(about, (*shape, len(about[0]))),
    ]
    found = np.concatenate(both, axis=2)
    return in_lists(in_lists(pa.array(found.ravel()), found.shape[2]), len(about))


def _slates(feedback: Feedback, where: str) -> DerivedTable:
    """Return a row per slate, its items in the order of their positions."""
    slate, position = (np.asarray(feedback[name]) for name in ("slate_id", "position"))
    order = np.lexsort((position, slate))
    slate = slate[order]
    first = np.flatnonzero(np.diff(slate, prepend=slate[:1] - 1))
    ends = pa.array(np.append(first, len(slate)), pa.int64())
    action = np.asarray(feedback["action"])[order]
    columns = {
        "slate": pa.LargeListArray.from_arrays(ends, pa.array(action.astype(np.int64))),
        "clicks": pa.LargeListArray.from_arrays(ends, pa.array(np.asarray(feedback["reward"], np.float64)[order])),
    }
    if "pscore" in feedback:
        columns["propensity"] = pa.array(np.asarray(feedback["pscore"], np.float64)[order][first])
    if "pscore_cascade" in feedback:
        whole = np.asarray(feedback["pscore_cascade"], np.float64)[order]
        above = np.where(np.isin(np.arange(len(whole)), first), 1.0, np.roll(whole, 1))
        columns["slot_propensity"] = pa.LargeListArray.from_arrays(ends, pa.array(np.minimum(whole / above, 1.0)))
    actions = _actions(feedback, action)
    computed = {"candidates": always(pa.array(np.arange(actions)), "slate")}
    return DerivedTable(
        MemoryTable(pa.table(columns), where), {name: name for name in columns}, computed, width=actions
    )
