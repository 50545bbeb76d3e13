"""A law against its story."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from offrank.clicks.laws import ClickLaw
from tests.clicks.click_patterns import Path, conditional, joint, marginal, patterns


def assert_same_law(law: ClickLaw, story: Iterable[Path]) -> None:
    """The marginals, and every conditional, of the only slate."""
    told, ranks = joint(story), law.marginal().shape[1]
    assert law.marginal()[0] == pytest.approx([marginal(told, rank) for rank in range(ranks)], abs=1e-12)
    for pattern in patterns(ranks):
        found = law.conditional(np.array([pattern], float))[0]
        for rank, chance in enumerate(found):
            expected = conditional(told, pattern[:rank])
            assert expected is None or chance == pytest.approx(expected, abs=1e-12)
