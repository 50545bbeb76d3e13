"""Saved click models: the same to the last bit, and one clear error for everything that is none."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from offrank.clicks import Fitted, click_model, load
from offrank.clicks.model import CLICK_MODELS
from offrank.clicks.storage import FORMAT, FORMAT_VERSION, decoded, encoded
from offrank.errors import UsageError
from offrank.frames import plain
from offrank.readers.log import read_log
from offrank.sums.estimate import Caution
from tests.clicks.aged import aged
from tests.clicks.readers import Reader, drawn, log

NEURAL = {"ncm", "cacm"}
CLASSIC = sorted(set(CLICK_MODELS) - NEURAL)
FORMS = ("model.json", "model.npz")
SETTINGS = "dbn(tolerance=0.00012345678901234567)"


@cache
def table() -> Any:
    slates, clicks = drawn(Reader((0.5, 0.3, 0.8, 0.2), on=0.7), 300)
    return log(slates, clicks, query=[i % 3 for i in range(300)])


@cache
def fitted(spelling: str) -> Fitted:
    return click_model(spelling).fit(table())


def assert_same(found: Fitted, kept: Fitted) -> None:
    assert repr(found.model) == repr(kept.model)
    assert type(found.model) is type(kept.model)
    assert found.documents.by == kept.documents.by
    assert np.array_equal(found.documents.keys, kept.documents.keys)
    for name in ("parameters", "strength"):
        tables, others = getattr(found.learnt, name), getattr(kept.learnt, name)
        assert list(tables) == list(others)
        for key, values in tables.items():
            assert values.dtype == others[key].dtype
            assert np.array_equal(values, others[key], equal_nan=True)
    for name in ("trace", "rounds", "converged", "cautions"):
        assert getattr(found.learnt, name) == getattr(kept.learnt, name)
    assert found.learnt.info == plain(kept.learnt.info)  # what is not finite is null
    assert (found.tally, found.source) == (kept.tally, kept.source)


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("spelling", [*CLASSIC, SETTINGS])
def test_a_model_is_the_same_to_the_last_bit(spelling: str, name: str, tmp_path: Path) -> None:
    kept = fitted(spelling)
    kept.save(tmp_path / name)
    found = load(tmp_path / name)
    assert_same(found, kept)
    for batch in read_log(table()).select(kept.needs()).batches(0):
        assert np.array_equal(
            found.click_probs(batch.contexts, batch.slates), kept.click_probs(batch.contexts, batch.slates)
        )
    assert [path.name for path in tmp_path.iterdir()] == [name]
    kept.save(tmp_path / name)  # as offrank has written it, it may be replaced


@pytest.mark.parametrize("name", FORMS)
def test_large_tables_what_is_not_finite_and_cautions_are_kept(name: str, tmp_path: Path) -> None:
    learnt = fitted("dbn").learnt
    odd = np.array([0.1, math.inf, math.nan, 5e-324])
    many = np.random.default_rng(0).random((50, 30)).astype(np.float32)
    kept = replace(
        fitted("dbn"),
        learnt=replace(
            learnt,
            strength=dict(zip(learnt.parameters, (odd, many, np.empty((0, 3))), strict=False)),
            trace=(-math.inf, -1 / 3),
            cautions=(Caution("a-code", "note", "Ünïcode “quoted”.", "Nothing."),),
            info={"words": "yes", "pair": [1, 2.5], "nothing": None},
        ),
        source="säule.parquet",
    )
    kept.save(tmp_path / name)
    assert_same(load(tmp_path / name), kept)


@pytest.mark.parametrize("kind", [">f8", "<f8", "<f4", "<i8", "<i4", "u1", "?"])
def test_arrays_are_written_with_the_smallest_byte_first(kind: str) -> None:
    array = np.arange(200).astype(kind)
    found = encoded(array)
    assert len(base64.b64decode(found["base64"])) == array.nbytes
    if array.dtype.itemsize == 4 and array.dtype.kind == "i":
        assert base64.b64decode(found["base64"])[:8] == b"\0\0\0\0\1\0\0\0"
    again = decoded(json.loads(json.dumps(found)))
    assert np.array_equal(again, array)
    assert again.dtype.isnative
    again[0] = 1  # writable


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Change what is in a model as earlier releases wrote it: without a checksum."""

    def edit(path: Path) -> None:
        found = aged(path)
        change(found)
        path.write_text(json.dumps(found), encoding="utf-8")

    return edit


