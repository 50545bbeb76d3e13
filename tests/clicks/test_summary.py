"""What a fitted model prints is what its tables are about, whatever their lengths."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from offrank.clicks import UBM, click_model
from offrank.clicks.model import CLICK_MODELS

EVERY = sorted(set(CLICK_MODELS) - {"ncm", "cacm"})


def log(items: int, slots: int, rows: int = 150) -> list[dict[str, Any]]:
    """Random slates, clicked less and less from rank to rank; where there are more slots than items, some are empty."""
    rng = np.random.default_rng(0)
    slates = np.argsort(rng.random((rows, max(items, slots))), axis=1)[:, :slots]
    clicks = (rng.random((rows, slots)) < 0.6 / np.arange(1, slots + 1)) & (slates < items)
    return [
        {"slate": [one if one < items else None for one in slate], "clicks": [int(one) for one in click]}
        for slate, click in zip(slates.tolist(), clicks.tolist(), strict=True)
    ]


@pytest.mark.parametrize(("items", "slots"), [(9, 4), (5, 3), (14, 5), (8, 4), (10, 4)])
def test_ubm_prints_its_table_whatever_the_number_of_items(items: int, slots: int) -> None:
    """9 items at 4 slots: as many ranks with a last click as documents with the unseen one, 10."""
    fitted = UBM().fit(log(items, slots))
    told = str(fitted)
    assert len(fitted.documents) == items
    assert "examination of an unseen document" not in told
    assert "examination, by the rank of the last click above" in told
    unseen = fitted.learnt.parameters["attraction"][-1]
    assert f"attraction of an unseen document: {unseen:.3f}" in told
    rows = [line.split() for line in told.splitlines() if re.match(r"\s*\d+\s+\d\.\d{3}", line)]
    cells = iter(fitted.learnt.parameters["examination"].tolist())
    expected = [[str(rank), *(f"{next(cells):.3f}" for _ in range(rank))] for rank in range(1, slots + 1)]
    assert rows == expected


@pytest.mark.turns(3)
@pytest.mark.parametrize(("items", "slots"), [(9, 4), (3, 4), (1, 1)])
@pytest.mark.parametrize("text", EVERY)
def test_every_model_prints_what_its_tables_are(text: str, items: int, slots: int) -> None:
    """Also where there are as many ranks as documents with the unseen one: 3 items at 4 slots, 1 at 1."""
    model = click_model(text)
    fitted = model.fit(log(items, slots))
    told, parameters, roles = str(fitted), fitted.learnt.parameters, model.roles()
    assert set(roles) == set(parameters)
    for name in parameters:
        is_documents = roles[name].value == "document"
        assert (f"{name} of an unseen document" in told) == is_documents, name
        if is_documents:
            assert f"{name} of an unseen document: {parameters[name][-1]:.3f}" in told
        if roles[name].value == "rank" and len(parameters[name]) > 1:
            title = name.replace("_", " ")
            lines = told.splitlines()
            begin = lines.index(title)
            assert lines[begin + 1].split()[0] == "rank"
            numbers = [line.split()[0] for line in lines[begin + 3 : begin + 3 + slots]]
            assert numbers == [str(rank) for rank in range(1, slots + 1)]
