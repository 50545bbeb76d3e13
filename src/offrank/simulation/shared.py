"""Shared parts of the worlds: expected clicks of a policy, list columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..log.batch import Contexts, Floats
from ..policies.base import Policy, all_items


def expected_clicks(policy: Policy, contexts: Contexts, examination: Floats, relevance: Floats) -> Floats:
    """Return the sum of P(item at rank) P(rank is examined) relevance [n], under the position-based model.

    examination [k]; relevance [n, m].
    """
    law = policy.rank_probs(contexts, all_items(contexts))
    return np.asarray(np.einsum("nmk,k,nm->n", law, examination, relevance))


def list_column(rows: NDArray[Any], nullable: bool = False) -> pa.Array:
    """Return rows [n, w] as a list column."""
    offsets = np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int32)
    kind = pa.list_(pa.field("item", pa.from_numpy_dtype(rows.dtype), nullable=nullable))
    return pa.ListArray.from_arrays(offsets, np.ascontiguousarray(rows).ravel(), type=kind)
