"""What reaches folds and intervals is computed as an older processor would; of other changes that tells nothing."""

from __future__ import annotations

import pytest

from tests import older
from tests.house.code import ROOT


@pytest.mark.parametrize(
    ("path", "due"),
    [
        ("src/offrank/sums/moments.py", True),
        ("src/offrank/sums/__init__.py", True),
        ("src/offrank/log/hashing.py", True),
        ("src/offrank/estimators/fold.py", True),
        ("tests/sums/test_moments.py", True),
        ("scripts/as-older-processor", True),
        ("src/offrank/report/page.py", False),
        ("src/offrank/cli/options.py", False),
        ("docs/index.md", False),
        ("tests/cli/test_help.py", False),
    ],
)
def test_what_reaches_sums_is_due(path: str, due: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (ROOT / path).exists()
    monkeypatch.setattr(older, "WHOLE", False)
    assert older.due([ROOT / "README.md", ROOT / path]) is due


def test_where_nothing_is_known_it_is_due() -> None:
    assert older.due([])


def test_what_make_asks_is_what_is_reached() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    [asked] = [line.split()[2:] for line in text.splitlines() if line.startswith("OLDER ?=")]
    assert [path.split("/")[1] for path in asked] == [*older.ROOMS]
