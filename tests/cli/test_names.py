"""`offrank estimators` and `offrank policies` list all that is registered, and what it assumes."""

from __future__ import annotations

import pytest

from offrank.estimators import ESTIMATORS
from offrank.policies import POLICIES
from tests.cli.commands import call


def entries(verb: str) -> list[str]:
    """The entries of a list, each from its spelling to its last word; wrapped lines are joined."""
    found: list[str] = []
    for line in call(verb).stdout.splitlines():
        if line and line[0].isalpha() and line.split("(")[0].split()[0] in {**ESTIMATORS, **POLICIES}:
            found.append("")
        if found:
            found[-1] += " " + " ".join(line.split())
    return found


@pytest.mark.parametrize(("verb", "names"), [("estimators", ESTIMATORS), ("policies", POLICIES)])
def test_every_name_is_listed_once(verb: str, names: dict[str, object]) -> None:
    assert [one.split("(")[0].split()[0] for one in entries(verb)] == list(names)


def test_every_estimator_says_what_it_assumes() -> None:
    """Words of the field: what a reader chooses an estimator by."""
    said = {one.split("(")[0].split()[0]: one.partition(" Assumes ")[2] for one in entries("estimators")}
    assert all(said.values())
    assert "own documentation" not in " ".join(said.values())
    assert said["ips"] == said["snips"] == "nothing about users."
    assert said["rips"] == "users read from the top."
    assert said["ipm"] == "a click depends on its own item and rank only."
    assert "every rank" in said["pbm"]
    assert "within 1 rank" in said["interpol"]
    assert said["weights"] == "users click as pbm says."
    assert said["direct"] == "the reward model is right."
