"""The files behind a path, a folder, a glob or a list of those."""

from __future__ import annotations

import glob
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from ..errors import EmptyLogError, LogError, UsageError


def expand(source: str | Path | Sequence[str | Path], suffixes: Collection[str] | None = None) -> tuple[str, ...]:
    """The files that `source` names, in order of their names.

    A folder stands for its files with these suffixes (all where None); hidden ones are left out.

    Raises:
        UsageError: neither a path nor a list of paths.
        LogError: there is no such file.
        EmptyLogError: a file has no bytes.
    """
    if not is_paths(source):
        raise UsageError(f"cannot read a log from {type(source).__name__}", "give a path, a glob or a list of them")
    each = [source] if isinstance(source, str | Path) else source
    found = tuple(path for item in each for path in _expand_one(item, suffixes))
    for path in found:
        if Path(path).stat().st_size == 0:
            raise EmptyLogError(f"{path} is empty", "give a log with at least one impression")
    return found


def is_paths(source: Any) -> bool:
    """Whether this is a path or a list of paths."""
    if isinstance(source, str | Path):
        return True
    return isinstance(source, Sequence) and bool(source) and all(isinstance(item, str | Path) for item in source)


def describe(paths: Sequence[str]) -> str:
    """The files in a few words."""
    return paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"


def _expand_one(source: str | Path, suffixes: Collection[str] | None) -> list[str]:
    names = [source] if Path(source).exists() else sorted(glob.glob(str(source), recursive=True))  # noqa: PTH207
    # `**` matches a folder and what is in it; each file is read once all the same.
    found = list(dict.fromkeys(str(path) for name in names for path in _files(Path(name), suffixes)))
    if not found:
        raise LogError(f"there is no log at {str(source)!r}", "check the path, or quote the glob")
    return found


def _files(path: Path, suffixes: Collection[str] | None) -> list[Path]:
    """The file itself, or those of a folder: marker files (`_SUCCESS`) and hidden ones are no part of a log."""
    if not path.is_dir():
        return [path]
    found = [p for p in sorted(path.rglob("*")) if p.is_file() and (suffixes is None or suffix(p) in suffixes)]
    return [p for p in found if not any(name.startswith(("_", ".")) for name in p.relative_to(path).parts)]


def suffix(path: str | Path) -> str:
    """The suffix that tells a file's format, without that of its compression."""
    plain = [s for s in Path(path).suffixes if s not in (".gz", ".zst")]
    return plain[-1] if plain else ""
