"""Each finding just below and just above each of its thresholds.

That the cases are near enough is tested by moving every threshold by 2 %: one of its cases must change.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from types import ModuleType

import pytest

from offrank import findings
from offrank.findings.assumptions import SelectedMemberEvidence, SelectorEvidence
from tests.findings.cases import CASES, Case

ALWAYS = {("chosen", SelectedMemberEvidence), ("chosen-estimator", SelectorEvidence)}
"""What is said of every choice is no alarm."""


def said(case: Case) -> str | None:
    [kind] = [kind for kind in findings.all_findings(type(case.evidence)) if kind.code == case.code]
    found = kind.find(case.evidence)
    return None if found is None else found.severity


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code}-{case.severity}")
def test_what_is_said(case: Case) -> None:
    assert said(case) == case.severity


def identity(kind: findings.Kind) -> str:
    return f"{kind.code}-{kind.evidence.__name__}"


@pytest.mark.parametrize("kind", findings.all_findings(), ids=identity)
def test_every_finding_has_a_case_on_either_side(kind: findings.Kind) -> None:
    found = {case.severity for case in CASES if (case.code, type(case.evidence)) == (kind.code, kind.evidence)}
    assert found - {None}
    assert None in found or (kind.code, kind.evidence) in ALWAYS


def names_in(function: object) -> set[str]:
    """The names that a function reads, its decorators included; not those of attributes or in texts."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))  # type: ignore[arg-type]
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def thresholds(kind: findings.Kind) -> dict[str, float]:
    """The named numbers that the function of a finding reads, and the functions of its file that it calls."""
    file, read = vars(sys.modules[kind.find.__module__]), set[str]()
    todo = [kind.find]
    while todo:
        further = names_in(todo.pop()) - read
        read |= further
        todo += [
            one for name in further if inspect.isfunction(one := file.get(name)) and one.__module__ == file["__name__"]
        ]
    return {
        name: float(value)
        for name, value in file.items()
        if name.isupper() and not name.startswith("_") and isinstance(value, int | float) and name in read
    }


def homes(name: str, value: float) -> list[ModuleType]:
    """The files that read a threshold by this name."""
    modules = [module for path, module in sys.modules.items() if path.startswith("offrank.findings.")]
    return [module for module in modules if getattr(module, name, None) == value]


@pytest.mark.parametrize("kind", findings.all_findings(), ids=identity)
@pytest.mark.parametrize("factor", [0.98, 1.02])
def test_a_threshold_that_moves_by_2_per_cent_is_noticed(
    kind: findings.Kind, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [case for case in CASES if case.code == kind.code]
    for name, value in thresholds(kind).items():
        with monkeypatch.context() as moved:
            for module in homes(name, value):
                moved.setattr(module, name, factor * value)
            assert any(said(case) != case.severity for case in cases), f"{name} of {kind.code}"


@pytest.mark.parametrize("kind", findings.all_findings(), ids=identity)
def test_a_finding_is_a_function_of_its_name_and_says_what_to_do(kind: findings.Kind) -> None:
    name = kind.code.replace("-", "_")
    assert kind.find.__name__ == name or kind.find.__name__.startswith(f"{name}_of_")
    assert kind.title
    loud = [case for case in CASES if case.severity and (case.code, type(case.evidence)) == (kind.code, kind.evidence)]
    for case in loud:
        found = kind.find(case.evidence)
        assert found is not None
        assert found.message.endswith(".")
        assert found.remedy.endswith(".")
