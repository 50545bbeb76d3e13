"""Do groups differ? Welch's test, which lets each group have its own error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import fdtrc


def welch(values: Sequence[float], errors: Sequence[float], sizes: Sequence[float]) -> float | None:
    """The p-value of equal expectations (Welch 1951, Biometrika 38); None where fewer than two groups tell.

    - values, errors: the mean of each group and its standard error. sizes: effective sample sizes, whose excess over 1
      are the degrees of freedom of the errors.
    """
    x, error, size = (np.asarray(one, float) for one in (values, errors, sizes))
    told = np.isfinite(x) & (error > 0) & np.isfinite(error) & (size > 1)
    x, error, size = x[told], error[told], size[told]
    k = len(x)
    if k < 2:
        return None
    weight = error**-2.0
    share = weight / weight.sum()
    spread = float(weight @ (x - share @ x) ** 2) / (k - 1)
    doubt = float(((1 - share) ** 2 / (size - 1)).sum())
    statistic = spread / (1 + 2 * (k - 2) / (k**2 - 1) * doubt)
    return float(fdtrc(k - 1, (k**2 - 1) / (3 * doubt), statistic))
