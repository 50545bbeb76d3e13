"""What items that a finding is about are called in the log: where ids are texts, they are known by their hashes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..findings.log import LogEvidence, unfit
from ..language.registry import Later
from ..log.source import Needs, Source, is_read_once
from ..running.executors import Executor, Progress, run

if TYPE_CHECKING:
    from ..clicks import documents
else:  # few logs need it
    documents = Later("..clicks.documents", __package__)

_HASHED = 2**53
"""Smallest size of a code that is taken for the hash of a text; others are whole numbers."""


def item_names(
    codes: Iterable[int], source: Source, executor: Executor | None = None, progress: Progress | None = None
) -> dict[int, str]:
    """Return the names of the items that are told by hashes; this reads the log once more.

    Empty where all codes are whole numbers, and for a stream that can be read once only.
    """
    hashes = np.array(sorted({code for code in codes if abs(code) >= _HASHED}), np.int64)
    if not len(hashes) or is_read_once(source):
        return {}
    needed = Needs(frozenset(["candidates"]), texts=True)
    texts = run(source.select(needed), documents.TextsFold(), executor, progress).only(hashes)
    return dict(zip(texts.codes.tolist(), texts.texts.to_pylist(), strict=True))


def named(log: LogEvidence, source: Source) -> LogEvidence:
    """Return the evidence with the name of the item that does not fit the logging policy, if there is one."""
    fit = log.fit
    if fit is None or fit.item is None or not unfit(log):
        return log
    return replace(log, fit=replace(fit, name=item_names([fit.item], source).get(fit.item, "")))
