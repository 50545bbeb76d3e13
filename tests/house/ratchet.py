"""Limits that may only fall: what versions of a file said before, and the records of those that rose."""

from __future__ import annotations

import ast
import os
import subprocess
from pathlib import Path

LIMITS = "tests/house/test_aims.py"
RECORDS = "docs/contributing/decisions.md"
VERSIONS = 4
"""Commits to look back: a rise and what excuses it are seldom further apart."""


class NoHistoryError(Exception):
    """There is no Git, no repository, or only the last of its commits."""


def limits(text: str) -> dict[str, int]:
    """The limits in a source, by what they are of: the fourth of the five arguments of each `Aim`."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Aim":
            what, _, _, limit, _ = node.args
            found[ast.literal_eval(what)] = ast.literal_eval(limit)
    return found


def before(root: Path) -> list[dict[str, int]]:
    """The limits as the last tag of a version has them, and each of the last commits that touched them.

    Raises:
        NoHistoryError: these cannot be known.
    """
    if not (root / ".git").exists():
        raise NoHistoryError("no Git repository")
    try:
        shallow = _git(root, "rev-parse", "--is-shallow-repository") == "true"
    except FileNotFoundError:
        raise NoHistoryError("no git") from None
    tags = _git(root, "tag", "--merged", "HEAD", "--list", "v[0-9]*", "--sort=-creatordate").split()[:1]
    commits = _git(root, "log", f"-{VERSIONS}", "--format=%H", "--", LIMITS).split()
    if shallow and not tags and len(commits) < 2:
        raise NoHistoryError("a shallow clone: fetch its history, `git fetch --unshallow`")
    holding = [one for one in [*tags, *commits] if _git(root, "ls-tree", "--name-only", one, "--", LIMITS)]
    return [limits(_git(root, "show", f"{one}:{LIMITS}")) for one in holding]


def risen(root: Path) -> list[str]:
    """The limits above one of those before that no record names with its new number.

    Raises:
        NoHistoryError: those before cannot be known.
    """
    rows = {
        tuple(cell.strip().replace(",", "") for cell in line.strip("|").split("|"))
        for line in (root / RECORDS).read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    }
    earlier = before(root)
    known = {(row[0], number) for row in rows for number in row[2:3]}
    return [
        f"{what}: {limit}, was {least}, without a record in {RECORDS}"
        for what, limit in limits((root / LIMITS).read_text(encoding="utf-8")).items()
        if limit > (least := min((one[what] for one in earlier if what in one), default=limit))
        and (what, str(limit)) not in known
    ]


def _git(root: Path, *arguments: str) -> str:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}  # as in a hook
    return subprocess.run(
        ["git", *arguments], cwd=root, env=plain, check=True, capture_output=True, text=True
    ).stdout.strip()
