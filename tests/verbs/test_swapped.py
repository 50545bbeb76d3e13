"""Arguments swapped, and words of the command line in Python: one meaning, or a clear error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import offrank
from offrank.errors import UsageError
from tests.verbs.logs import LOGGING, TARGET, replaced, search

NEW = "plackett_luce(new_score)"


@pytest.mark.parametrize("target", [TARGET, NEW, "uniform"])
def test_check_refuses_target_and_logging_policy_in_each_other_s_place(target: str) -> None:
    log = replaced(search(), propensity=None)
    assert offrank.check(log, target, LOGGING).about_log == ()
    with pytest.raises(offrank.OffrankError, match="swapped") as caught:
        offrank.check(log, LOGGING, target)
    assert target == TARGET or f'target="{target}"' in caught.value.remedy


def test_a_wrong_logging_policy_is_no_swap() -> None:
    for target in (TARGET, NEW, None):
        found = offrank.check(search(), target, "plackett_luce(naive_score)")
        assert "miscalibrated" in {one.code for one in found.about_log}


def test_what_was_logged_is_no_target_of_a_wrong_policy() -> None:
    with pytest.raises(UsageError, match="swapped"):
        offrank.check(search(), "logged", NEW)


def test_evaluate_does_not_answer_a_swapped_question() -> None:
    with pytest.raises(offrank.OffrankError, match="probability 0"):
        offrank.evaluate(search(), LOGGING, TARGET, "ips")
    found = offrank.evaluate(search(), LOGGING, NEW, "ips")
    assert not found.verdict.usable
    assert "are swapped" in found.about_log[0].remedy


VERBS: dict[str, Any] = {
    "evaluate": lambda **how: offrank.evaluate(search(), TARGET, LOGGING, "ips", **how),
    "compare": lambda **how: offrank.compare(search(), [TARGET, "uniform"], LOGGING, "ips", **how),
    "measure": lambda **how: offrank.measure(search(), ["new_score"], LOGGING, **how),
}


@pytest.mark.parametrize("verb", VERBS)
def test_cluster_none_is_what_it_is_on_the_command_line(verb: str) -> None:
    def numbers(**how: Any) -> Any:
        found = VERBS[verb](**how).to_dict()
        return str({**found, "created": None, "command": None})

    assert numbers(cluster="none") == numbers(cluster=None)


def test_a_clicks_verb_takes_it_too(tmp_path: Any) -> None:
    rng = np.random.default_rng(2)
    log = replaced(search(), user=rng.integers(0, 9, len(search())))
    fitted = offrank.fit_clicks(log, "pbm", tmp_path / "pbm.json", by=None).fitted
    one, other = (offrank.evaluate_clicks(log, fitted, cluster=said) for said in ("none", None))
    assert str(one) == str(other)
