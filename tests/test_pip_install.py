"""The command that installs what is missing names where this offrank is from: an index, or a checkout."""

from __future__ import annotations

import importlib.metadata
import json
from typing import Any

import pytest

from offrank.errors import pip_install


class Installed:
    """A distribution with, or without, a record of where it is from."""

    def __init__(self, origin: dict[str, Any] | None) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"  # PEP 610
        return None if self.origin is None else json.dumps(self.origin)


def test_of_an_index_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed(None))
    assert pip_install("duckdb") == "pip install 'offrank[duckdb]'"
    assert pip_install(package="offrank-papers") == "pip install offrank-papers"


def test_of_a_checkout_by_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    origin = {"url": "file:///home/ada/my%20offrank", "dir_info": {"editable": True}}
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed(origin))
    assert pip_install("duckdb", "models") == "pip install '/home/ada/my offrank[duckdb,models]'"
    assert pip_install(package="offrank-papers") == "pip install '/home/ada/my offrank/reproductions'"


@pytest.mark.parametrize(
    ("origin", "extra", "beside"),
    [
        (
            {"url": "file:///tmp/dist/offrank-0.3.0-py3-none-any.whl", "archive_info": {}},
            "'offrank[duckdb] @ file:///tmp/dist/offrank-0.3.0-py3-none-any.whl'",
            "'offrank-papers @ file:///tmp/dist/offrank_papers-0.3.0-py3-none-any.whl'",
        ),
        (
            {"url": "https://example.org/o.git", "vcs_info": {"vcs": "git", "commit_id": "1"}},
            "'offrank[duckdb] @ git+https://example.org/o.git'",
            "'offrank-papers @ git+https://example.org/o.git#subdirectory=reproductions'",
        ),
    ],
    ids=["wheel", "repository"],
)
def test_of_a_wheel_or_a_repository_by_its_address(
    monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any], extra: str, beside: str
) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed(origin))
    assert pip_install("duckdb") == f"pip install {extra}"
    assert pip_install(package="offrank-papers") == f"pip install {beside}"


def test_of_a_folder_of_packages_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    assert pip_install() == "pip install offrank"
