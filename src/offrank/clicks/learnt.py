"""The result of learning a click model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..folds.estimate import Caution
from .parameters import Parameters


@dataclass(frozen=True)
class Learnt:
    """Parameters, and how they were found.

    - parameters: tables by name. A table of documents has one entry more than there are documents: the last is
      the expectation for an unseen document.
    - strength: for tables of probabilities, the effective sample size of each entry: its posterior is close to
      Beta(v s, (1 - v) s) for value v and strength s. Fitted.interval reads it.
    - trace: the log-posterior (without prior: the log-likelihood) during learning.
    - facts: further results (fitted priors, rounds) as plain numbers and words.
    """

    parameters: Parameters
    strength: Parameters = field(default_factory=dict)
    trace: tuple[float, ...] = ()
    rounds: int = 0
    converged: bool = True
    facts: Mapping[str, Any] = field(default_factory=dict)
    cautions: tuple[Caution, ...] = ()
