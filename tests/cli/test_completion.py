"""What a shell is told when the Tab key is pressed: a command in docs/reference/command.md turns it on."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from offrank.cli import main
from offrank.cli.spelled import names_of
from offrank.clicks.model import CLICK_MODELS
from offrank.estimators import ESTIMATORS
from offrank.language.spelling import refuse_unknown
from offrank.policies import POLICIES
from offrank.reward_models.registry import REWARD_MODELS
from tests.cli.commands import process

ROOT = Path(__file__).parents[2]


def completed(*words: str) -> list[str]:
    """What the last word may become."""
    shell = ShellComplete(main, {}, "offrank", "_OFFRANK_COMPLETE")
    return [one.value for one in shell.get_completions(list(words[:-1]), words[-1])]


def test_verbs_and_options_are_completed() -> None:
    assert completed("ev") == ["evaluate"]
    assert completed("clicks", "") == ["evaluate", "fit", "harvest", "judge", "predict"]
    assert completed("evaluate", "log.parquet", "--tar") == ["--target"]
    assert completed("evaluate", "log.parquet", "--require", "") == ["better", "not-worse"]


def test_estimators_and_policies_are_completed_also_behind_a_name() -> None:
    assert completed("evaluate", "log.parquet", "-e", "snip") == ["snipm", "snips"]
    assert completed("compare", "log.parquet", "--target", "un") == ["unconfirmed", "uniform"]
    assert completed("compare", "log.parquet", "--target", "new=to") == ["new=top"]
    assert completed("learn", "log.parquet", "--logging", "pl") == ["plackett_luce"]


@pytest.mark.parametrize("words", [("evaluate", ""), ("evaluate", "log.parquet", "--html", ""), ("inspect", "lo")])
def test_files_are_left_to_the_shell(words: tuple[str, ...]) -> None:
    shell = ShellComplete(main, {}, "offrank", "_OFFRANK_COMPLETE")
    assert [one.type for one in shell.get_completions(list(words[:-1]), words[-1])] == ["file"]


def test_names_are_read_off_the_files_without_importing_them() -> None:
    assert names_of("policy") == sorted(POLICIES)
    assert names_of("estimator") == sorted({*ESTIMATORS, *REWARD_MODELS, "dm", "auto"})


def test_the_documented_command_completes_in_bash(tmp_path: Path) -> None:
    page = (ROOT / "docs/reference/command.md").read_text(encoding="utf-8")
    commands = dict(re.findall(r"^(echo .* >> ~/\S+) +# (\w+)", page.partition("## Completion")[2], re.MULTILINE))
    assert sorted(commands.values()) == ["bash", "fish", "zsh"]
    for command, shell in commands.items():
        assert f"_OFFRANK_COMPLETE={shell}_source offrank" in command
    [command] = (command for command, shell in commands.items() if shell == "bash")
    bash = shutil.which("bash")
    assert bash is not None
    (tmp_path / "offrank").write_text(f'#!/bin/sh\nexec {sys.executable} -m offrank "$@"\n')
    (tmp_path / "offrank").chmod(0o755)
    script = f"""
HOME={tmp_path} PATH={tmp_path}:$PATH
{command}
. ~/.bashrc
COMP_WORDS=(offrank evaluate log.parquet -e snip)
COMP_CWORD=4
_offrank_completion offrank
echo "${{COMPREPLY[@]}}"
"""
    done = subprocess.run([bash, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("snipm snips\n", "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_their_script(shell: str) -> None:
    done = process(_OFFRANK_COMPLETE=f"{shell}_source")
    assert done.returncode == 0
    assert "_OFFRANK_COMPLETE" in done.stdout


@pytest.mark.parametrize("name", [*CLICK_MODELS, *REWARD_MODELS, "inf"])
def test_no_model_is_taken_for_a_misspelt_estimator(name: str) -> None:
    refuse_unknown(f"weights({name})", lambda: names_of("estimator"), "estimator", lambda: False, within=False)
