"""Which policy drew the rows of each value of a column: arms of an experiment, or a bucket in which lists are drawn."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..findings.log import BLIND, UNLIKELY
from ..log.contexts import contexts_of_rows
from ..policies.base import Policy
from ..policies.by import By
from ..policies.uniform import Uniform
from ..sums.sampled import SampledRows
from .fitted_logging_policy import Drawn, drawn
from .repeats import By as Context

_FEWEST = 100
"""Sampled rows that a value has at least."""


def laws_by_value(
    column: str, values: Collection[str], samples: Mapping[Context, SampledRows], apart: Collection[str]
) -> dict[str, Drawn]:
    """Return the likeliest policy of the rows of each value of a column; nothing where one has too few rows.

    samples, apart: as `drawn` takes them, with the column among the keys.
    """
    numbered = By(column, dict.fromkeys(values, Uniform()))
    rows, few = samples["candidates"], [numbered.arms(one.contexts) for one in samples.values()]
    arm = numbered.arms(rows.contexts)
    if (arm < 0).any() or np.bincount(arm, minlength=len(values)).min() < _FEWEST:
        return {}
    found = {}
    for number, value in enumerate(values):
        of_value = {by: _of(one, at == number) for (by, one), at in zip(samples.items(), few, strict=True)}
        found[value] = drawn(_of(rows, arm == number), 0.0, of_value, apart)[0]
    return found


def are_rankers(laws: Mapping[str, Drawn]) -> bool:
    """Whether each value has a ranker of its own."""
    known = all(one.fits and one.policy != Uniform() for one in laws.values())
    return known and len({repr(one.policy) for one in laws.values()}) > 1


def likelier(laws: Mapping[str, Drawn], column: str, rows: SampledRows, overall: Policy) -> bool:
    """Whether the rows are a thousand times likelier under the policies by value than under one for all of them."""
    by = By(column, {value: one.policy for value, one in laws.items()})
    gain = by.log_prob(rows.contexts, rows.slates) - overall.log_prob(rows.contexts, rows.slates)
    return float(gain.sum()) - len(laws) * math.log(len(rows)) > -math.log(UNLIKELY)


def drawn_value(laws: Mapping[str, Drawn]) -> str | None:
    """Return the one value of which a policy is known: its rows are uniform, and would have shown it if not."""
    known = [value for value, one in laws.items() if one.fits]
    sure = [value for value in known if laws[value].policy == Uniform() and laws[value].departure <= BLIND]
    return sure[0] if len(known) == len(sure) == 1 else None


def _of(rows: SampledRows, which: NDArray[np.bool_]) -> SampledRows:
    """Return some of the rows."""
    kept = np.flatnonzero(which)
    contexts = contexts_of_rows(rows.contexts, kept)
    slates = rows.slates[kept, : contexts.slots]
    return replace(rows, key=rows.key[kept], slates=slates, inclusion=rows.inclusion[kept], contexts=contexts)
