"""Boosted trees as a function of features, read from LightGBM's text; LightGBM itself is not needed for that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import UsageError
from ...log.batch import Floats, Integers
from . import _kernels

_TREE = re.compile(r"^Tree=\d+$(.*?)(?=^Tree=\d+$|^end of trees$)", re.MULTILINE | re.DOTALL)
_CHUNK = 1 << 14
"""Rows of an array that are scored at once."""


@dataclass(frozen=True)
class TreeEnsemble:
    """Boosted trees in LightGBM's own text, of `width` features; the score is the sum of their leaves.

    slots: 0 for a score per candidate; otherwise a score per candidate and slot, where the slot is told by as many
    more features, of which one is 1 (paper slate-pseudoinverse, App. G).
    """

    text: str
    width: int
    slots: int = 0

    @cached_property
    def trees(self) -> tuple[Integers, Integers, Floats, Integers, Integers, Floats]:
        """First node and leaf of each tree [trees + 1, 2]; feature, threshold and children of nodes; value of leaves.

        A child below 0 is the leaf -1 - child of its tree.

        Raises:
            UsageError: the text is not of numerical trees of so many features.
        """
        try:
            return _parsed(self.text, self.width + self.slots)
        except (KeyError, ValueError) as error:
            raise UsageError(
                f"the trees of a policy cannot be read: {error}", "write the policy again with `offrank learn`"
            ) from error

    def scores(self, features: Any) -> Floats:
        """[rows] score of each candidate, or [rows, slots]; features: [rows, width], an array or a CSR matrix."""
        rows, width = features.shape
        if width != self.width:
            raise UsageError(
                f"there are {width} features, but the trees have {self.width}", "give the features used in training"
            )
        out = np.empty((rows, max(self.slots, 1)))
        if not isinstance(features, np.ndarray):
            given = (features.indptr.astype(np.int64), features.indices.astype(np.int64), features.data)
            _kernels.forest_scores(*self.trees, False, *given, width, out)
        for start in range(0, rows if isinstance(features, np.ndarray) else 0, _CHUNK):
            some = np.ascontiguousarray(features[start : start + _CHUNK], dtype=np.float64)
            dense = (np.arange(len(some) + 1) * width, np.arange(width), some.reshape(-1))
            _kernels.forest_scores(*self.trees, True, *dense, width, out[start : start + _CHUNK])
        return out if self.slots else out[:, 0]


def with_slots(features: Any, slots: int) -> Any:
    """[rows * slots, width + slots] the features of each row in each slot, with the slot's one-hot features."""
    from scipy import sparse

    rows = np.repeat(np.arange(features.shape[0]), slots)
    place = np.tile(np.arange(slots), features.shape[0])
    if not sparse.issparse(features):
        return np.hstack([features[rows], np.eye(slots, dtype=features.dtype)[place]])
    told = sparse.csr_matrix((np.ones(len(rows)), (np.arange(len(rows)), place)), shape=(len(rows), slots))
    return sparse.hstack([features[rows], told], format="csr")


def _parsed(text: str, width: int) -> tuple[Integers, Integers, Floats, Integers, Integers, Floats]:
    """The arrays of `TreeEnsemble.trees`.

    Raises:
        KeyError, ValueError: a line is missing or wrong.
    """
    found = [_tree(match[1], width) for match in _TREE.finditer(text)]
    if not found or "end of trees" not in text:
        raise ValueError("it does not end after its trees")
    first = np.cumsum([(0, 0), *((len(tree[0]), len(tree[4])) for tree in found)], axis=0)
    feature, threshold, left, right, value = (np.concatenate(part) for part in zip(*found, strict=True))
    return first, feature, threshold, left, right, value


def _tree(text: str, width: int) -> tuple[Integers, Floats, Integers, Integers, Floats]:
    """Feature, threshold and children of a tree's nodes, and the value of its leaves."""
    said = dict(line.split("=", 1) for line in text.split("\n") if "=" in line)
    leaves = int(said["num_leaves"])
    value = np.array(said["leaf_value"].split(), dtype=np.float64)
    split = {name: said[name].split() if leaves > 1 else [] for name in ("split_feature", "threshold")}
    feature, threshold = np.array(split["split_feature"], np.int64), np.array(split["threshold"], np.float64)
    children = (said[name].split() if leaves > 1 else [] for name in ("left_child", "right_child"))
    left, right = (np.array(child, np.int64) for child in children)
    nodes = np.arange(leaves - 1)
    if int(said["num_cat"]) or any(len(each) != leaves - 1 for each in (feature, threshold, left, right)):
        raise ValueError("a tree has numbers of splits and leaves that do not match")
    if len(value) != leaves or not ((feature >= 0) & (feature < width)).all():
        raise ValueError("a tree refers to a feature or a leaf that does not exist")
    for child in (left, right):  # nodes are numbered downwards, so that no path is endless
        if not (((child > nodes) & (child < leaves - 1)) | ((child < 0) & (child >= -leaves))).all():
            raise ValueError("a tree has a node without a leaf below it")
    return feature, threshold, left, right, value
