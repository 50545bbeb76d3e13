"""A browser for the tests that look at a page."""

from __future__ import annotations

import os
import shutil

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


def browser() -> str | None:
    """The browser that is installed, if there is one."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="session")
def chromium() -> str:
    found = browser()
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("CI needs chromium")
    if found is None:
        pytest.skip("no chromium on this machine")
    return found
