"""What a heavy tail of rewards lacks: as much as one standard error above its index allows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from offrank.inference.pareto import pareto_law
from offrank.inference.rare_rewards import heavy_tail
from offrank.sums import MomentsFold, Sample
from tests.inference.numbered import numbered


def test_what_is_lacking_is_that_of_an_index_one_error_higher() -> None:
    values = np.sort(stats.genpareto(0.4).rvs(400, random_state=7))[::-1]
    fold = MomentsFold(((0,),))
    moments = fold.of(Sample.of(values[:, None], np.arange(400, dtype=np.uint64)))
    found = heavy_tail(values, 400.0, 0, numbered(moments))
    assert found is not None
    # 3 sqrt(400) of the values are above the next one, which is the threshold.
    excess = np.sort(values[:60] - values[60])
    index, raw, scale = pareto_law(excess)
    heavy = index + (1 + index) / math.sqrt(60)
    same_median = stats.genpareto(raw, scale=scale).median() / stats.genpareto(heavy).median()
    expected = values[60] + stats.genpareto(heavy, scale=same_median).ppf((np.arange(60) + 0.5) / 60)
    assert found.heavy == pytest.approx(heavy, rel=1e-12)
    assert found.more_squares == pytest.approx((expected**2).sum() - (values[:60] ** 2).sum(), rel=1e-9)
    assert found.more_cubes == pytest.approx((expected**3).sum() - (values[:60] ** 3).sum(), rel=1e-9)
