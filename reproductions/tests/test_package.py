"""The package itself: its version, its entry points, and what importing it costs."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution, entry_points
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import offrank
import offrank_papers
from offrank.cli import main
from offrank.language.extensions import COMMANDS, FUNCTIONS, load_extension
from offrank.report.document import Document
from offrank.verbs.reproduce import ReproducedPaper, reproduce
from offrank_papers.registry import REPRODUCTIONS, Reproduced

PACKAGES = [info.name for info in pkgutil.walk_packages(offrank_papers.__path__, "offrank_papers.") if info.ispkg]


@pytest.fixture(autouse=True)
def _installed() -> None:
    """Skip where the package is only on the path."""
    try:
        distribution("offrank-papers")
    except PackageNotFoundError:
        pytest.skip("offrank-papers is not installed: make pytest installs it")


def test_both_packages_have_one_version_and_are_pinned_to_it() -> None:
    papers = distribution("offrank-papers")
    assert papers.version == offrank.__version__
    assert papers.requires == [f"offrank=={offrank.__version__}"]


def test_the_function_takes_what_offrank_says_that_it_takes() -> None:
    found, said = (inspect.signature(one).parameters for one in (load_extension(FUNCTIONS, "reproduce"), reproduce))
    assert [(one.name, one.kind, one.default) for one in found.values()] == [
        (one.name, one.kind, one.default) for one in said.values()
    ]


def test_the_results_have_what_offrank_says_that_they_have() -> None:
    said = {name for name in vars(ReproducedPaper) if not name.startswith("_")}
    assert said == {"document", "folder", "page", "show"}
    made = Reproduced(Document("title", "", ()), Path("made"))
    assert [name for name in said if not hasattr(made, name)] == []


def test_the_command_is_listed_and_names_every_reproduction() -> None:
    assert [entry.name for entry in entry_points(group=COMMANDS)] == ["plan", "reproduce"]
    listed = " ".join(CliRunner().invoke(main, ["--help"]).output.split())
    assert "reproduce Reproduce a paper" in listed
    helped = " ".join(CliRunner().invoke(main, ["reproduce", "--help"]).output.split())
    assert [name for name in REPRODUCTIONS if not re.search(rf"\b{name}\b", helped)] == []
    options = [
        one
        for one in load_extension(COMMANDS, "reproduce").params
        if isinstance(one, click.Option) and one.name != "seed"
    ]
    assert all(option.help for option in options)


def test_help_waits_for_no_paper() -> None:
    code = "import sys; from offrank.cli import main; main(['--help'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "offrank_papers.command" in loaded
    assert not loaded & {"numba", "offrank_papers.registry", "pyarrow", "scipy"}


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_what_a_package_offers(name: str) -> None:
    package = importlib.import_module(name)
    values = vars(package).items()
    public = {one for one, value in values if not one.startswith("_") and not inspect.ismodule(value)} - {"annotations"}
    assert set(package.__all__) == public
