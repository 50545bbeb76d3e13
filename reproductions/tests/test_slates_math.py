"""The page on the mathematics of slates: every statement holds, and one that does not would be marked."""

from __future__ import annotations

import numpy as np
import pytest

from offrank.report.document import Claim
from offrank_papers import slates_math
from offrank_papers.expectations import Run


def claims(seed: int) -> list[Claim]:
    document = slates_math.document(Run(scale=0.2, seed=seed))
    return [claim for section in document.sections for claim in section.claims]


@pytest.mark.parametrize("seed", [4, 5])
def test_every_statement_is_reproduced(seed: int) -> None:
    found = claims(seed)
    assert [claim.text for claim in found if claim.status != "confirmed"] == []
    begun = {claim.text.split(":")[0].split(",")[0] for claim in found}
    assert begun >= {"Claim 1", "Claim 2", "Proposition 1", "Proposition 2", "Proposition 3", "Proposition 4"}
    assert begun >= {"Theorem 1", "Corollary 1", "Claim 3"}


def test_a_wrong_inverse_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(gamma: np.ndarray) -> object:
        found = slates_math.Inverse.__new__(slates_math.Inverse)
        count = gamma.shape[0] * gamma.shape[1]
        object.__setattr__(found, "matrix", np.eye(count))
        return found

    monkeypatch.setattr(slates_math, "pseudoinverse", broken)
    wrong = [claim.text.split(":")[0] for claim in claims(4) if claim.status == "not confirmed"]
    assert {"Claim 1", "Claim 2", "Proposition 1", "Eq. 23, Example 5"} <= set(wrong)


def test_the_page_shows_the_weights() -> None:
    page = slates_math.document(Run(scale=0.1)).render()
    assert "3.55" in page
    assert page.count("<svg") == 2
