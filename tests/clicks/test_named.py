"""Click models by name: the spelling is the model, and what is none is told with what would have worked."""

from __future__ import annotations

import pytest

import offrank
from offrank.clicks import DBN, PBM, ClickModel, click_model
from offrank.clicks.model import CLICK_MODELS
from offrank.errors import SpellingError, UsageError
from offrank.language.spelling import parse

PLAIN = [name for name in CLICK_MODELS if name not in ("ncm", "cacm")]


@pytest.mark.parametrize("name", PLAIN)
def test_a_name_is_its_model_and_back(name: str) -> None:
    model = click_model(name)
    assert isinstance(model, ClickModel)
    assert repr(model) == name
    assert click_model(repr(model)) == model
    assert getattr(offrank.clicks, type(model).__name__) is type(model)


@pytest.mark.parametrize("spelling", ["dbn(tolerance=0.001)", "sdbn(tolerance=0.01)", "rdctr"])
def test_settings_are_spelled(spelling: str) -> None:
    assert repr(click_model(spelling)) == spelling


def test_a_model_is_returned_as_it_is() -> None:
    model = DBN(tolerance=1e-3)
    assert click_model(model) is model


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(SpellingError, match="unknown click model 'cascad'") as told:
        click_model("cascad")
    assert "did you mean cascade?" in told.value.remedy


class Present(dict[str, type[ClickModel]]):
    """The models that are there, whatever else a test has imported."""

    gone = CLICK_MODELS.gone


@pytest.mark.parametrize("name", CLICK_MODELS.gone)
@pytest.mark.parametrize("rest", ["", "(pbm, dbn)", "(rate=0.1)"])
def test_a_name_of_earlier_releases_is_told_with_what_to_use(name: str, rest: str) -> None:
    with pytest.raises(SpellingError) as told:
        parse(name + rest, Present(pbm=PBM, dbn=DBN), "click model")
    assert name in told.value.message
    assert told.value.remedy.startswith("use ubm or dbn")


@pytest.mark.parametrize("odd", [3, None, DBN])
def test_what_is_no_model_is_told(odd: object) -> None:
    with pytest.raises(UsageError, match="not a click model"):
        click_model(odd)
