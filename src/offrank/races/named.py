"""The keys of policies by the arguments that they are spelled with: for those who judge, and for those who serve."""

from __future__ import annotations

import math

from ..errors import UsageError
from .keys import Floats, GaussianKeys, GumbelKeys, Keys

NOISES = ("gaussian", "gumbel")
GUMBEL_SCALE = math.sqrt(6) / math.pi
"""The scale of a Gumbel law whose standard deviation is 1."""


def noise_keys(score: Floats, sd: Floats, noise: str) -> Keys:
    """Return the keys of scores [n, m] with noise of such a standard deviation [n, m]."""
    return GaussianKeys(score, sd) if noise == "gaussian" else GumbelKeys(score, sd * GUMBEL_SCALE)


def refuse_other_posteriors(alpha: str | None, beta: str | None, mean: str | None, sd: str | None) -> None:
    """Refuse columns that are not those of Beta arms, nor those of Gaussian arms.

    Raises:
        UsageError: they are neither alpha and beta alone, nor mean and sd alone.
    """
    columns = {"alpha": alpha, "beta": beta, "mean": mean, "sd": sd}
    given = [name for name, column in columns.items() if column is not None]
    if given not in (["alpha", "beta"], ["mean", "sd"]):
        what = " and ".join(given) or "no column"
        raise UsageError(f"thompson is given {what}", "write thompson(alpha, beta), or thompson(mean=..., sd=...)")