def in_parameters(**changes: Any) -> Callable[[Path], None]:
    return edited(lambda found: found["parameters"]["attraction"].update(changes))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda path: path.write_text(""), "not a click model"),
    "cut": (lambda path: path.write_text(path.read_text()[:-100]), "not a click model"),
    "bytes": (lambda path: path.write_bytes(b"\xff\xfe\x00PAR1"), "not a click model"),
    "nested": (lambda path: path.write_text("[" * 200_000), "not a click model"),
    "a list": (lambda path: path.write_text("[1, 2]"), "not a click model"),
    "other": (lambda path: path.write_text('{"format": "other"}'), "not a click model"),
    "later": (edited(lambda found: found.update(version=3)), "version 3"),
    "unknown model": (edited(lambda found: found.update(model="dbm")), "does not know: unknown click model 'dbm'"),
    "a mixture": (edited(lambda found: found.update(model="mixture(pbm, dbn)")), "no mixture of click models any more"),
    "code": (edited(lambda found: found.update(model="__import__('os').getpid()")), "does not know"),
    "no spelling": (edited(lambda found: found.update(model=3)), "damaged"),
    "no parameters": (edited(lambda found: found.pop("parameters")), "damaged: no 'parameters'"),
    "no table": (edited(lambda found: found["parameters"].pop("attraction")), "damaged"),
    "a number": (edited(lambda found: found["parameters"].update(attraction=3)), "damaged"),
    "shape": (in_parameters(shape=[3]), "damaged"),
    "negative shape": (in_parameters(shape=[-1]), "damaged"),
    "fifty sides": (in_parameters(shape=[1] * 50, values=[0.5]), "damaged"),
    "kind": (in_parameters(kind="O8"), "damaged"),
    "words": (in_parameters(values=["a"] * 13), "damaged"),
    "base64": (
        edited(lambda found: found["parameters"].update(attraction={"kind": "f8", "shape": [1], "base64": "?"})),
        "damaged",
    ),
    "short table": (in_parameters(shape=[2], values=[0.5, 0.5]), "damaged"),
    "no probability": (in_parameters(values=[1.5] * 13), "damaged"),
    "one of many is no probability": (
        in_parameters(values=[0.5, -0.5] + [0.5] * 11),
        "a value that is not a probability",
    ),
    "one of many is no number": (in_parameters(values=[0.5, math.nan] + [0.5] * 11), "a value that is not finite"),
    "infinite": (in_parameters(values=[1e999] * 13), "damaged"),
    "a table too many": (
        edited(lambda found: found["parameters"].update(examination=found["parameters"]["continuation"])),
        "its tables do not match its model: examination",
    ),
    "another prior": (
        edited(lambda found: found["parameters"]["attraction_prior"].update(values=[1.0, -2.0])),
        "attraction_prior contains an invalid prior",
    ),
    "a table in a table": (in_parameters(shape=[13, 1]), r"attraction has shape \(13, 1\)"),
    "order": (edited(lambda found: found["documents"]["values"].reverse()), "damaged"),
    "trace": (edited(lambda found: found.update(trace=None)), "damaged"),
    "tally": (edited(lambda found: found.update(tally=[])), "damaged"),
    "infinitely many rows": (edited(lambda found: found["training"].update(rows=math.inf)), "damaged: cannot convert"),
    "too many rows": (edited(lambda found: found["training"].update(rows=2**63)), "its fingerprint of the rows"),
    "huge loadings": (edited(lambda found: found.update(loadings={"attraction": 1e200})), "damaged"),
    "caution": (edited(lambda found: found.update(cautions=[{"x": 1}])), "damaged"),
    "words of a caution": (
        edited(lambda found: found.update(cautions=[{"code": [], "severity": "note", "message": "", "remedy": ""}])),
        "damaged: its cautions are invalid",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_any_byte_that_is_another_is_told(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    fitted("dctr").save(path)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    ends = [*range(400), *range(len(whole) - 400, len(whole))]  # formats, headers, names, the checksum itself
    for place in [*ends, *rng.integers(len(whole), size=400).tolist()]:
        broken = bytearray(whole)
        broken[place] ^= int(rng.integers(1, 256))
        path.write_bytes(broken)
        with pytest.raises(UsageError, match=name):
            load(path)
    for end in (len(whole) - 1, len(whole) // 2, 1, 0):
        path.write_bytes(whole[:end])
        with pytest.raises(UsageError, match=name):
            load(path)
    path.write_bytes(whole)
    assert_same(load(path), fitted("dctr"))


def test_a_model_that_has_lost_its_checksum_is_told(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    fitted("dctr").save(path)
    found = json.loads(path.read_bytes())
    path.write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(UsageError, match="its checksum is missing"):
        load(path)
    fitted("dctr").save(path, overwrite=True)
    path.write_text(json.dumps(aged(path)), encoding="utf-8")
    assert_same(load(path), fitted("dctr"))  # as earlier releases wrote it


def test_a_header_too_long_and_arrays_of_objects_are_not_read(tmp_path: Path) -> None:
    path, wanted = tmp_path / "model.npz", {"format": FORMAT, "version": FORMAT_VERSION}
    long = np.frombuffer(json.dumps(wanted).ljust(17 << 20).encode(), np.uint8)
    for header in (long, np.array([wanted], object)):
        np.savez_compressed(path, header=header)
        with pytest.raises(UsageError, match="not a click model"):
            load(path)


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_no_model_is_told(name: str, tmp_path: Path) -> None:
    damage, words = DAMAGES[name]
    path = tmp_path / "model.json"
    fitted("dbn").save(path)
    damage(path)
    with pytest.raises(UsageError, match=words) as told:
        load(path)
    assert "model.json" in told.value.message
    assert ("use ubm or dbn" in told.value.remedy) == (name == "a mixture")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no click model"):
        load(tmp_path / "none.json")


def test_what_cannot_be_written_leaves_the_file_before(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    fitted("dcm").save(path)
    before = path.read_bytes()
    broken = replace(fitted("dbn"), learnt=replace(fitted("dbn").learnt, parameters={"a": np.array(["text"])}))
    with pytest.raises(TypeError, match="cannot be stored"):
        broken.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
