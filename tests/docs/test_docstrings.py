"""Every public name says of itself what a reader has to know: each parameter, what comes back, what is raised.

Read off the signatures, for the names of `offrank.__all__` and all others of docs/reference/api.md, without exceptions.
"""

from __future__ import annotations

import ast
import enum
import inspect
import re
import textwrap
from typing import Any

import offrank
from offrank.metrics import ranking
from tests.house.offenders import offenders
from tests.house.test_exports import DOCUMENTED, found_by

SECTION = re.compile(r"^(Parameters|Returns|Raises|Examples):\n((?:    .*\n?|\n)*)", re.MULTILINE)


def described(value: object) -> bool:
    """Whether a name is a function or a class that is called, and no kind of values."""
    return inspect.isfunction(value) or (inspect.isclass(value) and not issubclass(value, enum.Enum))


NAMES = {f"offrank.{name}": getattr(offrank, name) for name in offrank.__all__}
NAMES |= {name: found_by(name) for name in DOCUMENTED}
NAMES |= {
    f"offrank.metrics.{name}": getattr(ranking, name) for name in vars(ranking) if name in offrank.metrics.__all__
}
NAMES = {name: value for name, value in NAMES.items() if described(value)}


def sections(value: object) -> dict[str, str]:
    return {name: textwrap.dedent(text) for name, text in SECTION.findall(inspect.getdoc(value) or "")}


def parameters(value: Any) -> list[str]:
    """What can be given by name; a protocol has no signature of its own."""
    return [name for name in inspect.signature(value).parameters if name not in ("self", "cls", "args", "kwargs")]


def returns(value: Any) -> bool:
    return inspect.isfunction(value) and inspect.signature(value).return_annotation not in (None, "None")


def raising(value: Any) -> bool:
    """Whether a function, or a class when it is made, has a `raise` in its own text."""
    made = vars(value).get("__post_init__", vars(value).get("__init__")) if inspect.isclass(value) else value
    if made is None or made.__module__ != value.__module__:  # a protocol's
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(made)))
    except OSError:  # a dataclass wrote it
        return False
    return any(isinstance(node, ast.Raise) for node in ast.walk(tree))


def test_a_public_name_describes_itself() -> None:
    assert offenders(NAMES, describes_itself) == {}


def describes_itself(name: str) -> None:
    value = NAMES[name]
    summary = str(inspect.getdoc(value)).split("\n\n")[0]
    assert len(summary) <= 240, "a line or two"
    found = sections(value)
    listed = re.findall(r"^(\w+): \S", found.get("Parameters", ""), re.MULTILINE)
    assert listed == parameters(value)
    assert ("Returns" in found) == returns(value)
    if raising(value):
        assert re.search(r"^\w+Error: \S", found.get("Raises", ""), re.MULTILINE)
    assert "TODO" not in str(value.__doc__)


def test_the_docstring_stands_in_the_source() -> None:
    """Editors read the source and run nothing."""
    assert offenders(NAMES, in_the_source) == {}


def in_the_source(name: str) -> None:
    defined = ast.parse(textwrap.dedent(inspect.getsource(NAMES[name]))).body[0]
    assert isinstance(defined, ast.FunctionDef | ast.ClassDef)
    written = ast.get_docstring(defined)
    assert written == inspect.getdoc(NAMES[name])


def test_a_public_name_has_an_example() -> None:
    """`test_examples.py` runs it. What only declares methods is no thing of its own."""
    assert offenders(NAMES, has_an_example) == {}


def has_an_example(name: str) -> None:
    value: Any = NAMES[name]
    declares = inspect.isabstract(value) or vars(value).get("_is_protocol", False)
    assert declares or ">>> " in sections(value)["Examples"]


def test_what_is_missing_is_seen() -> None:
    def spoken(first: int, second: int) -> int:
        """Add.

        Parameters:
            first: a number.
        """
        if first < 0:
            raise ValueError
        return first + second

    found = sections(spoken)
    assert re.findall(r"^(\w+): \S", found["Parameters"], re.MULTILINE) == ["first"] != parameters(spoken)
    assert returns(spoken)
    assert raising(spoken)
    assert found.keys() == {"Parameters"}
