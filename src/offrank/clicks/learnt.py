"""The result of learning a click model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..folds.estimate import Caution
from ..log.batch import Floats
from .parameters import Parameters, prior_name


@dataclass(frozen=True)
class Learnt:
    """Parameters, and how they were found.

    - parameters: tables by name. A table of documents has one entry more than there are documents: the last is
      the expectation for an unseen document.
    - loadings: [*shape of the table, r] what all entries have in common, such as the doubt of an examination curve and
      what it does to documents: with r independent standard normal z, the same for all tables, the logit of an entry
      is moved by loadings @ z.
    - priors: Beta(a, b) of each seen document [d], by table; and those of other tables under which they are the
      posterior mode, where the uniform prior does not lead to them. Not saved.
    - features: what the regressions of a model with features predict unseen documents by, see `features`.
    - strength: for tables of probabilities, the effective sample size of each entry given z: its posterior is close to
      Beta(v s, (1 - v) s) for value v and strength s. A table with neither is taken as known.
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
    loadings: Parameters = field(default_factory=dict)
    features: Parameters = field(default_factory=dict)
    priors: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)

    @property
    def start(self) -> Parameters:
        """The parameters, with the prior of each document [d + 1, 2] in the place of that of an unseen one."""
        each = {prior_name(name): np.stack(prior, axis=-1) for name, prior in self.priors.items()}
        unseen = {name: self.parameters[name][None] for name in each if name in self.parameters}
        return {**self.parameters, **{n: np.concatenate([one, unseen.get(n, one[:0])]) for n, one in each.items()}}
