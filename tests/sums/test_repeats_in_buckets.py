"""How many rows a row's cluster has, where there are more clusters than are kept apart."""

from __future__ import annotations

import numpy as np
import pytest

from offrank.sums.base import Sample
from offrank.sums.clusters import BUCKETS, BucketsFold, Clusters


@pytest.mark.parametrize("rows", [1, 3])
def test_clusters_that_share_a_bucket_by_chance_are_not_taken_for_one(rows: int) -> None:
    """Five clusters to a bucket: without the correction for chance, clusters of one row would seem to have six."""
    codes = np.repeat(np.arange(5 * BUCKETS, dtype=np.uint64), rows)
    found = BucketsFold("user").of(Sample(np.ones((1, len(codes))), codes, {"user": codes}))
    assert found.codes is None
    assert Clusters.of("user", found).repeats == pytest.approx(rows, rel=0.1)
