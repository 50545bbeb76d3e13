"""Every method of what a verb returns says of itself what a reader has to know, with an example that runs.

A method is documented once, where it is declared: what one that replaces another leaves out is told by the other.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest

import offrank
from offrank.clicks import Fitted, Judgements
from offrank.evaluation.differences import Difference
from offrank.evaluation.pages.evaluation import Plots
from offrank.report.picture import Picture
from tests.docs.test_docstrings import parameters, raising, returns, sections
from tests.docs.test_examples import PARTS
from tests.house.offenders import offenders

pytestmark = pytest.mark.xdist_group("docs")  # the demo is run once


def returned(verb: Callable[..., Any]) -> list[type]:
    """The classes that a verb returns."""
    verb = inspect.unwrap(verb)
    names = verb.__annotations__["return"].split(" | ")
    return [named(sys.modules[verb.__module__], name) for name in names if name != "str"]


def named(module: ModuleType, name: str) -> type:
    """What a module means by a name, which it may import for type checkers alone."""
    if name in vars(module):
        return cast("type", vars(module)[name])
    [home] = (
        node
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.ImportFrom) and name in {one.name for one in node.names}
    )
    return cast("type", getattr(importlib.import_module("." * home.level + str(home.module), module.__package__), name))


VERBS = [verb for name in offrank.__all__ if inspect.isfunction(verb := getattr(offrank, name))]
DOOR = [offrank.Caution, offrank.CheckpointFolder, offrank.Estimate, offrank.OffrankError, offrank.Verdict]
KINDS = {*DOOR, *(kind for verb in VERBS for kind in returned(verb)), Difference, Fitted, Judgements, Picture, Plots}


def described(kind: type, name: str) -> list[Any]:
    """A method, and those that it replaces: what each says of itself."""
    found = (vars(one)[name] for one in kind.__mro__ if name in vars(one) and one.__module__.startswith("offrank"))
    return [one for one in (getattr(each, "__func__", each) for each in found) if inspect.isfunction(one)]


def methods(kind: type) -> Iterator[tuple[str, list[Any]]]:
    for name in (name for name in dir(kind) if not name.startswith("_")):
        if found := described(kind, name):
            yield f"{found[0].__module__.removeprefix('offrank.')}.{found[0].__qualname__}", found


METHODS = dict(each for kind in sorted(KINDS, key=lambda kind: kind.__qualname__) for each in methods(kind))
EXAMPLES = {f"{one.__module__}.{one.__qualname__}": one for found in METHODS.values() for one in found if one.__doc__}
EXAMPLES = {name: one for name, one in EXAMPLES.items() if ">>> " in one.__doc__}


def test_a_method_describes_itself() -> None:
    assert offenders(METHODS, describes_itself) == {}


def describes_itself(name: str) -> None:
    method, *replaced = METHODS[name]
    told = {title: text for one in (*reversed(replaced), method) for title, text in sections(one).items()}
    assert re.findall(r"^(\w+): \S", told.get("Parameters", ""), re.MULTILINE) == parameters(method)
    assert ("Returns" in told) == returns(method)
    assert ">>> " in told["Examples"]
    if raising(method):
        assert re.search(r"^\w+Error(, \w+Error)*: \S", told["Raises"], re.MULTILINE)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.turns(PARTS, Path(inspect.getfile(method))))
        for name, method in EXAMPLES.items()
    ],
)
def test_the_example_of_a_method(name: str, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "reproduce" in name:
        pytest.importorskip("offrank_papers")
    (tmp_path / "offrank-demo").symlink_to(demo / "offrank-demo")
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(EXAMPLES[name].__doc__, {"offrank": offrank}, name, None, 0)
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed == 0


def test_the_methods_that_users_call_are_among_them() -> None:
    assert METHODS.keys() >= {"evaluation.result.Result.difference", "report.printable.Printed.save_html"}
