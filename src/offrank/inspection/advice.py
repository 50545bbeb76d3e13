"""What would make a log better: what to write when a slate is served, and why."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.document import Item
from .inspected import Inspected

_PROPENSITY = 'log["propensity"] = probability  # with which this slate was drawn, in this order'
_WHOLE = 'log["slate"], log["clicks"] = ["a", "b", "c"], [0, 1, 0]'
_EXPLORE = "if random.random() < 0.01: random.shuffle(slate)  # and log which requests"


def better_logs(seen: Inspected) -> Iterator[Item]:
    """Return what to write from now on, the most useful first; nothing where the log has it all."""
    roles = {column.use for column in seen.columns}
    if seen.overview.earned is None:
        yield Item("Log the clicks on each item, or what each slate earned.", 'log["clicks"] = [0, 1, 0]')
    if seen.only_clicks:
        yield Item("Log whole lists, clicked or not: every item that was shown, at its rank.", _WHOLE)
    if seen.logging.status in ("not random", "written, not tested") or (seen.arms is not None and not seen.arms_draw):
        yield Item("Show a random slate in a small share of the requests: only what varies can be compared.", _EXPLORE)
    if not seen.written and seen.logging.status != "agrees":
        yield Item(
            "Log the propensity of each slate when it is served, so that nothing has to be guessed.", _PROPENSITY
        )
    if not roles & {"candidates"} and seen.layout == "wide":
        yield Item("Log the items that could have been shown next to those that were.", 'log["candidates"] = ids')
    if not roles & {"user", "session", "query"}:
        yield Item("Log the query, the user or the session. Otherwise dependent rows count as independent ones.")
