"""Exact worth of Plackett-Luce rankings to users who read one result after the other."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ..clicks.laws import Cascading, ClickLaw, Mixed, Upward
from ..log.batch import Contexts, Floats
from ..policies.base import Policy
from ..policies.plackett_luce import PlackettLuce
from ..policies.uniform import Uniform
from . import _kernels
from .users import User

_MOST = 13
"""Documents; the time doubles with each."""


@dataclass(frozen=True)
class Reader:
    """A share of the users. attraction, passing: [q, m] of each document, wherever it stands."""

    share: float
    attraction: Floats
    passing: Floats
    upward: bool


def cascade_worth(user: User, contexts: Contexts, policy: Policy) -> Floats | None:
    """[q] expected clicks; None where they cannot be summed over sets of documents.

    That takes Plackett-Luce or uniform rankings of not too many documents, users who read from the top, or from the
    bottom of all documents, and documents that are alike at every rank.
    """
    logs = _log_weights(policy, contexts)
    readers = None if logs is None or contexts.candidates.shape[1] > _MOST else _readers(user, contexts)
    if logs is None or readers is None:
        return None
    total = np.zeros(len(contexts))
    for reader in readers:
        arrays = np.ascontiguousarray(logs), reader.attraction, reader.passing
        total += reader.share * _kernels.cascade_worth(*arrays, contexts.slots, reader.upward)
    return total


def _log_weights(policy: Policy, contexts: Contexts) -> Floats | None:
    if isinstance(policy, Uniform):
        return np.zeros(contexts.candidates.shape)
    return policy.log_weights(contexts) if isinstance(policy, PlackettLuce) else None


def _readers(user: User, contexts: Contexts) -> list[Reader] | None:
    """The users, read off their laws with every document at every rank."""
    m, slots = contexts.candidates.shape[1], contexts.slots
    found: dict[tuple[int, float, bool], list[tuple[Floats, Floats]]] = defaultdict(list)
    for shift in range(m):
        slate = (np.arange(slots) + shift) % m
        parts = _parts(user.law(contexts, np.tile(slate, (len(contexts), 1))))
        if parts is None or (slots < m and any(isinstance(law, Upward) for _, law in parts)):
            return None
        for index, (share, law) in enumerate(parts):
            passing = law.attraction * law.after_click + (1 - law.attraction) * law.after_skip
            columns = [np.full((len(contexts), m), np.nan) for _ in range(2)]
            columns[0][:, slate], columns[1][:, slate] = law.attraction, passing
            found[index, share, isinstance(law, Upward)].append((columns[0], columns[1]))
    readers = []
    for (_, share, upward), columns_of in found.items():
        each = np.array(columns_of)  # [shifts, 2, q, m]
        lowest, highest = np.nanmin(each, axis=0), np.nanmax(each, axis=0)
        if not np.array_equal(lowest, highest):
            return None
        readers.append(Reader(share, lowest[0], lowest[1], upward))
    return readers


def _parts(law: ClickLaw) -> list[tuple[float, Cascading | Upward]] | None:
    """(share, law) of those who read one by one; None where some do not."""
    if isinstance(law, Cascading | Upward):
        return [(1.0, law)]
    if not isinstance(law, Mixed) or np.ndim(law.weight) != 1:
        return None
    parts = [(float(share), one) for share, one in zip(law.weight, law.laws, strict=True)]
    known = [(share, one) for share, one in parts if isinstance(one, Cascading | Upward)]
    return known if len(known) == len(parts) else None
