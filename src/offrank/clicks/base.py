"""What click models are made of: tables, the roles that models declare for them, and the result of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from ..errors import SupportError
from ..findings import cautions_for, has_cause
from ..log.batch import Floats
from ..sums.estimate import Caution
from ..sums.outcome_shape import OutcomeShape

Parameters = Mapping[str, Floats]
"""Tables by name."""


class Role(Enum):
    """The role of a table, for d documents and k ranks.

    - DOCUMENT: [d + 1] a probability of each document, the last that of an unseen document.
    - DOCUMENT_AND_RANK: [d + 1, k] the same at each rank.
    - EXAMINATION: [k] the probability that each rank is examined, whatever is shown.
    - CONTEXT_AND_RANK: [v + 1, k] the same by value of a context, the last row where that is unknown.
    - RANK: [k] any other probability of each rank, such as a click rate.
    - RANK_AND_LAST_CLICK: [k (k + 1) / 2] a probability of each rank and last click above it, see `browsing_cell`.
    - SHARED: [any] probabilities that all sessions share.
    - NUMBERS: [...] any other numbers that all sessions share, taken as known, such as the coefficients of a curve.
    - PRIOR: [..., 2] the Beta priors (a, b) of the table that it is named after.
    - REGRESSION: [p + 2] how the priors of documents depend on covariates, see `PriorRegression`.
    - QUERY: [d + 1] the row of the queries' embeddings that a document belongs to, as numbers.
    - EMBEDDING: [rows, size] of a recurrent model, WEIGHTS: [...] all its other parameters.
    """

    DOCUMENT = "document"
    DOCUMENT_AND_RANK = "document and rank"
    EXAMINATION = "examination"
    RANK = "rank"
    CONTEXT_AND_RANK = "context and rank"
    RANK_AND_LAST_CLICK = "rank and last click"
    SHARED = "shared"
    NUMBERS = "numbers"
    PRIOR = "prior"
    REGRESSION = "regression"
    QUERY = "query"
    EMBEDDING = "embedding"
    WEIGHTS = "weights"

    @property
    def by_document(self) -> bool:
        """Whether entries are probabilities of documents."""
        return self in (Role.DOCUMENT, Role.DOCUMENT_AND_RANK)

    @property
    def by_rank(self) -> bool:
        """Whether entries are probabilities of ranks."""
        return self in (Role.EXAMINATION, Role.RANK)

    @property
    def is_probability(self) -> bool:
        """Whether entries are from 0 to 1."""
        return self not in (Role.NUMBERS, Role.PRIOR, Role.REGRESSION, Role.QUERY, Role.EMBEDDING, Role.WEIGHTS)


CERTAIN = 1e9
"""Strength of what is taken as known."""

Roles = Mapping[str, Role]
"""The role of each table by its name."""

_DIMENSIONS = {
    Role.DOCUMENT_AND_RANK: 2,
    Role.CONTEXT_AND_RANK: 2,
    Role.EMBEDDING: 2,
    Role.NUMBERS: None,
    Role.PRIOR: None,
    Role.WEIGHTS: None,
}
"""Dimensions of tables that do not have exactly one."""


def check_tables(tables: Parameters, roles: Roles, documents: int) -> None:
    """Check that these are the tables of a model with these roles and this number of documents.

    Raises:
        ValueError: they are not.
    """
    optional = {name for name, role in roles.items() if role is Role.REGRESSION}  # earlier models have none
    if set(tables) | optional != set(roles):
        wrong = sorted((set(tables) | optional) ^ set(roles))
        raise ValueError(f"its tables do not match its model: {', '.join(wrong)}")
    for name, table in tables.items():
        role, dimensions = roles[name], _DIMENSIONS.get(roles[name], 1)
        if dimensions not in (None, table.ndim) or not table.size:
            raise ValueError(f"{name} has shape {table.shape}")
        if (role.by_document or role is Role.QUERY) and len(table) != documents + 1:
            raise ValueError(f"{name} has {len(table)} entries for {documents} documents and one that was never seen")
        if role is Role.RANK_AND_LAST_CLICK and ranks_of(table) * (ranks_of(table) + 1) // 2 != len(table):
            raise ValueError(f"{name} has {len(table)} entries, which does not fit pairs of rank and last click")
        if role is Role.PRIOR and (table.shape[-1] != 2 or not (table > 0).all()):
            raise ValueError(f"{name} contains an invalid prior")
        if not np.isfinite(table).all():
            raise ValueError(f"{name} contains a value that is not finite")
        if role.is_probability and not ((table >= 0) & (table <= 1)).all():
            raise ValueError(f"{name} contains a value that is not a probability")


def prior_name(table: str) -> str:
    """The name of the prior of a table of documents: of an unseen one, or of each."""
    return f"{table}_prior"


def regression_name(table: str) -> str:
    """The name of the regression of a table's priors."""
    return f"{table}_regression"


def ranks_of(table: Floats) -> int:
    """The number of ranks of a table by rank and last click."""
    return int((np.sqrt(8.0 * len(table) + 1) - 1) // 2)


@dataclass(frozen=True)
class FitResult:
    """Parameters, and how they were found.

    Parameters:
        parameters: tables by name. A table of documents has one entry more than there are documents: the last is
            the expectation for an unseen document.
        strength: for tables of probabilities, the effective sample size of each entry given z: its posterior is
            close to Beta(v s, (1 - v) s) for value v and strength s. A table with neither is taken as known.
        trace: the log-posterior (without prior: the log-likelihood) during learning.
        rounds: iterations that were run.
        converged: whether they ended before the limit.
        info: further results (fitted priors, rounds) as plain numbers and words.
        cautions: reasons to doubt the numbers.
        loadings: [*shape of the table, r] what all entries have in common, such as the doubt of an examination
            curve and what it does to documents: with r independent standard normal z, the same for all tables, the
            logit of an entry is moved by loadings @ z.
        features: what the regressions of a model with features predict unseen documents by, see `features`.
        priors: Beta(a, b) of each seen document [d], by table, where features explain them. Not saved.

    Examples:
        >>> model = offrank.clicks.GCTR().fit([{"slate": ["a", "b"], "clicks": [1, 0]}])
        >>> model.learnt.converged
        True
    """

    parameters: Parameters
    strength: Parameters = field(default_factory=dict)
    trace: tuple[float, ...] = ()
    rounds: int = 0
    converged: bool = True
    info: Mapping[str, Any] = field(default_factory=dict)
    cautions: tuple[Caution, ...] = ()
    loadings: Parameters = field(default_factory=dict)
    features: Parameters = field(default_factory=dict)
    priors: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)


def refuse_sorted(shape: OutcomeShape) -> None:
    """Raise if lists are sorted by their clicks, so that ranks tell nothing of examination.

    Raises:
        SupportError: they seem to be.
    """
    for one in cautions_for(shape):
        if has_cause(one, "click model"):
            raise SupportError(one.message, one.remedy)
