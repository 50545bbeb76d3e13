"""Regret of choosing a click model by a strategy, if out-of-distribution perplexity is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from offrank.errors import UsageError
from offrank.log.batch import Booleans, Floats
from offrank.selection.candidates import MeasuredModel
from offrank.selection.click_models import choose
from offrank.selection.strategies import SIGNS, Metric, Preset, Strategy, strategy

SIZES = (5, 6, 7)


def regret(
    models: Sequence[MeasuredModel],
    out_of_distribution: Mapping[str, float],
    by: str | Strategy,
    preset: Preset = "paper",
) -> float:
    """Return the out-of-distribution perplexity of the chosen model minus that of the best model.

    Parameters:
        models: the candidates.
        out_of_distribution: perplexity on rankings of another policy, by model.
        by: the strategy.
        preset: as for `choose`.

    Returns:
        The regret, in units of the perplexity.

    Raises:
        UsageError: as for `choose`; a model's out-of-distribution perplexity is missing.
    """
    outcome = dict(zip((one.name for one in models), _outcomes(models, out_of_distribution), strict=True))
    return outcome[choose(models, by, preset).name] - min(outcome.values())


def average_regret(
    models: Sequence[MeasuredModel],
    out_of_distribution: Mapping[str, float],
    by: str | Strategy,
    sizes: Sequence[int] = SIZES,
    preset: Preset = "paper",
) -> float:
    """Return the mean `regret` over all subsets of these sizes: 29 of 7 (paper cmip-debiasedness, Table 2, / 1000).

    Parameters:
        models: the candidates.
        out_of_distribution: perplexity on rankings of another policy, by model.
        by: the strategy.
        sizes: of the subsets.
        preset: as for `choose`.

    Returns:
        The mean regret, in units of the perplexity.

    Raises:
        UsageError: as for `regret`; there is no subset of these sizes.
    """
    metrics = {metric: [[one.value(metric) for one in models]] for metric in strategy(by).metrics}
    return float(average_regrets(metrics, [_outcomes(models, out_of_distribution)], by, sizes, preset)[0])


def average_regrets(
    metrics: Mapping[Metric, ArrayLike],
    out_of_distribution: ArrayLike,
    by: str | Strategy,
    sizes: Sequence[int] = SIZES,
    preset: Preset = "paper",
) -> Floats:
    """Return `average_regret` of t tables at once [t]; metrics: [t, m] by table and model, as out_of_distribution.

    Parameters:
        metrics: [t, m] each metric by table and model.
        out_of_distribution: [t, m] perplexity on rankings of another policy.
        by: the strategy.
        sizes: of the subsets.
        preset: as for `choose`.

    Returns:
        [t] the mean regret of each table.

    Raises:
        UsageError: there is no subset of these sizes, or a metric that the strategy needs is missing.
    """
    asked = strategy(by)
    lacking = [metric for metric in asked.metrics if metric not in metrics]
    if lacking:
        raise UsageError(f"the strategy needs {', '.join(lacking)}", "measure it, or use another strategy")
    outcome = np.asarray(out_of_distribution, dtype=np.float64)[:, None, :]
    subsets = _subsets(outcome.shape[-1], sizes)
    # [t, s, m] lower is better; infinite outside the subset, so that larger tops keep all of it.
    signed = {one: SIGNS[one] * np.asarray(metrics[one], dtype=np.float64)[:, None, :] for one in asked.metrics}
    costs = {metric: np.where(subsets, values, np.inf) for metric, values in signed.items()}
    kept = np.broadcast_to(subsets, (len(outcome), *subsets.shape))
    tops = [_top(costs[top.metric], top.size) for top in asked.tops]
    for top in tops:
        kept = kept & top
    fallback = subsets if preset == "paper" or not tops else tops[0] & subsets
    kept = np.where(kept.any(axis=-1, keepdims=True), kept, fallback)
    chosen = np.where(kept, costs[asked.metric], np.inf).argmin(axis=-1)
    found = np.take_along_axis(np.broadcast_to(outcome, kept.shape), chosen[..., None], axis=-1)[..., 0]
    return np.asarray((found - np.where(subsets, outcome, np.inf).min(axis=-1)).mean(axis=-1))


def _outcomes(models: Sequence[MeasuredModel], out_of_distribution: Mapping[str, float]) -> list[float]:
    lacking = [one.name for one in models if one.name not in out_of_distribution]
    if lacking:
        raise UsageError(
            f"{', '.join(lacking)} {'has' if len(lacking) == 1 else 'have'} no out-of-distribution perplexity",
            "give it for every model",
        )
    return [out_of_distribution[one.name] for one in models]


def _subsets(models: int, sizes: Sequence[int]) -> Booleans:
    """Return the models of each subset [s, m]."""
    members = [one for size in sizes for one in combinations(range(models), size)]
    if not members or not all(members):
        raise UsageError(
            f"there is no choice of {list(sizes)} from {models} models", "give sizes from 1 to their number"
        )
    held = np.zeros((len(members), models), dtype=np.bool_)
    for row, one in enumerate(members):
        held[row, list(one)] = True
    return held


def _top(costs: Floats, size: int) -> Booleans:
    """Return those no worse than the last of the top [t, s, m]."""
    last = min(size, costs.shape[-1]) - 1
    return np.asarray(costs <= np.sort(costs, axis=-1)[..., last, None])
