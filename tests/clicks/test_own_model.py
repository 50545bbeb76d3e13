"""A click model from outside: what twenty lines and the public names give is what the models of offrank give."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.clicks import (
    ClickCounts,
    ClickLaw,
    ClickModel,
    CountModel,
    FitResult,
    Fitted,
    Independent,
    Parameters,
    Role,
    Roles,
    SessionModel,
    Sessions,
    SlateDocuments,
    click_model,
    load,
    of_documents,
    of_ranks,
)
from offrank.errors import UsageError
from tests.clicks.aged import aged

ATTRACTION = np.array([0.7, 0.5, 0.2, 0.4])
CURVE = np.array([1.0, 0.6, 0.3, 0.2])


def by_rank(document: Any, rank: Any, shown: Any, clicked: Any, documents: int, rounds: int) -> tuple[Any, Any]:
    """(attraction, examination) of the position-based model by EM."""
    a, e = np.full(documents, 0.2), np.full(rank.max() + 1, 0.5)
    for _ in range(rounds):
        skipped = (shown - clicked) / (1 - a[document] * e[rank])
        attracted = clicked + skipped * a[document] * (1 - e[rank])
        examined = clicked + skipped * e[rank] * (1 - a[document])
        a = (np.bincount(document, attracted) + 1) / (np.bincount(document, shown) + 2)
        e = np.bincount(rank, examined) / np.bincount(rank, shown)
    return a, e


def examined(parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
    return Independent(of_ranks(parameters["looked"], slots.ranks) * of_documents(parameters["quality"], slots))


def tables(a: Any, e: Any, views: Any) -> FitResult:
    return FitResult({"quality": np.append(a, 0.5), "looked": e}, {"quality": np.append(views, 0.0) + 2})


def counting() -> type[ClickModel]:
    @dataclass(frozen=True)
    class Counting(CountModel):
        """The position-based model from counts."""

        rounds: int = 200
        name = "my_counting"

        def roles(self) -> Roles:
            return {"quality": Role.DOCUMENT, "looked": Role.EXAMINATION}

        def learn(self, data: ClickCounts, **_: Any) -> FitResult:
            each = (data.document, data.cell, data.shown, data.clicked, data.documents)
            return tables(*by_rank(*each, self.rounds), data.by_document()[0])

        def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
            return examined(parameters, slots)

    return Counting


def reading() -> type[ClickModel]:
    @dataclass(frozen=True)
    class Reading(SessionModel):
        """The same from sessions."""

        rounds: int = 200
        name = "my_reading"

        def roles(self) -> Roles:
            return {"quality": Role.DOCUMENT, "looked": Role.EXAMINATION}

        def learn(self, data: Sessions, **_: Any) -> FitResult:
            row, rank = np.nonzero(data.document >= 0)
            document, weight = data.document[row, rank], data.weight[row]
            found = by_rank(document, rank, weight, weight * data.click[row, rank], data.documents, self.rounds)
            return tables(*found, np.bincount(document, weight, data.documents))

        def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
            return examined(parameters, slots)

    return Reading


MADE = {"my_counting": counting, "my_reading": reading}


def drawn(queries: int = 30, sessions: int = 4000, seed: int = 3) -> list[dict[str, Any]]:
    """Sessions of position-based users, with grades beside the candidates."""
    rng, grade = np.random.default_rng(seed), (ATTRACTION * 5).round()
    rows = []
    for session in range(sessions):
        order = rng.permutation(len(ATTRACTION))
        clicks = (rng.random(4) < ATTRACTION[order] * CURVE).astype(int)
        rows.append(
            {
                "query": session % queries,
                "candidates": order.tolist(),
                "slate": order.tolist(),
                "clicks": clicks.tolist(),
                "grade": grade[order].tolist(),
            }
        )
    return rows


@pytest.fixture(params=MADE)
def own(request: pytest.FixtureRequest) -> Fitted:
    return MADE[request.param]()().fit(drawn())


def test_its_roles_say_what_its_tables_are(own: Fitted) -> None:
    assert own.examination() == pytest.approx(CURVE, abs=0.06)
    assert own.model.relevance_table == "quality"
    rows = own.judgements().records()
    found = [np.mean([row["relevance"] for row in rows if row["item"] == item]) for item in range(4)]
    assert found == pytest.approx(ATTRACTION, abs=0.05)
    assert own.learnt.parameters["quality"][-1] == 0.5


def test_it_is_saved_and_predicts_the_same(own: Fitted, tmp_path: Path) -> None:
    own.save(tmp_path / "own.json")
    again = load(tmp_path / "own.json")
    assert again.model == own.model
    assert type(again.model) is type(own.model)
    some = drawn(sessions=20, seed=4)
    assert again.predict(some).equals(own.predict(some))
    assert again.score(some) == own.score(some)
    new = [{"query": "new", "slate": [0, 1], "clicks": [0, 0]}]
    assert again.predict(new).column("click_probability").to_pylist() == pytest.approx(
        0.5 * own.learnt.parameters["looked"][:2], abs=1e-12
    )


def test_it_judges_documents_with_intervals(own: Fitted) -> None:
    rows = own.judgements().records()
    assert all(row["low"] < row["relevance"] < row["high"] for row in rows)
    assert np.mean([row["low"] <= ATTRACTION[row["item"]] <= row["high"] for row in rows]) > 0.6


def test_it_is_compared_and_selected_like_the_others(own: Fitted) -> None:
    test = drawn(sessions=1000, seed=5)
    models = {"own": own, "rctr": click_model("rctr").fit(drawn())}
    assert offrank.evaluate_clicks(test, models).here.difference("own", "rctr").high < 0
    selected = offrank.select_clicks(test, models, "grade", strategy="ppl")
    assert set(selected.cmip) == {"own", "rctr"}
    assert np.isfinite(selected.cmip["own"].value)
    assert selected.choice is not None
    assert selected.choice.name == "own"


def test_its_curve_serves_an_estimator(own: Fitted) -> None:
    found = offrank.evaluate(drawn(), "uniform", "uniform", estimators="pbm", examination=own)
    clicks = np.mean([sum(row["clicks"]) for row in drawn()])
    assert found.get("pbm").value == pytest.approx(clicks, rel=0.05)


@pytest.mark.parametrize("name", MADE)
def test_its_settings_are_its_spelling(name: str) -> None:
    made = MADE[name]()
    assert repr(made()) == str(made()) == name
    assert repr(made(rounds=7)) == f"{name}(7)"
    assert click_model(f"{name}(7)") == made(rounds=7)
    assert made().set_params(rounds=3).get_params() == {"rounds": 3}


def test_a_name_has_one_class() -> None:
    made = counting()
    assert counting() is not made  # the same class defined again, as in a notebook
    with pytest.raises(UsageError, match="have the same name, 'pbm'"):

        class Other(CountModel):
            name = "pbm"

    assert click_model("pbm") == offrank.clicks.PBM()


def test_a_saved_model_without_its_class_is_told(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    counting()().fit(drawn(sessions=100)).save(path)
    path.write_text(json.dumps(aged(path)).replace("my_counting", "another"))
    with pytest.raises(UsageError, match="does not know: unknown click model 'another'") as told:
        load(path)
    assert "import the module that defines it" in told.value.remedy


def test_tables_that_are_not_those_of_its_roles_are_told_at_once() -> None:
    class Short(counting()):  # type: ignore[misc]
        def learn(self, data: ClickCounts, **_: Any) -> FitResult:
            return FitResult({"quality": np.full(data.documents, 0.5), "looked": np.ones(data.ranks)})

    with pytest.raises(UsageError, match="quality has 120 entries for 120 documents and one that was never seen"):
        Short().fit(drawn(sessions=200))


def test_a_model_of_two_tables_says_what_relevance_is() -> None:
    class Two(counting()):  # type: ignore[misc]
        def roles(self) -> Roles:
            return {**super().roles(), "other": Role.DOCUMENT}

        def learn(self, data: ClickCounts, **_: Any) -> FitResult:
            found = super().learn(data)
            return FitResult({**found.parameters, "other": found.parameters["quality"]})

    with pytest.raises(UsageError, match="Two does not define relevance"):
        Two().fit(drawn(sessions=200))


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ({"looked": Role.EXAMINATION}, [0.5, 0.25]),
        ({"examination": Role.RANK}, [0.5, 0.25]),
        ({"looked": Role.CONTEXT_AND_RANK}, [0.5, 0.25]),
        ({"looked": Role.RANK}, None),
        ({"examination": Role.RANK_AND_LAST_CLICK}, None),
    ],
)
def test_examination_follows_from_the_role(roles: dict[str, Role], expected: list[float] | None) -> None:
    class Told(counting()):  # type: ignore[misc]
        def roles(self) -> Roles:
            return roles

    [(name, role)] = roles.items()
    curve = np.array([0.5, 0.25])
    found = Told().examination({name: np.array([curve * 0.5, curve]) if role is Role.CONTEXT_AND_RANK else curve})
    assert (None if found is None else found.tolist()) == expected


def test_only_public_names_are_listed() -> None:
    assert dir(offrank.clicks) == sorted(offrank.clicks.__all__)
