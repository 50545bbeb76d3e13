"""The modules by which verbs answer, each imported when it is first used: options are made of signatures alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..language.registry import Later

__all__ = [
    "answer",
    "arguments",
    "check_pass",
    "choose_estimators",
    "click_evaluation",
    "click_model",
    "click_pages",
    "click_results",
    "clusters_and_level",
    "cmip_models",
    "conversion",
    "documents",
    "fit",
    "frames",
    "given_models",
    "graded",
    "harvesting",
    "judged_queries",
    "learnt_policy",
    "measurements",
    "page",
    "policies",
    "question",
    "reproducibility",
    "selected_estimators",
    "selected_models",
    "simulated",
    "simulated_selection",
    "source",
    "splits",
    "strategies",
    "training",
    "users",
    "world_rankers",
    "worlds",
]

if TYPE_CHECKING:
    from .. import frames, policies
    from ..clicks import documents, given_models, harvesting
    from ..clicks import evaluation as click_evaluation
    from ..clicks import model as click_model
    from ..evaluation import answer, arguments, check_pass, question, reproducibility
    from ..inference import clusters_and_level
    from ..learning import learnt_policy, training
    from ..metrics import click_pages, click_results, cmip_models, graded, measurements, page
    from ..policies import fit, splits
    from ..readers import convert as conversion
    from ..selection import selected_estimators, selected_models, selector, simulated_selection, strategies
    from ..simulation import judged_queries, simulated, source, worlds
    from ..simulation import rankers as world_rankers
    from ..simulation.users import named as users
else:
    answer = Later("..evaluation.answer", __package__)
    arguments = Later("..evaluation.arguments", __package__)
    check_pass = Later("..evaluation.check_pass", __package__)
    click_evaluation = Later("..clicks.evaluation", __package__)
    click_model = Later("..clicks.model", __package__)
    click_pages = Later("..metrics.click_pages", __package__)
    click_results = Later("..metrics.click_results", __package__)
    clusters_and_level = Later("..inference.clusters_and_level", __package__)
    cmip_models = Later("..metrics.cmip_models", __package__)
    conversion = Later("..readers.convert", __package__)
    documents = Later("..clicks.documents", __package__)
    fit = Later("..policies.fit", __package__)
    frames = Later("..frames", __package__)
    given_models = Later("..clicks.given_models", __package__)
    graded = Later("..metrics.graded", __package__)
    harvesting = Later("..clicks.harvesting", __package__)
    judged_queries = Later("..simulation.judged_queries", __package__)
    learnt_policy = Later("..learning.learnt_policy", __package__)
    measurements = Later("..metrics.measurements", __package__)
    page = Later("..metrics.page", __package__)
    policies = Later("..policies", __package__)
    question = Later("..evaluation.question", __package__)
    reproducibility = Later("..evaluation.reproducibility", __package__)
    selected_estimators = Later("..selection.selected_estimators", __package__)
    selected_models = Later("..selection.selected_models", __package__)
    selector = Later("..selection.selector", __package__)
    simulated = Later("..simulation.simulated", __package__)
    simulated_selection = Later("..selection.simulated_selection", __package__)
    source = Later("..simulation.source", __package__)
    splits = Later("..policies.splits", __package__)
    strategies = Later("..selection.strategies", __package__)
    training = Later("..learning.training", __package__)
    users = Later("..simulation.users.named", __package__)
    world_rankers = Later("..simulation.rankers", __package__)
    worlds = Later("..simulation.worlds", __package__)


def choose_estimators(*given: Any) -> Any:
    """Choose the estimator of each target where `auto` is asked for; see `selection.selector.chosen_estimators`."""
    return selector.chosen_estimators(*given)
