"""CMIP of a fitted click model: by draws from its posterior, and beside what a right model would show on the same log.

The noise of an estimated relevance depends on how often users saw the document, hence on its rank, and mutual
information counts noise as it counts bias: point estimates of a model that is right are far from independent of the
policy. A draw from the posterior has about the same noise everywhere that it has where it is largest: seldom seen
documents are drawn from the prior.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..clicks.base import Role
from ..clicks.fitted import Fitted
from ..errors import UsageError
from ..findings import cautions_for
from ..findings.measure import CmipEvidence
from ..log.batch import Contexts, Floats, Integers
from .cmip_floor import imagined
from .cmip_methods import CmiMethod
from .cmip_methods.base import Progress
from .cmip_methods.binned import cmi_method
from .conditional_information import Cmip, cmip

Relevance = Literal["draws", "means"]
"""By which relevance of a fitted model CMIP is measured: draws from the posterior, or its point estimates."""

CMIP_DRAWS = 8
"""Draws over which CMIP is averaged."""
PERMUTATIONS = 50
"""Most permutations of draws by default: each costs as much as 8 of a number, and the p-value convicts no model."""


def cmip_of(
    model: Fitted,
    contexts: Contexts,
    logging: ArrayLike,
    grade: ArrayLike,
    method: str | CmiMethod = "binned",
    *,
    relevance: Relevance = "draws",
    worlds: int | None = None,
    seed: int = 0,
    permutations: int | None = None,
    confidence: float = 0.95,
    cluster: ArrayLike | None = None,
    progress: Progress | None = None,
) -> Cmip:
    """CMIP of a fitted click model (paper cmip-debiasedness), without the noise that comes with estimates.

    - contexts: n rows of m candidates, each document once. logging, grade [n, m]: of each candidate, see `cmip`.
    - relevance: "draws", the mean CMIP of 8 draws from the model's posterior, or "means", that of its point estimates,
      as in the paper. A model without posterior has only those, which a finding (`point-estimates`) says.
    - permutations: by default at most 50 of draws, otherwise those of the method.
    - worlds: logs imagined for the floor, by default as many as the method can afford: 20 of `binned`.
    - cluster [n, m]: such as the query of each; by default the row.

    Raises:
        UsageError: arguments that cannot work.

    Examples:
        >>> judged, _ = stratified(mslr_like(100, documents=(10, 30)))
        >>> world = JudgedWorld.of(judged)
        >>> fitted = offrank.clicks.PBM().fit(SimulatedSource(world, 2_000))
        >>> found = cmip_of(fitted, world.contexts(), world.logging_relevance("noisy_oracle"), world.grade)
        >>> found.biased
        False
    """
    inside = np.arange(contexts.candidates.shape[1]) < contexts.size[:, None]
    own = np.broadcast_to(np.arange(len(contexts))[:, None] if cluster is None else np.asarray(cluster), inside.shape)
    seen = np.stack([one.relevance(contexts)[inside] for one in views(model, relevance, seed)], axis=1)
    code = model.documents.codes(contexts)[inside]
    ranks, grades = (np.asarray(one, dtype=np.float64)[inside] for one in (logging, grade))
    how: dict[str, Any] = {"permutations": permutations, "confidence": confidence, "progress": progress}
    how |= {"relevance": relevance, "worlds": worlds, "seed": seed}
    return cmip_of_relevance(model, seen, code, ranks, grades, method, cluster=own[inside], **how)


def views(model: Fitted, relevance: Relevance, seed: int) -> list[Fitted]:
    """The models whose relevance is judged: draws of this one, or itself where asked for or without a posterior.

    Raises:
        UsageError: no such relevance.
    """
    if relevance not in ("draws", "means"):
        raise UsageError(f"relevance is {relevance!r}", "use draws or means")
    if relevance == "means" or not has_posterior(model):
        return [model]
    rng = np.random.default_rng([seed, 1])
    return [model.draw(rng) for _ in range(CMIP_DRAWS)]


def has_posterior(model: Fitted) -> bool:
    """Whether the model knows how uncertain each of its tables of documents is."""
    known, roles = {*model.learnt.strength, *model.learnt.loadings}, model.model.roles().items()
    return all(name in known if role.by_document else role is not Role.EMBEDDING for name, role in roles)


def cmip_of_relevance(
    model: Fitted,
    seen: Floats,
    code: Integers,
    logging: Floats,
    grade: Floats,
    method: str | CmiMethod = "binned",
    *,
    relevance: Relevance = "draws",
    worlds: int | None = None,
    seed: int = 0,
    permutations: int | None = None,
    **how: Any,
) -> Cmip:
    """CMIP of a model from the relevance `seen` [d, views] of documents by each of its `views`.

    code: [d] index of each document into the model's tables. See `cmip_of`.
    """
    chosen = cmi_method(method)
    count = chosen.worlds if worlds is None else worlds
    floor = None
    if count > 1 and has_posterior(model):
        floor = seen[:, np.arange(count) % seen.shape[1]]  # documents that the model does not know keep what they have
        known, rng = code >= 0, np.random.default_rng([seed, 2])
        floor[known] = imagined(model, code[known], logging[known], grade[known], count, relevance == "draws", rng)
    if permutations is None and seen.shape[1] > 1:
        permutations = min(chosen.permutations, PERMUTATIONS)
    found = cmip(seen, logging, grade, chosen, seed=seed, permutations=permutations, floor=floor, **how)
    points = cautions_for(CmipEvidence(points=not has_posterior(model)))
    return replace(found, warnings=(*found.warnings, *points))
