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
    _HOMES = """
        evaluation.answer evaluation.arguments evaluation.check_pass click_evaluation=clicks.evaluation
        click_model=clicks.model metrics.click_pages metrics.click_results inference.clusters_and_level
        metrics.cmip_models conversion=readers.convert clicks.documents policies.fit frames
        clicks.given_models metrics.graded clicks.harvesting simulation.judged_queries
        learning.learnt_policy metrics.measurements metrics.page policies evaluation.question
        evaluation.reproducibility selection.selected_estimators selection.selected_models
        selection.selector simulation.simulated selection.simulated_selection simulation.source
        policies.splits selection.strategies learning.training users=simulation.users.named
        world_rankers=simulation.rankers simulation.worlds
    """
    for _home in _HOMES.split():
        _name, _, _module = _home.rpartition("=")
        globals()[_name or _module.rpartition(".")[2]] = Later(f"..{_module}", __package__)


def choose_estimators(*given: Any) -> Any:
    """Choose the estimator of each target where `auto` is asked for; see `selection.selector.chosen_estimators`."""
    return selector.chosen_estimators(*given)
