"""Files behind a path, a folder, a glob or a list of those.

A log may be read more than once, so what comes from standard input and pipes is kept until the process ends.
"""

from __future__ import annotations

import atexit
import errno
import fnmatch
import glob
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path, PurePath, PurePosixPath
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.fs as pafs

from ..errors import EmptyLogError, LogError, UsageError
from ..language.files import scratch
from ..language.from_text import nothing_at
from ..language.outputs import refuse_undecodable
from ..log.stores import FileStore, in_time
from .file_kinds import HEAD, packing

SQL, SPARK = "duckdb:", "spark:"
"""What a text begins with that is no path: an SQL query, the name of a table of Spark."""
COPY_AGAIN = "copy it again: it may be cut off or damaged"
"""The remedy for a file that cannot be unpacked."""
_NOTE = re.compile(
    r"(source|(readme|licen[cs]e|notice|copying|citation|authors|changelog)([-_ ][\w -]*)?)(\.(txt|cff))?"
    r"|.*\.(md|rst|pdf|html?|docx?)",
    re.IGNORECASE,
)
STANDARD_INPUT, KEPT = "-", "standard-input"
"""What stands for standard input, and the name of the file that it is kept in."""
_OPTIONS = re.compile(r"(.*?)(\?\w+=[^/?]*)?", re.DOTALL)


@dataclass(frozen=True)
class Files:
    """Files of one file system. held: path -> what is read in the place of what is in it, unpacked.

    local: whether they can be opened by their path.
    """

    paths: tuple[str, ...]
    system: Any = field(default_factory=lambda: pafs.LocalFileSystem(use_mmap=True))
    held: Mapping[str, bytes] = field(default_factory=dict, hash=False)
    local: bool = True

    def open(self, path: str) -> Any:
        """Open a file as a stream, which is unpacked if its first bytes say so, whatever its name.

        Readers of text read ahead in threads of their own, also while a stream is closed: of a mapped file that is a
        crash, and of Arrow's local streams a block of whatever is opened next. Python's files wait for each other.
        """
        if path in self.held:
            return pa.BufferReader(self.held[path])
        packed = self.packed(path)
        if not self.local:
            file = self.system.open_input_file(path)
        else:
            file = pa.PythonFile(Path(path).open("rb"), mode="r")  # noqa: SIM115  closed with the stream
        return pa.CompressedInputStream(file, packed) if packed else file

    def packed(self, path: str) -> str | None:
        """Return how a file is packed; None if it is not."""
        with self.system.open_input_file(path) as stream:
            return packing(stream.read(8))

    def head(self, path: str) -> bytes:
        """Return the first bytes of a file, unpacked."""
        try:
            with self.open(path) as stream:
                found: bytes = stream.read(HEAD)
                return found
        except OSError as error:
            raise LogError(f"{path} cannot be read: {error}", COPY_AGAIN) from error

    def stamp(self) -> dict[str, Any]:
        """Return the size of each file, and when it was changed."""
        found = self.system.get_file_info(list(self.paths))
        sizes = {f"the size of {one.path}": one.size for one in found}
        return sizes | {f"the time of {one.path}": str(one.mtime_ns) for one in found}


def partition(path: str) -> dict[str, str | None]:
    """Return the values of `key=value` folders in a file's path (Hive partitioning)."""
    pairs = [folder.partition("=") for folder in PurePath(path).parts[:-1] if "=" in folder]
    return {key: None if value == "__HIVE_DEFAULT_PARTITION__" else unquote(value) for key, _, value in pairs}


def find(
    source: str | Path | Sequence[str | Path], suffixes: Collection[str] | None = None, *, empty: bool = False
) -> Files:
    """Find the files that `source` names: paths, folders, globs, or addresses such as `s3://bucket/folder`.

    empty: whether files may be empty.

    Raises:
        LogError: there is no such file, or its file system does not respond.
        UsageError: the files are on several file systems.
    """
    each = [source] if isinstance(source, str | Path) else source
    if not any("://" in str(one) for one in each):
        return Files(expand(source, suffixes, empty=empty))
    found = [_remote(str(one), suffixes, empty) for one in each]
    if any(one.system != found[0].system for one in found):
        raise UsageError("the files are in several file systems", "give files from one file system")
    return Files(tuple(path for one in found for path in one.paths), found[0].system, local=found[0].local)


