"""The modules by which verbs answer, each imported when it is first used: options are made of signatures alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..language import lazy
from ..language.registry import Later

if TYPE_CHECKING:
    from .. import frames as frames
    from .. import policies as policies
    from ..clicks import documents as documents
    from ..clicks import evaluation as _evaluation
    from ..clicks import given_models as given_models
    from ..clicks import harvesting as harvesting
    from ..clicks import model as _model
    from ..evaluation import answer as answer
    from ..evaluation import arguments as arguments
    from ..evaluation import check_pass as check_pass
    from ..evaluation import question as question
    from ..evaluation import reproducibility as reproducibility
    from ..inference import clusters_and_level as clusters_and_level
    from ..learning import learnt_policy as learnt_policy
    from ..learning import training as training
    from ..metrics import click_pages as click_pages
    from ..metrics import click_results as click_results
    from ..metrics import cmip_models as cmip_models
    from ..metrics import graded as graded
    from ..metrics import measurements as measurements
    from ..metrics import page as page
    from ..policies import fit as fit
    from ..policies import splits as splits
    from ..readers import convert as _convert
    from ..selection import selected_estimators as selected_estimators
    from ..selection import selected_models as selected_models
    from ..selection import selector as selector
    from ..selection import simulated_selection as simulated_selection
    from ..selection import strategies as strategies
    from ..simulation import judged_queries as judged_queries
    from ..simulation import rankers as _rankers
    from ..simulation import simulated as simulated
    from ..simulation import source as source
    from ..simulation import worlds as worlds
    from ..simulation.users import named as _users
else:
    for _name, (_home, _own) in lazy.homes(__file__).items():
        globals()[_name] = Later(f"{_home}{_own}" if _home == ".." else f"{_home}.{_own}", __package__)

click_evaluation, click_model, conversion = _evaluation, _model, _convert
users, world_rankers = _users, _rankers


def choose_estimators(*given: Any) -> Any:
    """Choose the estimator of each target where `auto` is asked for; see `selection.selector.chosen_estimators`."""
    return selector.chosen_estimators(*given)
