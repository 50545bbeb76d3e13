"""Trivago's RecSys Challenge 2019 (`train.csv`): the clicks on lists of hotels, among other actions of sessions."""

from __future__ import annotations

from typing import Any

from ..wide import Invalid, WideLog
from .declared import Declared, Only
from .registry import READERS

_TRAIN = Declared(
    "sessions",
    own=("reference", "impressions", "prices", "session_id", "user_id", "action_type"),
    source="Trivago's train.csv of 2019",
    roles={"slate": "impressions", "user": "user_id", "session": "session_id"},
    kept=Only("action_type", ("clickout item",)),
    clicked="reference",
    lacks="it contains only lists with a click, so no other ranking can be evaluated",
)


@READERS.register
@_TRAIN.reader
def trivago2019(source: Any, *, invalid: Invalid = "raise") -> WideLog:
    """Read Trivago's `train.csv`: each click on a hotel with the list that it was in.

    An impression is a row with the action `clickout item`. Columns: slate (`impressions`, top first), clicks (1 for
    `reference`), `user`, `session`, and as they are `prices`, `platform`, `city`, `device` and the others. A list whose
    `reference` is not among its hotels has no click, which is counted as `click-outside-slate`; so has one without a
    reference, as in the challenge's test data.

    **Only lists with a click are there**: no click rate and no other ranking can be judged by them, since lists that
    nobody clicked are missing. Click models can learn where users look, given that they click.

    Raises:
        ColumnError: a column of `train.csv` is missing.
    """
    return _TRAIN.log(source, invalid)