def _remote(address: str, suffixes: Collection[str] | None, empty: bool) -> Files:
    """Find the files at an address; a glob may follow its bucket, and options the path (`?endpoint_override=`)."""
    if address.startswith("file://"):
        return Files(expand(address.removeprefix("file://"), suffixes, empty=empty))
    address, options = _OPTIONS.fullmatch(address).groups("")  # type: ignore[union-attr]  # anything matches
    plain = address.partition("*")[0].partition("?")[0].partition("[")[0]
    folder = plain if plain == address else plain.rpartition("/")[0]
    try:
        system, path = in_time(partial(pafs.FileSystem.from_uri, folder + options))
    except (pa.ArrowException, OSError) as error:
        raise LogError(f"{address} cannot be reached: {error}", "check the address and the credentials") from error
    if not (local := isinstance(system, pafs.LocalFileSystem)):
        system = FileStore.of(system)
    info = system.get_file_info(path)
    if info.type == pafs.FileType.Directory:
        info = system.get_file_info(pafs.FileSelector(path, recursive=True))
    files = {one.path: one for one in (info if isinstance(info, list) else [info]) if one.type == pafs.FileType.File}
    if plain != address:
        pattern = path + address[len(folder) :]
        files = {name: one for name, one in files.items() if fnmatch.fnmatch(name, pattern)}
    kept = [name for name in sorted(files) if name == path or _belongs(PurePosixPath(name).relative_to(path), suffixes)]
    kept = [name for name in kept if name == path or not _is_note(PurePosixPath(name))] or kept
    if not kept:
        raise LogError(f"there is no log at {address!r}", "check the address, or quote the glob")
    _refuse_empty(name for name in kept if files[name].size == 0 and not empty)
    return Files(tuple(kept), system, local=local)


def expand(
    source: str | Path | Sequence[str | Path], suffixes: Collection[str] | None = None, *, empty: bool = False
) -> tuple[str, ...]:
    """List the files that `source` names, sorted by name.

    A folder stands for its files with these suffixes (all if None); hidden ones are left out. empty: whether files may
    be empty.

    Raises:
        UsageError: the source is neither a path nor a list of paths, or a name is not UTF-8.
        LogError: there is no such file.
        EmptyLogError: a file is empty.
    """
    if not is_paths(source):
        raise UsageError(f"cannot read a log from {type(source).__name__}", "give a path, a glob or a list of them")
    if "" in map(str, [source] if isinstance(source, str | Path) else source):
        raise UsageError("the path of the log is empty", "give a file or a folder; '.' is the folder you are in")
    found: list[str] = []
    for each in map(spooled, map(str, [source] if isinstance(source, str | Path) else source)):
        names = [each] if Path(each).exists() else sorted(glob.glob(each, recursive=True))  # noqa: PTH207
        # `**` matches a folder and its contents; each file is still read once.
        files = dict.fromkeys(str(path) for name in names for path in _files(Path(name), suffixes))
        if not files:
            folder = ": the folder contains no files" if Path(each).is_dir() else ""
            raise nothing_at(each, folder)
        found += files
    for path in found:
        refuse_undecodable(path)
    _refuse_empty(path for path in found if not empty and Path(path).stat().st_size == 0)
    return tuple(found)


def _refuse_empty(empty: Iterable[str]) -> None:
    for path in empty:
        raise EmptyLogError(f"{path} is empty", "give a log with at least one impression")


def is_paths(source: Any) -> bool:
    """Whether the source is a path or a list of paths."""
    if isinstance(source, str | Path):
        return True
    return isinstance(source, Sequence) and bool(source) and all(isinstance(item, str | Path) for item in source)


