"""The docs cannot lag: every code, role, policy, estimator and public name has its place in them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import offrank
from offrank import errors, findings
from offrank.estimators.named import ESTIMATORS
from offrank.log.schema import LONG_ROLES, ROLES
from offrank.policies.registry import POLICIES

ROOT = Path(__file__).resolve().parents[2]
SOURCE, DOCS = ROOT / "src" / "offrank", ROOT / "docs"
#: Where codes are given that are no findings: calls of these names, whose first argument is the code.
GIVING = {"Rule", "row"}


def given(path: Path) -> set[str]:
    """Codes of rules and of what `check` looked at that a module gives, read off its text."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    named = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in GIVING and call.args]
    words = [call.args[0].value for call in named if isinstance(call.args[0], ast.Constant)]
    return {word for word in words if isinstance(word, str)}


def codes() -> set[str]:
    modules = [path for folder in ("checks", "verbs", "log") for path in SOURCE.glob(f"{folder}/*.py")]
    found = set().union(*map(given, modules)) | {kind.code for kind in findings.all_findings()}
    raised = {kind.code for kind in vars(errors).values() if isinstance(kind, type) and hasattr(kind, "code")}
    return found | raised | {"arithmetic", "harmonic", "click-outside-slate", "click-repeated"}


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def code_words(page: str) -> set[str]:
    """What a page sets as code or has as a heading."""
    prose = re.sub(r"^```.*?^```", "", text(page), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +([\w-]+)$", prose, re.MULTILINE)
    spelled = (re.match(r"[\w-]+", words) for words in re.findall(r"`([^`\n]+)`", prose))
    return set(headings) | {match[0] for match in spelled if match}


def test_codes_are_read_off_the_source() -> None:
    assert {"low-ess", "mean-weight", "no-overlap", "support", "ragged", "impossible-slate"} <= codes()


def test_codes_are_explained() -> None:
    pages = ("reference/findings.md", "reference/log-format.md", "reference/verbs/check.md")
    assert codes() - set().union(*map(code_words, pages)) == set()


def test_roles_are_explained() -> None:
    assert {*ROLES, *LONG_ROLES} - code_words("reference/log-format.md") == set()


def test_estimators_are_explained() -> None:
    assert {*ESTIMATORS} - code_words("concepts/which-estimator.md") == set()


def test_policies_are_explained() -> None:
    assert {*POLICIES} - (code_words("concepts/which-estimator.md") | code_words("start/your-table.md")) == set()


def test_public_names_are_in_the_reference() -> None:
    listed = re.findall(r"^::: offrank\.(?:\w+\.)*(\w+)$", text("reference/api.md"), re.MULTILINE)
    assert {*offrank.__all__} - {*listed, *vars(errors)} == set()  # the errors are listed by their module
