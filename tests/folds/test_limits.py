"""Parts that know what other parts leave out keep less, and give the same in the end."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pytest

import offrank
from offrank.checks.duplicates import ContentsFold
from offrank.folds.sampled import SampledRowsFold
from offrank.log.batch import NO_LIMIT, Limits
from offrank.log.source import Needs
from offrank.testing import same, take
from tests.exact.worlds import world

FOLDS = [SampledRowsFold(Needs(), 5), SampledRowsFold(Needs(), 40, cells=150), ContentsFold(15)]


@pytest.mark.parametrize("fold", FOLDS, ids=["rows", "cells", "contents"])
@pytest.mark.parametrize("seed", range(3))
def test_what_parts_tell_each_other_changes_nothing(fold: Any, seed: int) -> None:
    batch = world("top", "cascade").batch(offrank.PlackettLuce("old"))
    dealt = np.random.default_rng(seed).integers(0, 6, len(batch))
    pieces = [take(batch, np.flatnonzero(dealt == part)) for part in range(6)]
    limits = Limits()
    alone = [fold.add(fold.empty(), replace(piece, limits=Limits())) for piece in pieces]
    told = [fold.add(fold.empty(), replace(piece, limits=limits)) for piece in pieces]
    assert limits.of(fold) < NO_LIMIT
    assert len(pickle.dumps(told)) < len(pickle.dumps(alone))  # they keep less
    same(reduce(fold.merge, told), reduce(fold.merge, alone), 0.0, "merged")
    same(reduce(fold.merge, told[::-1]), reduce(fold.merge, alone), 0.0, "merged in reverse")


def test_another_process_begins_anew() -> None:
    limits = Limits()
    limits.lower("fold", np.uint64(7))
    limits.lower("fold", np.uint64(9))
    assert limits.of("fold") == 7
    assert limits.of("other") == NO_LIMIT
    assert pickle.loads(pickle.dumps(limits)).of("fold") == NO_LIMIT