def refuse_too_long(source: Any) -> None:
    """Raise a `LogError` at a name that no file can have, before anything asks the system for such a file."""
    paths = ([source] if isinstance(source, str | Path) else source) if is_paths(source) else ()
    for path in map(str, paths):
        try:
            Path(path).stat()
        except ValueError:  # a null character, of which others say what it is
            continue
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG and not path.startswith(SQL):  # a query is no name
                raise LogError(f"there is no log at {path!r}: the name is too long", "check the path") from error


def describe(paths: Sequence[str]) -> str:
    """Describe the files in a few words."""
    first = "standard input" if PurePath(paths[0]).name == KEPT else paths[0]
    more = f"with {len(paths) - 1:,} more file{'s' if len(paths) > 2 else ''}"
    return first if len(paths) == 1 else f"{first} ({more})"


def _files(path: Path, suffixes: Collection[str] | None) -> list[Path]:
    """List the file itself, or the files of a folder without marker files (`_SUCCESS`), hidden ones and notes."""
    if not path.is_dir():
        return [path]
    found = _inside(path, suffixes)
    return [p for p in found if not _is_note(p)] or found


def _inside(folder: Path, suffixes: Collection[str] | None) -> list[Path]:
    return [p for p in sorted(folder.rglob("*")) if p.is_file() and _belongs(p.relative_to(folder), suffixes)]


def _is_note(path: PurePath) -> bool:
    """Whether a file by its name tells people of the others: `README.md`, `SOURCE.txt`."""
    return _NOTE.fullmatch(path.name) is not None


def folders_in(source: Any) -> list[Path]:
    """Return the folders that `source` names."""
    each = ([source] if isinstance(source, str | Path) else source) if is_paths(source) else ()
    paths = (Path(one) for one in each if "://" not in str(one) and not str(one).startswith(SQL))
    return [path for path in paths if path.is_dir()]


def unread_files(source: Any, read: Collection[str]) -> list[str]:
    """Return the files in the folders that `source` names that are not read, without markers and hidden ones."""
    there = (path for folder in folders_in(source) for path in _inside(folder, None))
    return [str(path) for path in there if str(path) not in read]


def _belongs(path: PurePath, suffixes: Collection[str] | None) -> bool:
    """Whether a file of a folder is part of a log: of a known suffix, not a marker (`_SUCCESS`) and not hidden."""
    return (suffixes is None or suffix(path) in suffixes) and not any(n.startswith(("_", ".")) for n in path.parts)


def suffix(path: str | PurePath) -> str:
    """Return the suffix that gives a file's format, without that of its compression."""
    plain = [s for s in PurePath(path).suffixes if s not in (".gz", ".zst", ".bz2", ".lz4")]
    return plain[-1] if plain else ""


def spooled(path: str) -> str:
    """Return the path of a file with what comes from a pipe, `-` for standard input; any other path as it is."""
    name = Path(path)
    if not (name.is_fifo() or (path == STANDARD_INPUT and not name.exists())):
        return path
    if path == STANDARD_INPUT and sys.stdin.isatty():
        raise UsageError("nothing is piped into standard input", "write `offrank inspect - < log.csv`")
    return _kept(path, name.stat().st_ino if path != STANDARD_INPUT else 0)


@cache
def _kept(path: str, _pipe: int) -> str:
    """Copy a pipe to a temporary file, once, which is deleted when the process ends. _pipe: which of this name."""
    folders = ExitStack()
    folder = folders.enter_context(scratch(Path(tempfile.gettempdir()), "offrank-"))
    folder.chmod(0o700)
    atexit.register(_remove, folders, os.getpid())
    kept = folder / (KEPT if path == STANDARD_INPUT else "pipe")
    with ExitStack() as open_files, kept.open("wb") as file:
        pipe = sys.stdin.buffer if path == STANDARD_INPUT else open_files.enter_context(Path(path).open("rb"))
        shutil.copyfileobj(pipe, file, 1 << 20)
    return str(kept)


def _remove(folders: ExitStack, process: int) -> None:
    if os.getpid() == process:  # a child of a fork leaves it to its parent
        folders.close()
