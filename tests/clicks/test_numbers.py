"""Tables of any real numbers in a model of one's own, and the examination that follows from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.clicks import (
    ClickCounts,
    ClickLaw,
    CountModel,
    FitResult,
    Independent,
    Parameters,
    Role,
    Roles,
    SlateDocuments,
    of_documents,
    of_ranks,
)
from offrank.clicks.model import CLICK_MODELS
from offrank.errors import UsageError

ROWS = [{"slate": ["a", "b", "c"], "clicks": [1, 0, 0]}, {"slate": ["c", "a", "b"], "clicks": [1, 1, 0]}] * 20
PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "use-a-click-model.md"


@pytest.fixture
def model() -> Iterator[Any]:
    @dataclass(frozen=True)
    class Falling(CountModel):
        """Examination exp(-1.5 - 0.5 rank) for three ranks; the table has -1.5, -0.5 and 3."""

        sure: float = 0.0
        name = "falling"

        def roles(self) -> Roles:
            return {"attraction": Role.DOCUMENT, "curve": Role.NUMBERS}

        def learn(self, data: ClickCounts, **_: Any) -> FitResult:
            curve, attraction = np.array([[-1.5, -0.5, 3.0]]), np.full(data.documents + 1, 0.4)
            return FitResult({"attraction": attraction, "curve": curve}, {"curve": curve + 9} if self.sure else {})

        def examination(self, parameters: Parameters) -> np.ndarray:
            begin, slope, ranks = parameters["curve"][0]
            return np.exp(begin + slope * np.arange(ranks))

        def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
            examined = of_ranks(self.examination(parameters), slots.ranks)
            return Independent(examined * of_documents(parameters["attraction"], slots))

    yield Falling
    CLICK_MODELS.remove(Falling)


def test_numbers_are_saved_shown_and_give_the_examination(model: Any, tmp_path: Path) -> None:
    fitted = model().fit(ROWS)
    fitted.save(tmp_path / "own.json")
    again = offrank.clicks.load(tmp_path / "own.json")
    assert again.learnt.parameters["curve"].tolist() == [[-1.5, -0.5, 3.0]]
    assert again.examination() == pytest.approx(np.exp([0.0, -0.5, -1.0]))
    assert again.predict(ROWS[:1]).column("click_probability").to_pylist() == pytest.approx(
        0.4 * np.exp([-1.5, -2.0, -2.5])
    )
    assert "-1.5" in str(fitted)
    found = offrank.evaluate(ROWS, "uniform", "uniform", "pbm", examination=again).metadata.examination
    assert found == pytest.approx(np.exp([0.0, -0.5, -1.0]))


def test_numbers_have_no_strength(model: Any) -> None:
    with pytest.raises(UsageError, match="curve has a strength, as only probabilities have"):
        model(1.0).fit(ROWS)


def test_a_table_that_is_not_finite_is_refused(model: Any) -> None:
    class Endless(model):  # type: ignore[misc]
        def learn(self, data: ClickCounts, **_: Any) -> FitResult:
            return FitResult({"attraction": np.full(data.documents + 1, 0.4), "curve": np.array([np.inf])})

    with pytest.raises(UsageError, match="curve contains a value that is not finite"):
        Endless().fit(ROWS)


def test_every_role_is_on_the_page_of_own_models() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [one.name for one in Role if f"`{one.name}`" not in page] == []
