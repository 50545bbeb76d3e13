"""Commands of other distributions: found by their entry points, loaded when they are called."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

import click
import pytest

from offrank.cli import main
from offrank.errors import MissingExtraError, pip_install
from offrank.language import extensions
from tests.cli.commands import call


@click.command(help="Say a word.")
@click.argument("word")
def shout(word: str) -> None:
    """Say a word."""
    click.echo(word.upper())


def offered(monkeypatch: pytest.MonkeyPatch, *entries: EntryPoint) -> None:
    """Let these be all entry points that are installed."""
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **wanted: EntryPoints(entries).select(**wanted))


def command(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, extensions.COMMANDS)


def test_a_command_from_outside_is_listed_and_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("offrank.language.extensions.shout", shout, raising=False)
    offered(monkeypatch, command("shout", "offrank.language.extensions:shout"))
    assert "shout Say a word." in " ".join(call("--help").stdout.split())
    assert call("shout", "better").output == "BETTER\n"


def test_what_is_not_called_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, command("broken", "no_such_module:command"), command("demo", "no_such_module:command"))
    assert call("check", "--help").exit_code == 0
    assert main.get_command(click.Context(main), "demo") is main.commands["demo"]  # offrank's own come first


def test_a_known_command_that_is_not_installed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch)
    install = pip_install(package="offrank-papers")
    for name in extensions.ADVERTISED:
        assert f"{name} Not installed: {install}" in " ".join(call("--help").stdout.split())
        assert install in call(name, "--help").stdout
    done = call("reproduce", "slates", "--scale", "small", "-q")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.endswith(f"what to do: {install}\n")


def test_an_unknown_command_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch)
    assert call("frobnicate").exit_code == 2


def test_a_function_that_is_not_installed_is_an_import_error(monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, EntryPoint("reproduce", "offrank.errors:OffrankError", "another.group"))
    with pytest.raises(MissingExtraError, match="offrank-papers") as caught:
        extensions.load_extension(extensions.FUNCTIONS, "reproduce")
    assert isinstance(caught.value, ImportError)
    assert caught.value.remedy == pip_install(package="offrank-papers")
