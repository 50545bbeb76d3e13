#!/usr/bin/env python3
"""Change one line of offrank at a time, and see whether its tests notice. The changes stand in scripts/mutants.toml.

    scripts/mutants.py                     all of them (an hour on two cores; by hand or at night)
    scripts/mutants.py verdict- release-   those whose names begin so
    scripts/mutants.py --list              names, files and changes
    scripts/mutants.py --check             whether every text stands exactly once in its file

Work is done in copies of the tree: the files here stay as they are. Ends with status 1 if more than three survive, or
if tests fail without a change.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
LISTED = ROOT / "scripts" / "mutants.toml"
MOST_SURVIVORS = 3
MOST_SECONDS = 900
"""A changed loop may not end; that is noticed too."""
PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-m")
QUICK = "not slow and not browser"


@dataclass(frozen=True)
class Mutant:
    """A change of one text of a file, and the tests that have to notice it.

    file: below src/offrank. tests: below tests.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The file, from the repository's root."""
        return Path("src", "offrank", self.file)

    def changed(self, root: Path = ROOT) -> str:
        """The file's text with the change.

        Raises:
            SystemExit: the text to change does not stand in it exactly once.
        """
        text = (root / self.path).read_text(encoding="utf-8")
        if (count := text.count(self.old)) != 1:
            raise SystemExit(f"{self.name}: {self.old!r} stands {count} times in {self.path}, not once")
        return text.replace(self.old, self.new)


def listed() -> list[Mutant]:
    """All mutants, in the order of the file."""
    read = tomllib.loads(LISTED.read_text(encoding="utf-8"))
    return [Mutant(**{**one, "tests": tuple(one["tests"])}) for one in read["mutant"]]


def passing(root: Path, tests: Sequence[str], *, loud: bool = False) -> bool:
    """Whether these tests pass in a copy of the tree; loud: what fails is shown."""
    paths = [str(Path("tests", one)) for one in tests]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(root / one) for one in ("src", "reproductions/src")),
        "CI": "true",
        "PYTHONDONTWRITEBYTECODE": "",
    }
    try:
        done = subprocess.run(  # noqa: S603
            [*PYTEST, QUICK, *paths], cwd=root, env=environment, capture_output=True, timeout=MOST_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    if done.returncode not in (0, 1, 2):  # passed, failed, or not even imported
        raise SystemExit(f"pytest {' '.join(paths)}: {done.stdout.decode()[-500:]}{done.stderr.decode()[-500:]}")
    if loud and done.returncode:
        print(done.stdout.decode()[-3000:])
    return done.returncode == 0


def survives(mutant: Mutant, root: Path) -> bool:
    """Whether the tests pass with the change in this copy, which is put right again."""
    place = root / mutant.path
    text, stat = place.read_text(encoding="utf-8"), place.stat()
    try:
        place.write_text(mutant.changed(root), encoding="utf-8")
        return passing(root, mutant.tests)
    finally:
        place.write_text(text, encoding="utf-8")
        os.utime(place, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # what was compiled of it is right again


def copied(folder: Path) -> Path:
    """A copy of the tree, with what was compiled, without environments and builds."""
    left_out = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "site")
    return Path(shutil.copytree(ROOT, folder, ignore=left_out))


def run(mutants: Sequence[Mutant], workers: int, *, sure: bool) -> list[Mutant]:
    """Try each mutant and return the survivors. sure: the tests are known to pass without a change.

    Raises:
        SystemExit: a test fails without any change.
    """
    with tempfile.TemporaryDirectory() as folder:
        free: SimpleQueue[Path] = SimpleQueue()
        for number in range(workers):
            free.put(copied(Path(folder) / str(number)))

        def tried(mutant: Mutant) -> bool:
            root, begun = free.get(), time.monotonic()
            try:
                alive = survives(mutant, root)
            finally:
                free.put(root)
            told = f"{'SURVIVES' if alive else 'killed':8}  {mutant.name:28} {time.monotonic() - begun:6.1f} s"
            print(told, flush=True)
            return alive

        every = sorted({one for mutant in mutants for one in mutant.tests})
        if not sure and not passing(Path(folder) / "0", every, loud=True):
            raise SystemExit(f"a test fails without any change: {' '.join(every)}")
        with ThreadPoolExecutor(workers) as pool:
            return [mutant for mutant, alive in zip(mutants, pool.map(tried, mutants), strict=True) if alive]


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="beginnings of names; all by default")
    parser.add_argument("--list", action="store_true", help="print the mutants")
    parser.add_argument("--check", action="store_true", help="only look whether every text is found")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="how many are tried at a time")
    parser.add_argument("--sure", action="store_true", help="do not run the tests without a change first")
    told = parser.parse_args()
    mutants = [one for one in listed() if not told.names or one.name.startswith(tuple(told.names))]
    for mutant in mutants:
        mutant.changed()
        if told.list:
            print(f"{mutant.name}  {mutant.path}\n    {mutant.old}\n -> {mutant.new}")
    if told.list or told.check:
        return
    survivors = run(mutants, told.workers, sure=told.sure)
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} killed; survivors: {[one.name for one in survivors]}")
    sys.exit(len(survivors) > MOST_SURVIVORS)


if __name__ == "__main__":
    main()
