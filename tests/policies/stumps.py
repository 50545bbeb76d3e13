"""Boosted models written by hand: trees that stand for sums of weights of features, in LightGBM's text."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from offrank.policies.boosted import BoostedModel, TreeEnsemble
from offrank.policies.linear import Encoding

PRESENT = 0.25
"""A feature counts as present above this value."""


def stump(feature: int, weight: float) -> str:
    """A tree of `weight` where a feature is present, else 0."""
    return (
        f"num_leaves=2\nnum_cat=0\nsplit_feature={feature}\nthreshold={PRESENT}\n"
        f"left_child=-1\nright_child=-2\nleaf_value=0 {weight!r}\n"
    )


def both(slot: int, feature: int, weight: float) -> str:
    """A tree of `weight` where a slot's feature and a candidate's are present, else 0."""
    return (
        f"num_leaves=3\nnum_cat=0\nsplit_feature={slot} {feature}\nthreshold={PRESENT} {PRESENT}\n"
        f"left_child=-1 -2\nright_child=1 -3\nleaf_value=0 0 {weight!r}\n"
    )


def forest(weights: np.ndarray) -> TreeEnsemble:
    """A score per candidate by weights [features], or per candidate and slot by weights [features, slots]."""
    width, slots = weights.shape[0], weights.shape[1] if weights.ndim == 2 else 0
    if slots:
        trees = [both(width + s, f, float(weights[f, s])) for f in range(width) for s in range(slots)]
    else:
        trees = [stump(f, float(weight)) for f, weight in enumerate(weights)]
    text = "".join(f"Tree={number}\n{tree}\n" for number, tree in enumerate(trees)) + "end of trees\n"
    return TreeEnsemble(text, width, slots)


def saved(path: Path, weights: np.ndarray, bits: int = 5) -> str:
    """The file of a model of the first features."""
    BoostedModel(Encoding.plain(bits), np.arange(len(weights)), forest(weights), {"method": "test"}).save(path)
    return str(path)
