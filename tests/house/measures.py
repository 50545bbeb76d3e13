"""What `test_aims.py` limits, counted in the syntax trees of src/offrank."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import offrank
from offrank.findings import all_findings
from tests.house.code import PACKAGE, ROOT, Module, modules

SOURCE = [module for module in modules("src/offrank") if module.path.is_relative_to(PACKAGE)]


def room(module: Module) -> str:
    """The folder of src/offrank that a module is in, or its own name."""
    return module.path.relative_to(PACKAGE).parts[0]


def within(*rooms: str) -> list[Module]:
    return [module for module in SOURCE if room(module) in rooms]


def outside(*rooms: str) -> list[Module]:
    return [module for module in SOURCE if room(module) not in rooms]


def nodes(among: Iterable[Module]) -> Iterator[ast.AST]:
    return (node for module in among for node in module.nodes)


# The way of one row ---------------------------------------------------------------------------------------------------


@cache
def one_row(*options: str) -> dict[str, int]:
    """What scripts/one_row.py counts."""
    words = [sys.executable, str(ROOT / "scripts" / "one_row.py"), "--json", *options]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


# Sizes ----------------------------------------------------------------------------------------------------------------


def lines(among: Iterable[Module]) -> int:
    """The lines of modules without docstrings, as what a name tells its readers does not make a house large."""
    return sum(len(module.lines) - sum(map(_of_docstring, module.nodes)) for module in among)


def _of_docstring(node: ast.AST) -> int:
    if not isinstance(node, _DOCUMENTED) or ast.get_docstring(node, clean=False) is None:
        return 0
    told = node.body[0]
    return (told.end_lineno or told.lineno) - told.lineno + 1


_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


# Two homes ------------------------------------------------------------------------------------------------------------


def homes(kind: Callable[[ast.stmt], list[str]]) -> dict[str, set[str]]:
    """The modules where each public name stands at the top level."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in SOURCE:
        for name in (name for node in module.tree.body for name in kind(node) if not name.startswith("_")):
            found[name].add(module.path.relative_to(PACKAGE).as_posix())
    return found


def is_verb(places: set[str]) -> bool:
    """A verb has a function in verbs/ and a command of the same name in cli/."""
    return sorted(place.split("/")[0] for place in places) == ["cli", "verbs"]


def functions_defined(node: ast.stmt) -> list[str]:
    return [node.name] if isinstance(node, ast.FunctionDef) else []


def constants_defined(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return [name for name in names if name.isupper()]


def with_two_homes(kind: Callable[[ast.stmt], list[str]]) -> list[str]:
    return sorted(name for name, places in homes(kind).items() if len(places) > 1 and not is_verb(places))


# Lists kept by hand ---------------------------------------------------------------------------------------------------


def strings(node: ast.AST) -> list[str]:
    """The members of a literal collection, or the keys of a literal dictionary, if all of them are strings."""
    members = node.keys if isinstance(node, ast.Dict) else node.elts if isinstance(node, COLLECTION) else []
    found = [member.value for member in members if isinstance(member, ast.Constant) and isinstance(member.value, str)]
    return found if len(found) == len(members) else []


COLLECTION = ast.List | ast.Tuple | ast.Set


def lists_of(codes: Iterable[str], among: Iterable[Module]) -> int:
    """How many literal collections hold two or more of the codes, and nothing else."""
    known = set(codes)
    return sum(len(found) > 1 and known.issuperset(found) for found in map(strings, nodes(among)))


@cache
def finding_codes() -> frozenset[str]:
    return frozenset(kind.code for kind in all_findings())


def arguments_named(node: ast.AST) -> set[str]:
    """The names that a signature, a class of fields, a call or a dictionary lists."""
    if isinstance(node, ast.FunctionDef):
        return {one.arg for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
    if isinstance(node, ast.ClassDef):
        fields = (one.target for one in node.body if isinstance(one, ast.AnnAssign))
        return {target.id for target in fields if isinstance(target, ast.Name)}
    if isinstance(node, ast.Call):
        return {word.arg for word in node.keywords if word.arg is not None}
    return set(strings(node))


def lists_of_arguments(among: Iterable[Module]) -> int:
    """How many places list half of the arguments of `evaluate` or more, beside the signatures of verbs."""
    known = set(inspect.signature(offrank.evaluate).parameters)
    verbs = {id(node) for module in within("verbs") for node in module.tree.body if isinstance(node, ast.FunctionDef)}
    listed = (node for node in nodes(among) if id(node) not in verbs)
    return sum(len(arguments_named(node) & known) >= len(known) / 2 for node in listed)


# What only one room should know ---------------------------------------------------------------------------------------


def estimator_classes() -> set[str]:
    return {node.name for module in within("estimators") for node in module.tree.body if isinstance(node, ast.ClassDef)}


def policy_classes() -> set[str]:
    return {node.name for module in within("policies") for node in module.tree.body if isinstance(node, ast.ClassDef)}


def called(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def switches_on(classes: set[str], among: Iterable[Module]) -> int:
    """How many `isinstance` ask for one of the classes."""
    tests = (node for node in nodes(among) if called(node, "isinstance"))
    named = (ast.walk(test.args[1]) for test in tests if isinstance(test, ast.Call))
    return sum(any(isinstance(one, ast.Name) and one.id in classes for one in asked) for asked in named)


def attributes_asked_for(among: Iterable[Module]) -> int:
    """How many `getattr` and `hasattr` ask an object whether it has something."""
    return sum(called(node, "getattr", "hasattr") for node in nodes(among))


# State of the process -------------------------------------------------------------------------------------------------

CHANGES = {"append", "pop", "clear", "update", "extend", "insert", "remove", "add", "setdefault"}


def changed_by_functions(module: Module) -> set[str]:
    """The lists, dictionaries and sets at the top of a module that its functions change, and names made `global`."""
    bound = [node for node in module.tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    mutable = {name for node in bound if is_mutable(node.value) for name in names_bound(node)}
    return {name for function in module.functions() for node in ast.walk(function) for name in changed(node, mutable)}


def is_mutable(value: ast.expr | None) -> bool:
    return isinstance(value, ast.List | ast.Dict | ast.Set) or called(value or ast.Pass(), "list", "dict", "set")


def names_bound(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def changed(node: ast.AST, mutable: set[str]) -> set[str]:
    """The names that one statement or call changes."""
    if isinstance(node, ast.Global):
        return set(node.names)
    owner: ast.AST | None = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
        owner = node.func.value
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        owner = node.value
    return {owner.id} & mutable if isinstance(owner, ast.Name) else set()


def process_wide() -> list[str]:
    """Where a function changes what the whole process sees; registries, filled while modules load, are among them."""
    return sorted(f"{module.label}: {name}" for module in SOURCE for name in changed_by_functions(module))
