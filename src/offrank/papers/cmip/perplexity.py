"""Perplexity of models on the sessions of a policy, with the clicks' exact chances in the place of drawn clicks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...clicks.fitted import Fitted
from ...clicks.neural.base import RecurrentModel
from ...clicks.neural.law import HISTORIES
from ...clicks.predictions import CLIP
from ...log.batch import Floats
from ...log.source import needs
from ...simulation.source import SimulatedSource
from ...simulation.users import User

Perplexity = dict[str, float | None]


def perplexities(fitted: Mapping[str, Fitted], user: User, source: SimulatedSource) -> dict[str, Perplexity]:
    """Name -> {"unconditional": Eq. 2 and 3 of the paper, "conditional": each click given those above it}.

    Slates are drawn, and so are clicks where models are told the clicks above. What happens at a rank is then not
    drawn: the mean loss is taken over the user's own chances, which is what ever more clicks on these slates tend to.
    Unconditional is None for recurrent models on slates too long to follow all histories of clicks.
    """
    sums = {(name, how): np.zeros(source.world.slots) for name in fitted for how in ("unconditional", "conditional")}
    reading = source.select(needs("clicks", keys="query") | user.needs())
    exact = {name for name, model in fitted.items() if _enumerable(model, source.world.slots)}
    for part in range(reading.parts()):
        for batch in reading.batches(part):
            assert batch.clicks is not None
            law = user.law(batch.contexts, batch.slates)
            before, given = law.marginal(), law.conditional(batch.clicks)
            for name, model in fitted.items():
                said = model.law(batch.contexts, batch.slates)
                sums[name, "conditional"] += _bits(given, said.conditional(batch.clicks))
                if name in exact:
                    sums[name, "unconditional"] += _bits(before, said.marginal())
    kept = {key: np.exp2(bits / source.sessions).mean() for key, bits in sums.items()}
    return {name: _named(name in exact, kept[name, "unconditional"], kept[name, "conditional"]) for name in fitted}


def _named(exact: bool, unconditional: float, conditional: float) -> Perplexity:
    return {"unconditional": float(unconditional) if exact else None, "conditional": float(conditional)}


def _enumerable(model: Fitted, slots: int) -> bool:
    return not isinstance(model.model, RecurrentModel) or 1 << (slots - 1) <= HISTORIES


def _bits(chance: Floats, said: Floats) -> Floats:
    """[k] expected loss in bits, summed over slates."""
    kept = np.clip(said, CLIP, 1 - CLIP)
    return np.asarray(-(chance * np.log2(kept) + (1 - chance) * np.log2(1 - kept)).sum(axis=0))
