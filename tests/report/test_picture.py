"""Pictures are objects: their data, a drawing for notebooks, and files of three kinds."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest

from offrank.errors import MissingExtraError, UsageError
from offrank.evaluation.pages.diagnostics import ranks_forest
from offrank.report import picture as pictures
from offrank.report.charts import Chart, Series
from offrank.report.picture import Picture, signed
from tests.report import sample

FOREST = Picture(ranks_forest(sample.result().metadata))
CHART = Picture(Chart("Clicks <by> rank", "rank", "clicks", (Series("a & b", [1, 2], [0.5, 0.25], line=True),)), 500)


@pytest.mark.parametrize("picture", [FOREST, CHART], ids=["forest", "chart"])
def test_svg_and_html_are_whole_and_may_be_written_again(picture: Picture, tmp_path: Path) -> None:
    for name in ("a.svg", "a.html", "b.SVG"):
        picture.save(tmp_path / name)
        picture.save(tmp_path / name)  # it is ours
    root = ET.parse(tmp_path / "a.svg").getroot()
    assert root.tag.endswith("}svg")
    assert root.get("width") == str(picture.width)
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == picture._repr_svg_() == str(picture)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.count("<svg") == str(picture).count("<svg")
    assert "<script" not in page
    assert picture.data.title in repr(picture)


def test_a_file_of_others_stays(tmp_path: Path) -> None:
    for name, text in {"a.svg": "<svg/>", "a.html": "<html/>", "a.png": "\x89PNG"}.items():
        (tmp_path / name).write_text(text, encoding="latin-1")
        with pytest.raises(UsageError, match="exists already"):
            FOREST.save(tmp_path / name)
    FOREST.save(tmp_path / "a.svg", overwrite=True)
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == str(FOREST)


@pytest.mark.parametrize("name", ["a.pdf", "a"])
def test_another_ending_is_refused_with_those_that_work(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.svg, \.html or \.png"):
        FOREST.save(tmp_path / name)
    assert not [*tmp_path.iterdir()]


def png(width: int, height: int) -> bytes:
    """A grey PNG, written by hand."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def chunks(made: bytes) -> list[tuple[bytes, bytes]]:
    """The chunks of a PNG, whose sums are right."""
    found, at = [], 8
    while at < len(made):
        (size,) = struct.unpack(">I", made[at : at + 4])
        kind, data, sums = made[at + 4 : at + 8], made[at + 8 : at + 8 + size], made[at + 8 + size : at + 12 + size]
        assert struct.pack(">I", zlib.crc32(kind + data)) == sums
        found.append((kind, data))
        at += 12 + size
    return found


def test_a_signed_png_says_who_made_it_and_is_one_still() -> None:
    before, after = chunks(png(3, 2)), chunks(signed(png(3, 2)))
    assert after == [before[0], (b"tEXt", b"Software\0offrank"), *before[1:]]


def test_cairosvg_draws_a_png_where_it_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = {}

    def svg2png(**how: object) -> bytes:
        given.update(how)
        return png(4, 4)

    monkeypatch.setitem(sys.modules, "cairosvg", SimpleNamespace(svg2png=svg2png, __spec__=SimpleNamespace()))
    FOREST.save(tmp_path / "a.png")
    FOREST.save(tmp_path / "a.png")  # it is ours
    assert given == {"bytestring": str(FOREST).encode(), "scale": 2}


def test_without_a_drawer_a_png_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pictures, "find_spec", lambda _: None)
    monkeypatch.setattr(pictures.shutil, "which", lambda _: None)
    with pytest.raises(MissingExtraError, match="needs cairosvg or Chromium") as raised:
        FOREST.save(tmp_path / "a.png")
    assert "pip install cairosvg" in raised.value.remedy
    assert not [*tmp_path.iterdir()]


@pytest.mark.browser
@pytest.mark.slow
def test_chromium_draws_a_png(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chromium: str) -> None:
    monkeypatch.setattr(pictures, "find_spec", lambda _: None)
    CHART.save(tmp_path / "a.png")
    (_, head), *_ = chunks((tmp_path / "a.png").read_bytes())
    root = ET.fromstring(str(CHART))
    assert struct.unpack(">II", head[:8]) == (2 * 500, 2 * int(root.attrib["height"]))
