"""Click models by name: the spelling is the model, and what is none is told with what would have worked."""

from __future__ import annotations

import pytest

import offrank
from offrank.clicks import DBN, ClickModel, click_model
from offrank.clicks.model import CLICK_MODELS
from offrank.errors import SpellingError, UsageError

PLAIN = [name for name in CLICK_MODELS if name != "mixture"]


@pytest.mark.parametrize("name", PLAIN)
def test_a_name_is_its_model_and_back(name: str) -> None:
    model = click_model(name)
    assert isinstance(model, ClickModel)
    assert repr(model) == name
    assert click_model(repr(model)) == model
    assert getattr(offrank.clicks, type(model).__name__) is type(model)


@pytest.mark.parametrize("spelling", ["dbn(tolerance=0.001)", "mixture(dcm, sdbn(tolerance=0.01))", "rdctr"])
def test_settings_are_spelled(spelling: str) -> None:
    assert repr(click_model(spelling)) == spelling


def test_a_model_is_returned_as_it_is() -> None:
    model = DBN(tolerance=1e-3)
    assert click_model(model) is model


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(SpellingError, match="unknown click model 'cascad'") as told:
        click_model("cascad")
    assert "did you mean cascade?" in told.value.remedy


@pytest.mark.parametrize("odd", [3, None, DBN])
def test_what_is_no_model_is_told(odd: object) -> None:
    with pytest.raises(UsageError, match="not a click model"):
        click_model(odd)
