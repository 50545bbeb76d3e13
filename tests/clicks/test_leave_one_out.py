"""What a session taught a component is taken away before it is judged: by counts written out, and by derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from offrank.clicks import DCTR, GCTR, RDCTR, Mixture
from offrank.clicks.base import FitResult
from offrank.clicks.leave_one_out import LeaveOneOutCounts
from offrank.clicks.sessions import Sessions
from tests.clicks.stories import TOLD

#: document 0 first and 1 second; 1 first; the third session stands for three, none of which is shown a second result
DATA = Sessions(
    np.array([[0, 1], [1, 0], [1, -1]], np.int32),
    np.array([[1, 0], [0, 0], [1, 0]], np.uint8),
    np.array([1.0, 1.0, 3.0]),
    2,
)
SHARE = np.array([0.5, 1.0, 0.25])


def lent() -> Sessions:
    return Sessions(DATA.document, DATA.click, DATA.weight * SHARE, 2)


def test_click_rates_of_the_other_sessions() -> None:
    """Beta(1, 3), then by shares: document 0 is clicked .5 of 1.5 times, document 1 .75 of 2.25 times."""
    model = DCTR((1.0, 3.0))
    learnt = model.learn(model.from_sessions(lent()))
    assert learnt.parameters["rate"][:2] == pytest.approx([1.5 / 5.5, 1.75 / 6.25])
    found = LeaveOneOutCounts.of(model, learnt, DATA, SHARE).logs(learnt.parameters, SHARE)
    expected = [
        (1.0 / 5.0) * (1 - 1.75 / 5.75),
        (1 - 1.75 / 5.25) * (1 - 1.5 / 4.5),
        1.5 / 6.0,  # one of three is taken away: a quarter of it is this component's
    ]
    assert found == pytest.approx(np.log(expected), rel=1e-6)


def test_click_rates_by_rank() -> None:
    """Beta(1, 3) at each rank; the only session that showed document 0 first is not there: its prior is left."""
    model = RDCTR((1.0, 3.0))
    learnt = model.learn(model.from_sessions(lent()))
    found = LeaveOneOutCounts.of(model, learnt, DATA, SHARE).logs(learnt.parameters, SHARE)
    expected = [(1 / 4) * (3 / 4), (1 - 1.75 / 4.75) * (3 / 4), (1.75 - 0.25) / (5.75 - 0.25)]
    assert found == pytest.approx(np.log(expected), rel=1e-6)


def test_a_model_without_documents_loses_nothing() -> None:
    model = GCTR()
    learnt = model.learn(model.from_sessions(lent()))
    rate = learnt.parameters["rate"][0]
    found = LeaveOneOutCounts.of(model, learnt, DATA, SHARE).logs(learnt.parameters, SHARE)
    assert found == pytest.approx(np.log([rate * (1 - rate), (1 - rate) ** 2, rate]))


@pytest.mark.parametrize("name", ["dbn", "ccm", "dcm", "mixture"])
def test_trials_have_the_score_of_the_likelihood(name: str) -> None:
    """Successes less v times trials are the derivative of a session's log-likelihood by the logit of v."""
    told = TOLD[name]
    assert isinstance(told.model, Mixture) == (name == "mixture")
    data = Sessions(np.array([[0, 4, 2, 1]] * 2, np.int32), np.array([[0, 1, 0, 0], [0] * 4], np.uint8), np.ones(2), 5)
    tables = [table for table, role in told.model.roles().items() if role.value == "document"]
    learnt = FitResult(told.parameters, {table: np.full(6, 50.0) for table in tables})
    own, one = LeaveOneOutCounts.of(told.model, learnt, data, np.ones(2)), np.zeros(2)
    for table in tables:
        success, failure, _ = own.taught[table]
        for rank, document in enumerate([0, 4, 2, 1]):
            value = told.parameters[table][document]
            ends = []
            for step in (1e-5, -1e-5):
                moved = told.parameters[table].copy()
                moved[document] = 1 / (1 + (1 / value - 1) * np.exp(-step))
                ends.append(own.logs({**told.parameters, table: moved}, one))
            slope = (ends[0] - ends[1]) / 2e-5
            trials = success + failure
            assert success[:, rank] - value * trials[:, rank] == pytest.approx(slope, abs=1e-5)
