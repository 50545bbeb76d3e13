"""A plot as an object: its data first, then its drawing, for a notebook or a file."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
import zlib
from dataclasses import dataclass
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import MissingExtraError, UsageError
from ..language.files import atomic_write
from ..language.outputs import refuse_output
from .charts import Chart, chart_svg
from .plots import Forest
from .svg import standalone

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_SHARPNESS = 2
"""Pixels of a PNG per unit of the drawing."""
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-sync")
_HEADER = 33
"""Bytes of a PNG before the place where it may say who made it."""


@dataclass(frozen=True)
class Picture:
    """A plot: a notebook shows it, `save` writes it, `str` gives its SVG.

    Parameters:
        data: what is drawn, as numbers and words: `data.rows` of intervals, or `data.series` of points.
        width: of the drawing, in pixels.

    Examples:
        >>> log, drawn_by = "offrank-demo/log.parquet", "plackett_luce(old_score)"
        >>> picture = offrank.evaluate(log, "uniform", drawn_by, "snips").plot.forest()
        >>> [row.label for row in picture.data.rows]
        ['what was logged', 'uniform']
        >>> picture.save("uniform.svg")
    """

    data: Forest | Chart
    width: int = 800

    def __str__(self) -> str:
        return standalone(self.data, self.width) if isinstance(self.data, Forest) else chart_svg(self.data, self.width)

    def __repr__(self) -> str:
        return f"Picture({self.data.title!r})"

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the picture; the ending of the name says how.

        Parameters:
            path: ends in .svg or .html, or in .png, which takes cairosvg or Chromium.
            overwrite: replace a file that offrank did not write.

        Raises:
            UsageError: another ending, or a file of others.
            MissingExtraError: a PNG, and nothing here can draw it.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> result.plot.forest().save("forest.html")
        """
        kinds = {".svg": self._svg, ".html": self._page, ".png": self._png}
        kind = Path(path).suffix.lower()
        if kind not in kinds:
            raise UsageError(
                f"a picture cannot be written as {kind or 'a file without ending'!r}", "end it in .svg, .html or .png"
            )
        refuse_output(path, overwrite=overwrite)
        with atomic_write(path) as temporary:
            temporary.write_bytes(kinds[kind]())

    def _svg(self) -> bytes:
        return str(self).encode()

    def _page(self) -> bytes:
        head = (
            f'<meta charset="utf-8"><meta name="generator" content="offrank"><title>{escape(self.data.title)}</title>'
        )
        return f'<!doctype html><html lang="en"><head>{head}</head><body>{self}</body></html>'.encode()

    def _png(self) -> bytes:
        if find_spec("cairosvg") is not None:
            made: Any = import_module("cairosvg").svg2png(bytestring=str(self).encode(), scale=_SHARPNESS)
            return signed(bytes(made))
        browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
        if browser is None:
            remedy = "pip install cairosvg, or write the picture as .svg"
            raise MissingExtraError("a PNG needs cairosvg or Chromium, and neither is installed", remedy)
        return signed(_by_browser(browser, str(self)))


def _by_browser(browser: str, drawn: str) -> bytes:
    """Let a browser without a window draw it, in light colours."""
    width, height = (drawn.partition(f' {side}="')[2].partition('"')[0] for side in ("width", "height"))
    with tempfile.TemporaryDirectory() as folder:
        page, made = Path(folder, "picture.html"), Path(folder, "picture.png")
        page.write_text(f'<!doctype html><meta charset="utf-8"><body style="margin:0">{drawn}</body>', encoding="utf-8")
        size = f"--window-size={width},{height}", f"--force-device-scale-factor={_SHARPNESS}"
        flags = (*_FLAGS, "--blink-settings=preferredColorScheme=1", f"--user-data-dir={folder}/profile", *size)
        command = [browser, *flags, f"--screenshot={made}", page.as_uri()]
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)  # noqa: S603  our own arguments
        if not made.is_file():
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise UsageError(f"{browser} drew nothing: {said[-1] if said else done.returncode}", "write it as .svg")
        return made.read_bytes()


def signed(png: bytes) -> bytes:
    """Return a PNG that says that offrank made it, so that offrank may replace it."""
    text = b"tEXtSoftware\0offrank"
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    return png[:_HEADER] + chunk + png[_HEADER:]
