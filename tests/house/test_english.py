"""What people read is the English of the field: turns that stopped readers may not come back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house.code import ROOT, SOURCES, Module, modules

pytestmark = pytest.mark.xdist_group("house")  # one process reads the files

INSTEAD = {
    r"who has drawn": "which policy generated this log?",
    r"stood too (often|rarely)|stood there": "was shown too often, was shown there",
    r"\bworth about": "effective sample size: ... of ...",
    r"\bis looked at\b": "is examined",
    r"\bsettled\b|\bsettle it\b": "converged",
    r"\bdealt\b": "permuted",
    r"so much .* would have earned": "the value of",
    r"\bin its doubt\b|\bthe doubt of\b|\bthis doubt\b": "the interval, the standard error",
    r"tells? no more|\bhardly tells\b": "explains no better than, says little about",
    r"speaks? against (the numbers|this log)": "all checks passed",
    r"the most of all": "more than any other",
    r"in each other's place": "swapped",
    r"\btoo kind\b": "too optimistic",
    r"nothing of users|(more|less) of users": "nothing about users",
    r"(times|four) of five": "with a power of 80 %",
    r"can be judged by it|judged? by the others": "can be evaluated",
    r"\bweighed by\b": "weighted by",
    r"\bleave .{1,40} (away|out)\b": "omit, remove",
    r"as was said": "as given",
    r"(?<!there )\b(is|are) no (candidate|checkpoint|click model|log|policy|prior|probability|rank)\b": "is not a",
    r"(?<!there )\b(is|are) no (feedback|reader|regression|reward model|sorted|value|whole|words|XML)\b": "is not a",
    r"\bmend\b": "correct",
    r"(^|[:;] )say (['\"\[{]|one of)": "use",
    r"\bhold together\b": "hold jointly",
    r"closer to the logging one": "closer to the logging policy",
    r"how likely (each|a) rank": "examination of each rank",
    r"cannot be told from": "does not differ clearly from",
    r"\ba right model\b": "an unbiased model",
    r"cannot be had": "is not available",
    r"brackets within one another": "nested brackets",
    r"\bcounts? as nothing\b|\bearning nothing\b": "counts as zero",
    r"were to be expected": "were expected",
    r"\bpropensities that were (logged|written)\b": "logged propensities",
    r"\b(has|was) learnt of\b": "was trained on",
    r"\bbegun from\b": "starting from",
    r"no chance of": "not by chance",
    r"\bhas holes\b": "has gaps",
    r"\bknow items by themselves\b": "identify documents by item alone",
}
"""Turns that a reader has to read twice, each with what to say instead."""
TURNS = {re.compile(turn, re.IGNORECASE): instead for turn, instead in INSTEAD.items()}
ANY_TURN = re.compile("|".join(f"(?:{turn})" for turn in INSTEAD), re.IGNORECASE)


def said_in(module: Module) -> Iterator[tuple[int, str]]:
    """The texts of a module that are printed, with their lines: strings, but for docstrings and notes below names."""
    notes = {id(node.value) for node in module.nodes if isinstance(node, ast.Expr)}
    for node in module.nodes:
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(getattr(part, "value", "")) for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes:
            yield node.lineno, node.value


def odd_turns(texts: Iterator[tuple[int, str]]) -> list[str]:
    """Where a text has such a turn: line, turn, and what to say instead."""
    return [
        f"line {line}: {found[0]!r}; say: {instead}"
        for line, text in texts
        if ANY_TURN.search(joined := " ".join(text.split()))
        for turn, instead in TURNS.items()
        if (found := turn.search(joined))
    ]


def test_messages_are_english() -> None:
    found = {module.label: odd_turns(said_in(module)) for module in modules(*SOURCES)}
    assert {label: odd for label, odd in found.items() if odd} == {}


EVERYWHERE = [
    re.compile(turn, re.IGNORECASE)
    for turn in (
        r"stood too (often|rarely)",
        r"\bis looked at\b",
        r"nothing of users",
        r"\btoo kind\b",
        r"\ba right model\b",
        r"closer to the logging one",
        r"can be judged by it",
        r"\bweighed by\b",
        r"four (times of|of) five",
    )
]
"""Those that have no other use in prose, either."""
PAGES = [ROOT / "README.md", *(one for one in sorted((ROOT / "docs").rglob("*.md")) if one.parent.name != "tables")]


def test_pages_are_english() -> None:
    texts = {path.relative_to(ROOT): " ".join(path.read_text(encoding="utf-8").split()) for path in PAGES}
    found = [(path, one[0]) for path, text in texts.items() for turn in EVERYWHERE for one in turn.finditer(text)]
    assert found == []


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("item 0 stood too often at rank 1", True),
        ("item 0 was shown too often at rank 1", False),
        ("The 200,000 impressions are worth\nabout 420 of the policy itself", True),
        ("there is no policy 'x.npz'", False),
        ("'x.npz' is no policy", True),
        ('say "raise" or "skip"', True),
    ],
)
def test_odd_turns_are_seen(text: str, odd: bool) -> None:
    assert bool(odd_turns(iter([(1, text)]))) is odd
