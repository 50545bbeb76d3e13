"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Compiling on first use takes longer than any deadline; the examples in CI are the same in every run.
_COMMON = {"deadline": None, "max_examples": 50, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("offrank", **_COMMON)
settings.register_profile("offrank-ci", derandomize=True, print_blob=True, **_COMMON)
settings.load_profile("offrank-ci" if os.environ.get("CI") == "true" else "offrank")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real logs beside the repository; the test is skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("no real logs beside the repository (../shared/data)")
    return SHARED_DATA
