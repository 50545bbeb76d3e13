"""Ctrl-C while Spark is asked is an interruption, whatever pyspark makes of it."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest

from offrank.errors import LogError
from offrank.running.spark import PartitionRows, Spark


def frame(cause: BaseException) -> MagicMock:
    error = RuntimeError("Answer from Java side is empty")
    error.__context__ = cause
    made = MagicMock()
    made.selectExpr.return_value.groupBy.return_value.agg.return_value.collect.side_effect = error
    return made


@pytest.mark.parametrize(("cause", "error"), [(KeyboardInterrupt(), KeyboardInterrupt), (ValueError(), LogError)])
def test_an_interruption_stays_one(cause: BaseException, error: type[BaseException]) -> None:
    log = frame(cause)
    with pytest.raises(error):
        Spark(log, "Spark DataFrame", PartitionRows()).head(("slate",), 5)
    log.sparkSession.sparkContext.cancelJobsWithTag.assert_called_once()
