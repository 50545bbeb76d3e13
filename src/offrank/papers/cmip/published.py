"""What paper cmip-debiasedness and the code published with it report."""

from __future__ import annotations

from ...selection.strategies import Metric
from .design import CAROUSEL, DBN, LAMBDAMART, MIXTURE, ORACLE, PBM, UNIFORM

COMBINATIONS: tuple[tuple[Metric, ...], ...] = (
    ("ppl",),
    ("ndcg",),
    ("cmip",),
    ("ppl", "ndcg"),
    ("cmip", "ppl"),
    ("cmip", "ndcg"),
    ("ppl", "ndcg", "cmip"),
)
"""The columns of Table 1, in its order."""

BASELINE: tuple[Metric, ...] = ("ppl", "ndcg")
"""What the other combinations are compared with."""

TABLE_1 = {
    (PBM, ORACLE, LAMBDAMART): (0.276, 0.256, 0.439, 0.395, 0.938, 0.972, 0.963),
    (PBM, ORACLE, UNIFORM): (0.277, 0.346, 0.725, 0.304, 0.966, 0.969, 0.970),
    (PBM, LAMBDAMART, ORACLE): (0.369, 0.907, 0.904, 0.861, 0.883, 0.962, 0.944),
    (PBM, LAMBDAMART, UNIFORM): (0.347, 0.965, 0.931, 0.889, 0.974, 0.977, 0.975),
    (DBN, ORACLE, LAMBDAMART): (0.235, 0.978, 0.517, 0.693, 0.787, 0.977, 0.897),
    (DBN, ORACLE, UNIFORM): (0.254, 0.984, 0.545, 0.688, 0.821, 0.983, 0.963),
    (DBN, LAMBDAMART, ORACLE): (0.941, 0.997, 0.997, 0.974, 0.970, 0.997, 0.983),
    (DBN, LAMBDAMART, UNIFORM): (0.958, 0.999, 0.999, 0.983, 0.982, 0.999, 0.982),
    (MIXTURE, ORACLE, LAMBDAMART): (0.805, 0.149, 0.843, 0.869, 0.910, 0.906, 0.914),
    (MIXTURE, ORACLE, UNIFORM): (0.618, 0.266, 0.859, 0.767, 0.884, 0.909, 0.880),
    (MIXTURE, LAMBDAMART, ORACLE): (0.985, 0.167, 0.625, 0.988, 0.990, 0.862, 0.985),
    (MIXTURE, LAMBDAMART, UNIFORM): (0.951, 0.167, 0.735, 0.987, 0.984, 0.902, 0.987),
    (CAROUSEL, ORACLE, LAMBDAMART): (0.974, 0.811, 0.993, 0.970, 0.977, 0.978, 0.973),
    (CAROUSEL, ORACLE, UNIFORM): (0.954, 0.941, 0.994, 0.947, 0.968, 0.995, 0.942),
    (CAROUSEL, LAMBDAMART, ORACLE): (0.993, 0.129, 0.688, 0.990, 0.991, 0.773, 0.994),
    (CAROUSEL, LAMBDAMART, UNIFORM): (0.993, 0.113, 0.722, 0.996, 0.994, 0.759, 0.998),
}
"""Adjusted R^2 of each configuration by combination."""

AVERAGES = (0.683, 0.574, 0.782, 0.831, 0.939, 0.933, 0.959)
"""The last row of Table 1."""

TABLE_2 = {
    "ppl": (2.5499, 0.0506),
    "ndcg": (5.2406, 0.8480),
    "top-4 ndcg: ppl": (1.6423, 0.1417),
    "top-4 ppl: ndcg": (2.5199, 0.3168),
    "cmip": (2.5268, 0.2722),
    "top-4 cmip: ppl": (2.5505, 0.0507),
    "top-4 cmip: ndcg": (0.9493, 0.1175),
    "top-4 cmip, top-4 ndcg: ppl": (1.6404, 0.1430),
    "top-4 cmip, top-4 ppl: ndcg": (0.9176, 0.1221),
}
"""Average regret times 1000, and half of its 95 % interval."""

CELLS = {
    "ppl": (8.115, 7.549, 0.294, 0.635, 0.456, 0.008, 3.298, 0.045),
    "ndcg": (14.820, 1.493, 0.357, 0.266, 7.639, 1.640, 14.240, 1.470),
    "cmip": (1.794, 2.307, 5.025, 0.636, 0.508, 1.846, 5.731, 2.367),
    "top-4 cmip: ndcg": (1.072, 1.501, 0.351, 0.266, 0.670, 1.437, 0.392, 1.907),
    "top-4 ndcg: ppl": (5.621, 4.267, 0.283, 0.635, 0.226, 0.856, 0.802, 0.448),
    "top-4 ppl: ndcg": (8.272, 1.493, 0.357, 0.266, 6.381, 1.640, 0.392, 1.359),
    "top-4 cmip, top-4 ppl: ndcg": (1.106, 1.501, 0.351, 0.266, 0.670, 1.437, 0.392, 1.620),
}
"""Regret times 1000 by user and logging policy, in the order of `USERS` and `LOGGING`: the published notebooks have it
for these strategies."""
