"""An object, its repr and its spelling on the command line are the same words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from offrank.log.errors import SpellingError
from offrank.spelling import Spelled, example, parse


@dataclass(frozen=True, repr=False)
class Plain(Spelled):
    name: ClassVar[str] = "plain"


@dataclass(frozen=True, repr=False)
class Tuned(Spelled):
    name: ClassVar[str] = "tuned"
    column: str
    size: float = 1.0
    deep: bool = field(default=False, kw_only=True)
    curve: tuple[float, ...] | None = field(default=None, kw_only=True)
    window: int = field(default=0, kw_only=True)


@dataclass(frozen=True, repr=False)
class Wrapped(Spelled):
    name: ClassVar[str] = "wrapped"
    base: Any
    share: float


MAKERS = {"plain": Plain, "tuned": Tuned, "wrapped": Wrapped}
SPELLINGS: dict[str, Any] = {
    "plain": Plain(),
    "tuned(score)": Tuned("score"),
    "tuned(score, 0.5)": Tuned("score", 0.5),
    "tuned(score, deep=True)": Tuned("score", deep=True),
    "tuned('my score')": Tuned("my score"),
    "tuned(score, curve=[1, 0.5, 0.25])": Tuned("score", curve=(1.0, 0.5, 0.25)),
    "tuned(score, curve=[1])": Tuned("score", curve=(1,)),
    "tuned(score, 0.1234567890123)": Tuned("score", 0.1234567890123),
    "tuned(score, 1e-07)": Tuned("score", 1e-7),
    "tuned(score, window=2)": Tuned("score", window=2),
    "wrapped(plain, 0.1)": Wrapped(Plain(), 0.1),
    "wrapped(tuned(score, deep=True), 0.1)": Wrapped(Tuned("score", deep=True), 0.1),
    "wrapped(wrapped(plain, 0.1), 0.2)": Wrapped(Wrapped(Plain(), 0.1), 0.2),
    "tuned('it\\'s', -1)": Tuned("it's", -1.0),
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_reading(text: str) -> None:
    assert parse(text, MAKERS, "thing") == SPELLINGS[text]


@pytest.mark.parametrize("text", SPELLINGS)
def test_what_is_written_can_be_read(text: str) -> None:
    thing = SPELLINGS[text]
    assert parse(repr(thing), MAKERS, "thing") == thing
    assert str(thing) == repr(thing)


@pytest.mark.parametrize("text", [t for t in SPELLINGS if "'" not in t])
def test_writing(text: str) -> None:
    assert repr(SPELLINGS[text]) == text


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("plain()", Plain()),
        ("  plain ", Plain()),
        ("tuned('score')", Tuned("score")),
        ('tuned("score")', Tuned("score")),
        ("tuned(column=score)", Tuned("score")),
        ("tuned(score,size=2)", Tuned("score", 2)),
        ("tuned(score, curve=(1, 2))", Tuned("score", curve=(1, 2))),
        ("tuned(score, -2)", Tuned("score", -2)),
    ],
)
def test_other_ways_to_write(text: str, thing: Any) -> None:
    assert parse(text, MAKERS, "thing") == thing


REFUSED = {
    "plane": "unknown thing 'plane'.*did you mean plain",
    "xyz": "unknown thing 'xyz'.*from: plain, tuned, wrapped",
    "plian(score)": "unknown thing 'plian'.*did you mean plain",
    "wrapped(tunde(score), 0.1)": "unknown thing 'tunde'.*did you mean tuned",
    "tuned(": "cannot read thing 'tuned\\('",
    "": "cannot read thing ''",
    "tuned(score) tuned(score)": "cannot read",
    "tuned(score + 1)": "cannot read",
    "tuned(x.y)": "cannot read",
    "tuned(*score)": "cannot read",
    "tuned": r"(?s)'tuned' does not fit tuned.*tuned\(column, ",
    "tuned(score, wide=1)": r"(?s)does not fit tuned.*write it as tuned\(",
    "plain(1)": "does not fit plain",
    "wrapped(tuned, 1)": "does not fit tuned",
    "__import__('os')": "unknown thing '__import__'",
    "plain.real": "cannot read",
    "tuned(lambda: 1)": "cannot read",
    "(" * 300 + ")" * 300: "cannot read",
    "a\x00b": "cannot read",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    with pytest.raises(SpellingError, match=f"(?s){REFUSED[text]}"):
        parse(text, MAKERS, "thing")


@pytest.mark.parametrize("column", ["plain", "class", "True"])
def test_a_column_may_have_the_name_of_something_else(column: str) -> None:
    thing = Tuned(column)
    assert parse(f"tuned({column!r})", MAKERS, "thing") == thing


def test_example() -> None:
    assert example(MAKERS).endswith("plain, tuned, wrapped")
