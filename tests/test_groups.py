"""What a group of tests shares is made once, by the worker that runs all of them."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("together")
def test_groups_are_kept_together(request: pytest.FixtureRequest) -> None:
    """Where this fails, pytest and pytest-xdist do not fit each other: fixtures of minutes run in every worker."""
    grouped = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@together") == grouped
