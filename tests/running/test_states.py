"""States as bytes: whatever is not one, or no longer one, is refused by name, and nothing is executed."""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from offrank.errors import StateError
from offrank.log.texts import Texts
from offrank.running.states import SCHEMA, dumps, loads
from offrank.sums import MomentsFold
from offrank.sums.base import Sample
from offrank_testing import same
from tests.house.code import modules

PLAIN: dict[str, Any] = {
    "numbers": [0, -1, 2**64 - 1, 0.1, float("inf"), -0.0, 5e-324, True, None],
    "nested": ({"a": (1, ("b",)), 3: [], (1, 2): Counter({"x": 2})}, "", "\ud800é"),
    "arrays": [np.arange(6.0).reshape(2, 3).T, np.zeros((0, 4), np.int64), np.array([True, False]), np.array(7, "u1")],
    "scalars": [np.uint64(2**64 - 1), np.float32(0.1), np.bool_(True)],
    "big endian": np.arange(3, dtype=">i4"),
}


@pytest.mark.parametrize("name", PLAIN)
def test_what_states_are_made_of_survives(name: str) -> None:
    found = loads(dumps(PLAIN[name]))
    same(found, PLAIN[name] if name != "big endian" else np.arange(3, dtype="i4"), 0.0, name)
    assert repr(found) == repr(PLAIN[name]) or name == "big endian"


def test_arrays_keep_the_order_of_their_memory_and_can_be_written_to() -> None:
    [found] = loads(dumps([np.asfortranarray(np.ones((2, 3)))]))
    assert found.flags.f_contiguous
    assert not found.flags.c_contiguous
    found += 1


def test_texts_survive() -> None:
    texts = Texts(np.array([1, 2, 5]), pa.array(["", "é", "long " * 9], pa.large_string()))
    assert loads(dumps(texts)) == texts
    sliced = Texts(np.array([2]), texts.texts.slice(1, 1))
    assert loads(dumps(sliced)) == sliced


@pytest.mark.parametrize("value", [object(), {1, 2}, np.array(["a"]), np.array([None]), np.array([1j]), b"x", print])
def test_other_types_are_refused_when_written(value: Any) -> None:
    with pytest.raises(StateError, match="cannot be saved"):
        dumps([value])


def test_every_damaged_byte_is_noticed() -> None:
    whole = dumps(MomentsFold().of(Sample.of(np.empty((0, 2)), np.empty(0, np.uint64))))
    for place in range(len(whole)):
        with pytest.raises(StateError, match=r"not a state|has version|checksum"):
            loads(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(StateError, match=r"not a state|has version|checksum"):
            loads(whole[:place])
    with pytest.raises(StateError, match="checksum"):
        loads(whole + b"x")


def test_another_version_is_refused_with_both() -> None:
    _, _, rest = dumps(1).partition(b"\n")
    with pytest.raises(StateError, match=rf"day\.state has version 99, but this offrank reads version {SCHEMA}"):
        loads(b"offrank state 99\n" + rest, "day.state")


def forged(tree: Any, blocks: bytes = b"") -> bytes:
    """Bytes with a right checksum, as somebody might make them by hand."""
    text = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    body = zlib.compress(len(text).to_bytes(8, "little") + text + blocks)
    return b"offrank state %d\n" % SCHEMA + hashlib.sha256(body).digest() + body


FORGED: dict[str, tuple[Any, bytes]] = {
    "os.system": (["os.system", {"command": "true"}], b""),
    "Popen": (["Popen", {"args": "true"}], b""),
    "a field too many": (["Unavailable", {"reason": "x", "more": 1}], b""),
    "a field too few": (["Moments", {"n": 1}], b""),
    "no name": ([], b""),
    "a mapping": ({"a": 1}, b""),
    "not JSON": (b"{", b""),
    "deep": (b"[" * 100_000, b""),
    "an array beyond the end": (["array", "<f8", "C", 10**15], b"\0" * 8),
    "a negative side": (["array", "<f8", "C", -1], b""),
    "objects": (["array", "|O", "C", 1], b"\0" * 8),
    "truth": (["array", "|b1", "C", 1], b"\2"),
    "an order": (["array", "|u1", "Z", 1], b"\2"),
    "left over": (1, b"\0"),
    "texts": (["texts", 2], np.array([3, 1], "<i8").tobytes() + b"abc"),
    "no UTF-8": (["texts", 1], np.array([1], "<i8").tobytes() + b"\xff"),
    "unhashable": (["dict", [["list"], 1]], b""),
    "blocks": (["CountTable", {"held": ["tuple", ["array", "<i8", "C", 0, 3], ["array", "<f8", "C", 0]]}], b""),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_is_malformed_is_refused_by_name(name: str) -> None:
    with pytest.raises(StateError, match=r"^day\.state is damaged: ."):
        loads(forged(*FORGED[name]), "day.state")


def test_a_state_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = dumps(np.zeros(300_000, np.uint8))
    assert len(loads(zeros)) == 300_000
    monkeypatch.setattr("offrank.language.files._UNPACKED", 100_000)
    with pytest.raises(StateError, match=r"damaged: its [\d,]+ bytes unpack to more than 1\d\d,\d{3}"):
        loads(zeros)


def test_nothing_in_the_house_reads_pickles() -> None:
    reads = re.compile(r"import (pickle|marshal|shelve|dill|joblib|cloudpickle)|allow_pickle=(?!False)|\b(eval|exec)\(")
    shipped = [module for module in modules("src") if "testing" not in module.path.parts]
    assert len(shipped) > 300
    assert {module.label for module in shipped for line in module.lines if reads.search(line)} == set()
