"""Counterfactual, pairwise and banner metrics against Algorithm 2 over every slate that can be shown."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import offrank
from offrank import metrics
from offrank.errors import AbilityError, ImpossibleSlateError, NoOverlapError, SpellingError, UsageError
from offrank.inference.clusters_and_level import IntervalSpec
from offrank.metrics.comparisons import METRICS, metric
from offrank.metrics.fold import ComparisonsFold, clicked
from offrank.policies.epsilon import EpsilonUniform
from offrank.policies.logged_probabilities import Logged
from offrank.policies.plackett_luce import PlackettLuce
from offrank.policies.top import Top
from offrank.policies.uniform import Uniform
from offrank_testing.conformance import check_fold
from offrank_testing.exact import World
from offrank_testing.laws import Situation
from tests.exact.users import position_based_clicks
from tests.exact.worlds import world
from tests.metrics.enumerated import algorithm_2, disagreement, hinge, logistic, redrawn, reordered, shuffled

LOGGINGS = [
    PlackettLuce("old"),
    PlackettLuce("logit", log=True, temperature=0.7),
    Uniform(),
    EpsilonUniform(Top("old"), 0.3),
    EpsilonUniform(PlackettLuce("old"), 0.2),
]
COSTS = {"disagreement": disagreement, "loss": logistic, "loss(form=hinge)": hinge}


@pytest.mark.parametrize("shape", ["full", "top"])
@pytest.mark.parametrize("logging", LOGGINGS, ids=repr)
@pytest.mark.parametrize("cost", COSTS)
def test_the_exact_expectation_is_that_of_algorithm_2(shape: str, logging: object, cost: str) -> None:
    users = world(shape, "slate")
    log = users.source(logging)
    found = offrank.measure(log, ["new", "logit"], logging, [f"counterfactual_{cost}", f"banner_{cost}"])
    for name, again in (("counterfactual", reordered), ("banner", redrawn)):
        for model in ("new", "logit"):
            value, rejected = algorithm_2(users, logging, model, again, COSTS[cost])
            one = found[model, f"{name}_{cost}"]
            assert one.value == pytest.approx(value, rel=1e-9)
            assert one.rejected == pytest.approx(rejected, rel=1e-9)


def constant(users: World) -> World:
    """The situations of a world that show three items."""
    return World(tuple(one for one in users.situations if one.slots == 3), users.clicks)


@pytest.mark.parametrize("cost", COSTS)
def test_on_shuffled_slates_of_one_size_it_is_the_pairwise_metric(cost: str) -> None:
    users = constant(world("top", "cascade"))
    found = offrank.measure(users.source(Uniform()), "new", Uniform(), [f"pairwise_{cost}", f"counterfactual_{cost}"])
    assert found[f"pairwise_{cost}"].value == pytest.approx(found[f"counterfactual_{cost}"].value)
    assert found[f"pairwise_{cost}"].value == pytest.approx(
        algorithm_2(users, Uniform(), "new", shuffled, COSTS[cost])[0]
    )


def test_on_shuffled_slates_of_one_size_the_ndcg_is_the_usual_one() -> None:
    users = constant(world("top", "position"))
    batch = users.batch(Uniform())
    scores = np.take_along_axis(batch.contexts.scores["logit"], batch.slates, axis=1)
    found = offrank.measure(users.source(Uniform()), "logit", Uniform(), ["pairwise_ndcg", "counterfactual_ndcg"])
    # Two items tie in one situation: a tie counts as the mean of both orders, here the first and the last kept first.
    first, last = (
        [metrics.ndcg(metrics.ranked(eye, np.tile(row[::way], (3, 1)))) for row in scores]
        for eye, way in ((np.eye(3), 1), (np.eye(3)[:, ::-1], -1))
    )
    one_click = (np.array(first) + np.array(last)) / 2
    expected = (batch.clicks * one_click / batch.inclusion[:, None]).sum() / (
        batch.clicks / batch.inclusion[:, None]
    ).sum()
    assert found["pairwise_ndcg"].value == pytest.approx(expected)
    assert found["counterfactual_ndcg"].value == pytest.approx(expected)


def test_the_best_model_wins_whatever_stood_at_the_top() -> None:
    """Section 2.3 of the paper: pairwise disagreement may prefer the model that put its favourites on top."""
    relevance, orders = (0.3, 0.4, 0.5), list(permutations((1.0, 2.0, 3.0)))
    models = {f"model{index}": order for index, order in enumerate(orders)}
    best = f"model{orders.index((1.0, 2.0, 3.0))}"
    users = World(
        (Situation(3, 3, {"old": (9.0, 3.0, 1.0), **models}),), position_based_clicks((relevance,), (1.0, 0.4, 0.1))
    )
    names = ["pairwise_disagreement", "counterfactual_disagreement", "counterfactual_loss", "counterfactual_ndcg"]
    found = offrank.measure(users.source(PlackettLuce("old")), list(models), PlackettLuce("old"), names)
    values = {name: {model: found[model, name].value for model in models} for name in names}
    assert min(values[names[1]], key=values[names[1]].get) == best
    assert min(values[names[2]], key=values[names[2]].get) == best
    assert max(values[names[3]], key=values[names[3]].get) == best
    assert min(values[names[0]], key=values[names[0]].get) != best


def test_a_random_model_scores_one_half() -> None:
    users = world("full", "position")
    tied = World(
        tuple(Situation(s.size, s.slots, {**s.scores, "flat": (1.0,) * s.size}) for s in users.situations), users.clicks
    )
    found = offrank.measure(tied.source(Uniform()), "flat", Uniform(), list(METRICS))
    for name in ("pairwise", "counterfactual", "banner"):
        assert found[f"{name}_disagreement"].value == pytest.approx(0.5)
        assert found[f"{name}_loss"].value == pytest.approx(np.log(2))


def test_drawn_orders_approach_the_exact_expectation_and_are_keyed_by_row() -> None:
    users, logging = world("top", "position"), PlackettLuce("old")
    names = ["counterfactual_disagreement", "counterfactual_disagreement(draws=4000)"]
    found = offrank.measure(users.source(logging), "new", logging, names)
    assert found[names[1]].value == pytest.approx(found[names[0]].value, abs=0.01)
    fold = ComparisonsFold((metric("counterfactual_loss(draws=3, seed=5)"),), ("new",), logging, IntervalSpec())
    check_fold(fold, users.batch(logging), np.random.default_rng(0))


@pytest.mark.parametrize(
    "spec", [IntervalSpec(), IntervalSpec("bootstrap", replicates=20), IntervalSpec(cluster="query")]
)
def test_the_fold_keeps_its_laws(spec: IntervalSpec) -> None:
    names = ("pairwise_disagreement", "counterfactual_loss", "banner_ndcg", "counterfactual_ndcg(several=unclicked)")
    logging = PlackettLuce("old")
    fold = ComparisonsFold(tuple(map(metric, names)), ("new", "logit"), logging, spec, by="situation")
    check_fold(fold, world("top", "slate").batch(logging), np.random.default_rng(1))


def test_pieces_of_a_batch_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    users, logging = world("top", "slate"), PlackettLuce("old")
    whole = metrics.banner_disagreement(users.source(logging), "new", logging)["new"].value
    monkeypatch.setattr("offrank.metrics.fold._MOST_NUMBERS", 50)
    assert len(list(clicked(users.batch(logging), banner=True))) > 5
    assert metrics.banner_disagreement(users.source(logging), "new", logging)["new"].value == pytest.approx(whole)


def test_a_written_law_is_taken_where_it_speaks_of_the_order_alone() -> None:
    users, logging = world("full", "slate"), PlackettLuce("old")
    exact = metrics.counterfactual_disagreement(users.source(logging), "new", logging)["new"].value
    assert metrics.counterfactual_disagreement(users.source(logging), "new")["new"].value == pytest.approx(exact)
    with pytest.raises(AbilityError, match="given the set of shown items"):
        metrics.counterfactual_disagreement(world("top", "slate").source(logging), "new", Logged())


def test_a_deterministic_policy_leaves_nothing_to_compare() -> None:
    with pytest.raises(NoOverlapError, match="no other item"):
        metrics.counterfactual_disagreement(world("top", "slate").source(Top("old")), "new", Top("old"))


def test_a_policy_that_cannot_have_drawn_the_log_is_refused() -> None:
    with pytest.raises(ImpossibleSlateError):
        metrics.counterfactual_disagreement(world("top", "slate").source(Uniform()), "new", Top("old"))


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_spelled_as_it_is_shown(name: str) -> None:
    assert repr(metric(name)) == name
    longer = f"{name}(several=unclicked)"
    assert repr(metric(longer)) == longer


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ("nonsense", SpellingError),
        ("pairwise_loss(form=square)", UsageError),
        ("pairwise_disagreement(form=hinge)", UsageError),
        ("pairwise_disagreement(draws=3)", UsageError),
        ("banner_loss(several=all)", UsageError),
        ([], UsageError),
    ],
)
def test_metrics_that_do_not_exist_are_refused(wrong: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        offrank.measure(world("full", "slate").source(Uniform()), "new", Uniform(), wrong)
