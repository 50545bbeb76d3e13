"""What `__all__` promises is there, and nothing public hides beside it."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

import offrank
from tests.house.code import SOURCES, TESTS, modules
from tests.house.offenders import offenders

pytestmark = pytest.mark.xdist_group("house")  # one process reads the files

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
DOCUMENTED = re.findall(r"^::: ([\w.]+)$", REFERENCE, re.MULTILINE)
MODULES = sorted({match[1] for name in DOCUMENTED if (match := re.match(r"offrank\.([a-z]\w+)(?:\.|$)", name))})
MODULES = [name for name in MODULES if name not in offrank.__all__] + ["learning", "log"]
PACKAGES = [info.name for info in pkgutil.walk_packages(offrank.__path__, prefix="offrank.") if info.ispkg]


def public_names(package: ModuleType) -> set[str]:
    """Names that a package's `__init__` binds, without its submodules and `from __future__` features."""
    return {
        name
        for name, value in vars(package).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and name not in ("annotations", "TYPE_CHECKING")
    }


def test_all_is_what_a_package_offers() -> None:
    assert offenders(PACKAGES, offers_all) == {}


def offers_all(name: str) -> None:
    package = importlib.import_module(name)
    for offered in package.__all__:  # some are imported when they are first used
        getattr(package, offered)
    assert set(package.__all__) == public_names(package)
    assert len(package.__all__) == len(set(package.__all__))


def test_every_public_name_resolves_and_is_documented() -> None:
    assert offenders(offrank.__all__, resolves) == {}


def resolves(name: str) -> None:
    value = getattr(offrank, name)
    assert value is getattr(offrank, name)
    assert value.__doc__, f"offrank.{name} has no docstring"


def told_to_type_checkers() -> dict[str, str | None]:
    """Name -> module of what the package imports for type checkers only; modules have none."""
    tree = ast.parse(Path(offrank.__file__).read_text(encoding="utf-8"))
    inside = next(node for node in tree.body if isinstance(node, ast.If)).body
    return {alias.name: node.module for node in inside if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_type_checkers_are_told_what_is_there_at_run_time() -> None:
    told = told_to_type_checkers()
    values = {name: module for name, module in told.items() if module is not None}
    assert set(values) == set(offrank.__all__)
    for name, module in values.items():
        public = getattr(offrank, name)  # first: it replaces a verb in its module by one that tells wrong keywords
        assert getattr(importlib.import_module(f"offrank.{module}"), name) is public
    # The other names that answer without an import are modules.
    code = "import offrank; print(*(set(dir(offrank)) - set(vars(offrank)) - set(offrank.__all__)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert set(done.stdout.split()) == set(told) - set(values), done.stderr


def test_dir_lists_the_public_names_and_nothing_else() -> None:
    assert set(dir(offrank)) == {*told_to_type_checkers(), "__version__"}
    assert offrank.__all__ == sorted(offrank.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        offrank.nonsense  # noqa: B018


def test_a_bare_import_is_enough_for_the_public_modules() -> None:
    # `__getattr__` is what answers before anything else was imported, and what it loads one after the other stays.
    code = f"import offrank; print(*(offrank.__getattr__(name).__name__ for name in {MODULES}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout.split()) == ("", [f"offrank.{name}" for name in MODULES])
    assert set(MODULES) <= set(dir(offrank))


def found_by(path: str) -> object:
    """The object that a name of the reference leads to."""
    found: object = offrank
    begun = "offrank"
    for part in path.split(".")[1:]:
        begun = f"{begun}.{part}"
        if not hasattr(found, part):
            importlib.import_module(begun)
        found = getattr(found, part)
    return found


def test_a_documented_name_is_found_where_the_reference_says() -> None:
    assert offenders(DOCUMENTED, found_by) == {}
    assert [one for one in DOCUMENTED if not found_by(one).__doc__] == []


def test_errors_are_where_they_are_caught() -> None:
    with pytest.raises(offrank.errors.SpellingError, match="unknown policy") as caught:
        offrank.policies.policy("tpo(x)")
    assert type(caught.value).__module__ == "offrank.errors"


def test_a_public_class_name_has_one_home() -> None:
    nodes = [node for module in modules(*SOURCES) for node in module.tree.body if isinstance(node, ast.ClassDef)]
    homes = Counter(node.name for node in nodes if not node.name.startswith("_"))
    assert {name for name, count in homes.items() if count > 1} == set()


def test_tests_import_no_private_module() -> None:
    found = {name for module in modules(*TESTS) for node in module.nodes for name in imported(node)}
    private = re.compile(r"offrank(_papers)?\..*\b_[a-z]")
    assert {name for name in found if private.match(name)} == set()
    assert private.match("offrank.log._kernels")
    assert private.match("offrank_papers.slates._kernels")
    assert not private.match("offrank.__main__")


def imported(node: ast.AST) -> list[str]:
    """The modules that a statement imports, `from offrank.log import _kernels` among them."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom) or node.module is None:
        return []
    private = [f"{node.module}.{alias.name}" for alias in node.names if alias.name.startswith("_kernels")]
    return private or [node.module]


SNIPPET = """
import offrank
offrank.evaluate("x", "y").get("ips")
offrank.readers.read_log("x")
offrank.errors.UsageError
offrank.evalaute("x", 3)
"""


def test_a_type_checker_sees_a_name_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    snippet, config = tmp_path / "snippet.py", tmp_path / "mypy.ini"
    snippet.write_text(SNIPPET)
    config.write_text("[mypy]\n")
    # Nothing but the door is looked at: quick, and whatever it imports is taken on trust.
    told = [f"--config-file={config}", f"--cache-dir={tmp_path / 'cache'}", "--follow-imports=skip", "--output=json"]
    words = [sys.executable, "-m", "mypy", *told, str(snippet), str(Path(offrank.__file__))]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    [error] = [json.loads(line) for line in done.stdout.splitlines()]
    assert (error["line"], error["code"]) == (6, "attr-defined")
    assert "evalaute" in error["message"]
