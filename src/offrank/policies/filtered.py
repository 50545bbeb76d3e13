"""A policy that sees some of the candidates only: what is sold out, seen before or unfit is not shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..language.spelling import Spelled
from ..log.batch import Contexts, Integers
from .base import Policy
from .registry import POLICIES
from .restricted import FREE, OUT, Restricted


@POLICIES.register
@dataclass(frozen=True, repr=False)
class Filtered(Spelled, Restricted):
    """The base policy restricted to the candidates whose number in a column is above zero.

    To drop items after ranking all of them is the same where the base sorts or draws one item after the other, as
    `top`, `ranking`, `uniform` and `plackett_luce` do, and mixtures of these. Where too few items are left, the last
    slots stay empty. Around a `pinned` base, an item that is left keeps its rank, if there are items for all slots down
    to it; the slot of one that is not left goes to the others.

    Parameters:
        base: a policy that sorts, or that draws one item after the other.
        column: a number beside each candidate; those above 0 may be shown.

    Examples:
        >>> offrank.Filtered(offrank.Top("new_score"), "in_stock")
        filtered(top(new_score), in_stock)
    """

    name: ClassVar[str] = "filtered"
    base: Policy
    column: str

    def fixed(self, contexts: Contexts) -> Integers:
        return np.where(contexts.scores[self.column] > 0, FREE, OUT)
