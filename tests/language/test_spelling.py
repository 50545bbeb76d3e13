"""An object, its repr and its spelling on the command line are the same words."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offrank.errors import SpellingError, UsageError
from offrank.estimators.named import ESTIMATORS, estimator
from offrank.language.spelling import Frozen, Spelled, example, parse, split, split_all
from offrank.policies import By, Ranking, Top
from offrank.policies.registry import POLICIES, policy


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


@dataclass(frozen=True, repr=False)
class Keyed(Spelled):
    name: ClassVar[str] = "keyed"
    words: Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class Weighed(Spelled):
    name: ClassVar[str] = "weighed"
    things: Mapping[Any, float]


MAKERS = {"keyed": Keyed, "plain": Plain, "tuned": Tuned, "weighed": Weighed, "wrapped": Wrapped}
SPELLINGS: dict[str, Any] = {
    "plain": Plain(),
    "tuned(score)": Tuned("score"),
    "tuned(score, 0.5)": Tuned("score", 0.5),
    "tuned(score, deep=True)": Tuned("score", deep=True),
    "tuned('my score')": Tuned("my score"),
    "tuned('items.score')": Tuned("items.score"),
    "tuned(score, curve=[1, 0.5, 0.25])": Tuned("score", curve=(1.0, 0.5, 0.25)),
    "tuned(score, curve=[1])": Tuned("score", curve=(1,)),
    "tuned(score, 0.1234567890123)": Tuned("score", 0.1234567890123),
    "tuned(score, 1e-07)": Tuned("score", 1e-7),
    "tuned(score, window=2)": Tuned("score", window=2),
    "wrapped(plain, 0.1)": Wrapped(Plain(), 0.1),
    "keyed({plain: plain, tuned: tuned(plain)})": Keyed(Frozen({"plain": Plain(), "tuned": Tuned("plain")})),
    "keyed({'B 2': plain, 3: tuned(score), True: 0.5})": Keyed(Frozen({"B 2": Plain(), 3: Tuned("score"), True: 0.5})),
    "weighed({plain: 0.25, tuned(score): 0.75})": Weighed(Frozen({Plain(): 0.25, Tuned("score"): 0.75})),
    "wrapped(weighed({wrapped(plain, 1): 1}), 2)": Wrapped(Weighed(Frozen({Wrapped(Plain(), 1): 1})), 2),
    "wrapped(tuned(score, deep=True), 0.1)": Wrapped(Tuned("score", deep=True), 0.1),
    "wrapped(wrapped(plain, 0.1), 0.2)": Wrapped(Wrapped(Plain(), 0.1), 0.2),
    "tuned('it\\'s', -1)": Tuned("it's", -1.0),
    "tuned(plain)": Tuned("plain"),
    "tuned(inf, inf)": Tuned("inf", math.inf),
    "wrapped(tuned(wrapped), inf)": Wrapped(Tuned("wrapped"), math.inf),
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
    "xyz": "unknown thing 'xyz'.*from: keyed, plain, tuned, weighed, wrapped",
    "plian(score)": "unknown thing 'plian'.*did you mean plain",
    "wrapped(tunde(score), 0.1)": "unknown thing 'tunde'.*did you mean tuned",
    "tuned(": "cannot read thing 'tuned\\('",
    "": "cannot read thing ''",
    "tuned(score) tuned(score)": "cannot read",
    "tuned(score + 1)": "cannot read",
    "tuned(x.y)": "cannot read.*quote a name with dots: 'x.y'",
    "tuned(*score)": "cannot read",
    "tuned": r"(?s)'tuned' does not fit tuned.*tuned\(column, ",
    "tuned(score, wide=1)": r"(?s)does not fit tuned.*write it as tuned\(",
    "plain(1)": "does not fit plain",
    "wrapped(tuned, 1)": "does not fit tuned",
    "__import__('os')": "unknown thing '__import__'",
    "plain.real": "cannot read",
    "keyed({A: plain, A: tuned(score)})": "A occurs twice",
    "keyed({A: plain, **others})": "cannot read.*write {key: value",
    "keyed({A, B})": "cannot read",
    "{A: plain}": "does not begin with a name",
    "tuned(lambda: 1)": "cannot read",
    "(" * 300 + ")" * 300: "has 300 nested brackets.*at most",
    "(" * 10_000_000: r"'\({200}'\.\.\. has 10,000,000 characters",
    "wrapped(" * 51 + "plain" + ")" * 51: "has 51 nested brackets",
    "-" * 90_000 + "1": "cannot read",
    "x" + ".y" * 40_000: "cannot read",
    "1" + "+1" * 40_000: "cannot read",
    "tuned(" + "9" * 5000 + ")": "cannot read",
    "tuned(\udc80)": "cannot read",
    "plain(**{'a': 1})": "has `\\*\\*`",
    "a\x00b": "cannot read",
}


def test_an_error_does_not_repeat_a_long_text() -> None:
    for text in (*REFUSED, "tuned(" + "a," * 9000 + ")"):
        with pytest.raises(SpellingError) as caught:
            parse(text, MAKERS, "thing")
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:40])
def test_refused(text: str) -> None:
    with pytest.raises(SpellingError, match=f"(?s){REFUSED[text]}"):
        parse(text, MAKERS, "thing")


@pytest.mark.parametrize("column", ["plain", "class", "True", "inf", "\ufb01ne", "a b", "", "\\", "\ud800"])
def test_a_column_may_have_the_name_of_something_else(column: str) -> None:
    thing = Tuned(column)
    assert parse(repr(thing), MAKERS, "thing") == parse(f"tuned({column!r})", MAKERS, "thing") == thing


def test_numbers_of_numpy_are_numbers() -> None:
    thing = Tuned("score", np.float64(0.1234567890123), window=np.int64(3))  # type: ignore[arg-type]
    assert repr(thing) == "tuned(score, 0.1234567890123, window=3)"


def test_mappings_do_not_change_and_are_equal_in_any_order() -> None:
    one, other = (policy(f"mixture({{{parts}}})") for parts in ("top(a): 0.7, top(b): 0.3", "top(b): 0.3, top(a): 0.7"))
    assert one == other
    assert hash(one) == hash(other)
    assert repr(one) == "mixture({top(a): 0.7, top(b): 0.3})"
    assert one != policy("mixture({top(a): 0.6, top(b): 0.4})")
    with pytest.raises(TypeError):
        one.parts[policy("top(a)")] = 1.0  # type: ignore[union-attr]


def test_example() -> None:
    assert example(MAKERS).endswith("keyed, plain, tuned, weighed, wrapped")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("plain", ["plain"]),
        ("plain, tuned(score)", ["plain", "tuned(score)"]),
        ("[plain,tuned(score)]", ["plain", "tuned(score)"]),
        (" plain, ", ["plain"]),
        ("wrapped(tuned(s, curve=[1, .5]), 1), plain", ["wrapped(tuned(s, curve=[1, .5]), 1)", "plain"]),
        ("tuned('a, b'), plain", ["tuned('a, b')", "plain"]),
        ("tuned('\u00e4'), plain", ["tuned('\u00e4')", "plain"]),
        ("1,.5,.33", ["1", ".5", ".33"]),
        ("plain, tuned(", ["plain, tuned("]),
        ("", [""]),
    ],
)
def test_a_list_is_split_into_its_spellings(text: str, parts: list[str]) -> None:
    assert split(text) == parts


COLUMNS = st.sampled_from(["new_score", "my score", "class", "inf", "it's", *POLICIES, *ESTIMATORS]) | st.text()
POSITIVE = st.floats(0, exclude_min=True) | st.integers(1)
SHARE = st.floats(0, 1, exclude_min=True)
SORTED = st.builds(Top, COLUMNS) | st.builds(Ranking, COLUMNS)
ARGUMENTS: dict[str, Callable[[Any], st.SearchStrategy[Any]]] = {
    "a": lambda _: SORTED,
    "alpha": lambda _: st.none() | COLUMNS,
    "arms": lambda made: st.builds(By, COLUMNS, st.fixed_dictionaries({"A": made, 1: made})),
    "assignment": lambda _: st.sampled_from(["greedy", "exact"]),
    "b": lambda _: SORTED,
    "base": lambda made: made,
    "beta": lambda _: st.none() | COLUMNS,
    "block": lambda _: st.integers(2, 9),
    "grades": lambda _: st.just("grades.csv"),
    "ungraded": lambda _: st.sampled_from(["bound", "alike"]),
    "by": lambda _: COLUMNS,
    "column": lambda _: COLUMNS,
    "counted": lambda _: st.none(),
    "counts": lambda _: st.none(),
    "one_slot": lambda _: st.booleans(),
    "departure": lambda _: SHARE,
    "draws": lambda _: st.integers(1, 99),
    "epsilon": lambda _: SHARE,
    "examination": lambda _: st.none() | st.lists(POSITIVE, min_size=1, max_size=3).map(tuple),
    "form": lambda _: st.sampled_from(["paper", "windowed"]),
    "ascending": lambda _: st.booleans(),
    "greedy": lambda _: st.booleans(),
    "learnt": lambda _: st.just(()),
    "log": lambda _: st.booleans(),
    "maximum": lambda _: POSITIVE | st.just("auto"),
    "mean": lambda _: st.none() | COLUMNS,
    "method": lambda _: st.sampled_from(["team_draft", "balanced", "blocks", "fair_pairs"]),  # of either kind
    "model": lambda _: COLUMNS,
    "noise": lambda _: st.sampled_from(["gaussian", "gumbel"]),
    "parts": lambda made: st.lists(made, min_size=1, max_size=3).map(shared),
    "path": lambda _: COLUMNS,
    "policies": lambda made: st.dictionaries(COLUMNS | st.integers(), made, min_size=1, max_size=3),
    "ranks": lambda _: st.none() | COLUMNS,
    "residual": lambda made: made,
    "samples": lambda _: st.integers(0, 9),
    "scores": lambda _: COLUMNS,
    "sd": lambda _: POSITIVE | COLUMNS,
    "shares": lambda _: st.none() | st.just({1: 0.75, "A": 0.25}),
    "slate": lambda _: st.none() | COLUMNS,
    "slots": lambda _: st.sampled_from(["joint", "independent"]),
    "stay": lambda _: SHARE,
    "strength": lambda _: POSITIVE | st.just("auto"),
    "temperature": lambda _: POSITIVE,
    "threshold": lambda _: POSITIVE | st.just("auto"),
    "window": lambda _: st.integers(0, 9) | st.just("slope"),
}
"""What each argument of a registered maker may be; a new argument is added here."""


def shared(parts: list[Any]) -> Frozen[Any, float]:
    """Equal shares of these policies."""
    known = list(dict.fromkeys(parts))
    return Frozen([(part, 1 / len(known)) for part in known])


def things(makers: Mapping[str, Callable[..., Any]]) -> st.SearchStrategy[Any]:
    """Whatever a registry makes, nested at will."""

    def one(make: Callable[..., Any], inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        parameters = signature(make).parameters.values()
        required = {p.name: ARGUMENTS[p.name](inner) for p in parameters if p.default is p.empty}
        free = {p.name: ARGUMENTS[p.name](inner) for p in parameters if p.default is not p.empty}
        given = st.fixed_dictionaries(required, optional=free)
        return given.map(lambda arguments: attempt(make, arguments)).filter(lambda found: found is not None)

    def attempt(make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        try:
            return make(**arguments)
        except UsageError:  # what cannot be wrapped
            return None

    nested, needed = {"arms", "base", "parts", "policies", "residual"}, {"arms", "base", "parts", "policies"}
    wraps = [make for make in makers.values() if nested & signature(make).parameters.keys()]
    plain = [make for make in makers.values() if not needed & signature(make).parameters.keys()]
    simple = st.one_of(*(one(make, st.nothing()) if make not in wraps else st.nothing() for make in plain))
    return st.recursive(simple, lambda inner: st.one_of(*(one(make, inner) for make in wraps)), max_leaves=3)


@pytest.mark.turns(3)
@given(things(POLICIES))
def test_every_policy_is_read_as_it_is_written(thing: Any) -> None:
    assert policy(repr(thing)) == thing


@given(things(ESTIMATORS))
def test_every_estimator_is_read_as_it_is_written(thing: Any) -> None:
    assert estimator(repr(thing)) == thing
    assert repr(estimator(repr(thing))) == repr(thing)


@given(st.lists(things(ESTIMATORS), min_size=1, max_size=4))
def test_every_list_of_estimators_is_read_on_the_command_line(things: list[Any]) -> None:
    assert [estimator(text) for text in split_all((", ".join(map(repr, things)),))] == things
    assert split_all(tuple(map(repr, things))) == list(map(repr, things))


NAMES = "Top('dbn'), Top('uniform'), PlackettLuce('ndcg'), Linear('tree'), EpsilonUniform(Top('mine'), 0.5)"
MINE = """
import dataclasses, offrank, offrank.language.spelling
@dataclasses.dataclass(frozen=True, repr=False)
class Mine(offrank.language.spelling.Spelled):
    name = "mine"
"""


@pytest.mark.turns(3)
@pytest.mark.parametrize("first", ["", f"import offrank.clicks, offrank.estimators, offrank.simulation.users{MINE}"])
def test_words_do_not_depend_on_what_was_imported(first: str) -> None:
    program = f"{first}\nfrom offrank import *\nprint({NAMES}, sep=';')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "top(dbn);top(uniform);plackett_luce(ndcg);linear(tree);epsilon(top(mine), 0.5)"


@pytest.mark.parametrize(
    ("text", "file"), [("direct(pbm.json)", "pbm.json"), ("judged(data/grades.csv)", "data/grades.csv")]
)
def test_a_file_without_quotes_is_told(text: str, file: str) -> None:
    with pytest.raises(SpellingError) as raised:
        estimator(text)
    assert raised.value.remedy == f"quote a file name: {file!r}"
    assert repr(estimator(text.replace(file, repr(file)))) == text.replace(file, repr(file))
