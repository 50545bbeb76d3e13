"""Sparse features: lists of lists beside the candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import ColumnError, RowError
from offrank.log import SparseFeatures
from offrank.log.source import Needs

WANTED = Needs(frozenset(["candidates", "features"]))

FINE = {"slate": [1], "candidates": [1, 2], "clicks": [0], "features": [[3, 4], [5]], "feature_values": [[1.0, 2], [3]]}
EMPTY = {"slate": [2], "candidates": [2], "clicks": [1], "features": [[]], "feature_values": [[]]}

BROKEN = {
    "null": {"features": [[3, 4], None]},
    "ragged": {"features": [[3, 4]]},
    "bad-feature": {"features": [[3, -4], [5]]},
    "bad-feature-value": {"feature_values": [[1.0, np.inf], [3.0]]},
}


def entries(features: SparseFeatures, row: int, candidate: int) -> list[tuple[int, float]]:
    line = features.first[row] + candidate
    where = slice(features.offsets[line], features.offsets[line + 1])
    return list(zip(features.indices[where].tolist(), features.values[where].tolist(), strict=True))


def read(rows: Any, invalid: Any = "raise") -> Any:
    (batch,) = offrank.read_log(rows, invalid=invalid).select(WANTED).batches(0)
    return batch


def test_each_candidate_has_its_own() -> None:
    features = read([EMPTY, FINE]).contexts.features
    assert entries(features, 0, 0) == []
    assert entries(features, 1, 0) == [(3, 1.0), (4, 2.0)]
    assert entries(features, 1, 1) == [(5, 3.0)]


def test_values_are_one_by_default() -> None:
    rows = [{name: value for name, value in FINE.items() if name != "feature_values"}]
    assert entries(read(rows).contexts.features, 0, 0) == [(3, 1.0), (4, 1.0)]


def test_vectors_have_a_value_at_each_place() -> None:
    dense = {**FINE, "features": [[0.5, 0.0], [-2.0, 4.0]]}
    del dense["feature_values"]
    features = read([dense, dense]).contexts.features
    assert entries(features, 1, 0) == [(0, 0.5), (1, 0.0)]
    assert entries(features, 1, 1) == [(0, -2.0), (1, 4.0)]
    with pytest.raises(RowError, match="bad-feature-value"):
        read([{**dense, "features": [[0.5, np.nan], [1.0, 2.0]]}])
    with pytest.raises(ColumnError, match="vectors alone"):
        read([{**dense, "feature_values": FINE["feature_values"]}])


def test_a_slice_of_a_table_reads_its_own_lists() -> None:
    table = pa.Table.from_pylist([EMPTY, FINE, FINE]).slice(1)
    assert entries(read(table).contexts.features, 0, 1) == [(5, 3.0)]


def test_features_are_read_only_where_they_are_needed() -> None:
    (batch,) = offrank.read_log([FINE]).select(Needs(frozenset(["candidates"]))).batches(0)
    assert batch.contexts.features is None


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_named(rule: str) -> None:
    with pytest.raises(RowError, match=rule) as caught:
        read([FINE, FINE | BROKEN[rule]])
    assert caught.value.row == 1


@pytest.mark.parametrize("beside", [[[1.0], [2.0, 3.0]], [[1.0, 2.0]], [[1.0], [2.0]]])
def test_values_stand_beside_their_indices(beside: Any) -> None:
    with pytest.raises(RowError, match="ragged") as caught:
        read([FINE | {"feature_values": beside}])
    assert caught.value.column == "feature_values"


def test_skipped_rows_leave_the_others_as_they_are() -> None:
    batch = read([FINE | BROKEN["null"], FINE | {"feature_values": [[1.0], [2.0, 3.0]]}, EMPTY, FINE], "skip")
    assert batch.skipped == {"null": 1, "ragged": 1}
    assert entries(batch.contexts.features, 1, 0) == [(3, 1.0), (4, 2.0)]
    assert entries(batch.contexts.features, 1, 1) == [(5, 3.0)]


def test_indices_are_integers() -> None:
    with pytest.raises(ColumnError, match="not indices"):
        read([FINE | {"features": [["a", "b"], ["c"]]}])


@pytest.mark.parametrize(
    ("broken", "code"), [([[3, -1], [5]], "bad-feature"), ([[3, 4]], "ragged"), ([[3], [4], [5]], "ragged")]
)
def test_without_values_too_the_indices_are_from_0_and_each_candidate_has_a_list(broken: Any, code: str) -> None:
    plain = {name: value for name, value in FINE.items() if name != "feature_values"}
    assert len(read([plain]).contexts.features.offsets) == 3
    with pytest.raises(RowError) as raised:
        read([{**plain, "features": broken}])
    assert raised.value.rule == code
