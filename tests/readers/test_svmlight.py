"""SVMlight text: the numbers that it holds, to the last bit, and what is said of lines that are not in the format."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from offrank.errors import EmptyLogError, LogError, UsageError
from offrank.log.graded_queries import Judged
from offrank.readers import svmlight
from offrank.readers.svmlight import read_svmlight, write_svmlight

LETOR = """\
# made by hand
2 qid:10 1:0.5 2:-3 4:1e2 # docid = GX008-86-4444840 inc = 1 prob = 0.08
0 qid:10 2:7

1 qid:9 1:.25 3:100000000 4:-1.5E-3#glued
"""
GRADES = [2.0, 0.0, 1.0]
FEATURES = [[0.5, -3.0, 0.0, 100.0], [0.0, 7.0, 0.0, 0.0], [0.25, 0.0, 1e8, -0.0015]]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "set.txt"
    path.write_text(LETOR)
    return path


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def assert_letor(found: Judged) -> None:
    assert found.query.tolist() == [10, 9]
    assert found.first.tolist() == [0, 2, 3]
    assert found.grade.tolist() == GRADES
    assert found.features.tolist() == FEATURES
    assert found.document.tolist() == [0, 1, 2]
    assert found.features.flags.c_contiguous


def bits(values: np.ndarray) -> list[int]:
    return np.ascontiguousarray(values, np.float64).view(np.int64).ravel().tolist()


def test_a_file_is_read(text: Path) -> None:
    assert_letor(read_svmlight(text))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace(" ", "\t  "),
        lambda text: text.replace("\n", " \n"),
        lambda text: text.rstrip(),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("0.5", "+0.50"),
    ],
    ids=["CRLF", "tabs", "blanks at the end", "no last newline", "mark at the beginning", "plus"],
)
def test_white_space_and_signs_make_no_difference(text: Path, change) -> None:
    assert_letor(read_svmlight(write(text, change(LETOR))))


def test_packed_files_and_several(text: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.txt.gz"
    packed.write_bytes(gzip.compress(LETOR.encode()))
    assert_letor(read_svmlight(packed))
    other = write(tmp_path / "tail.txt", "3 qid:11 5:1\n")
    both = read_svmlight([text, other])
    assert both.query.tolist() == [10, 9, 11]
    assert both.first.tolist() == [0, 2, 3, 4]
    assert both.features.tolist() == [*([*row, 0.0] for row in FEATURES), [0.0, 0.0, 0.0, 0.0, 1.0]]
    packed.unlink()
    assert read_svmlight(tmp_path).query.tolist() == [10, 9, 11]


def test_blocks_may_end_anywhere(text: Path, monkeypatch) -> None:
    for size in (7, 40, 64, 100):
        monkeypatch.setattr(svmlight, "_BLOCK", size)
        assert_letor(read_svmlight(text))


def test_index_0_makes_all_indices_begin_there(text: Path, tmp_path: Path) -> None:
    late = write(tmp_path / "late.txt", "1 qid:1 2:5 3:6\n1 qid:1 0:4 3:7\n")
    assert read_svmlight(late).features.tolist() == [[0, 0, 5, 6], [4, 0, 0, 7]]
    assert read_svmlight([text, late]).features[:, 1:4].tolist()[:3] == [row[:3] for row in FEATURES]
    assert read_svmlight(text, base=0).features[:, 1:].tolist() == FEATURES
    with pytest.raises(LogError, match=r"late.txt, line 2: expected an index of 1 or more.*column 9, found '0:4'"):
        read_svmlight(late, base=1)


def test_more_columns_on_request(text: Path) -> None:
    assert read_svmlight(text, features=6).features.shape == (3, 6)
    assert read_svmlight(text, features=2).features.shape == (3, 4)


def test_a_colon_in_a_comment_is_no_index(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "1 qid:1 1:1 # at 12:30\n1 qid:1 2:1 3:1 # 99:1\n")
    assert read_svmlight(path).features.shape == (2, 3)


def test_sizes_beside_the_data(tmp_path: Path) -> None:
    path = write(tmp_path / "rank.train", "1 1:1\n0 2:1\n2 1:3\n")
    with pytest.raises(LogError, match=r"no 'qid:', and rank.train.query is missing next to it"):
        read_svmlight(path)
    sizes = write(tmp_path / "rank.train.query", "2\n1\n")
    for found in (read_svmlight(path), read_svmlight(tmp_path), read_svmlight(path, group=sizes)):
        assert found.query.tolist() == [0, 1]
        assert found.first.tolist() == [0, 2, 3]
    with pytest.raises(LogError, match="expected the size of a query"):
        read_svmlight(path, group=write(tmp_path / "long", f"{'9' * 5000}\n"))
    with pytest.raises(LogError, match=r"sizes for 4 documents, but .* has 3"):
        read_svmlight(path, group=write(tmp_path / "other", "2\n2\n"))
    with pytest.raises(LogError, match=r"other, line 2: expected the size of a query, 1 or more, found '-1'"):
        read_svmlight(path, group=write(tmp_path / "other", "2\n-1\n"))
    with pytest.raises(UsageError, match="1 files of query sizes for 2 data files"):
        read_svmlight([path, path], group=sizes)


def test_sizes_of_several_files_follow_each_other(tmp_path: Path) -> None:
    for name, sizes in (("a", "1\n2\n"), ("b", "2\n1\n")):
        write(tmp_path / name, "1 1:1\n" * 3)
        write(tmp_path / f"{name}.group", sizes)
    assert read_svmlight(tmp_path).first.tolist() == [0, 1, 3, 5, 6]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x qid:1 1:1", "a number at column 1, found 'x'"),
        ("nan qid:1 1:1", "a number at column 1, found 'nan'"),
        ("1 qid:a 1:1", "'qid:' and a whole number of at most 18 digits at column 3, found 'qid:a'"),
        ("1 qid: 1:1", "'qid:' and a whole number of at most 18 digits at column 3, found 'qid:'"),
        ("1 qid:1234567890123456789 1:1", "at most 18 digits at column 3"),
        ("1 qid:8 1:x", "a number at column 11, found 'x'"),
        ("1 qid:8 1:1_0", "a number at column 11, found '1_0'"),
        ("1 qid:8 1:", "whole number up to 100,000 at column 9, found '1:'"),
        ("1 qid:8 17", "whole number up to 100,000 at column 9, found '17'"),
        ("1 qid:8 a:1", "whole number up to 100,000 at column 9, found 'a:1'"),
        ("1 qid:8 1:1 qid:9", "whole number up to 100,000 at column 13, found 'qid:9'"),
        ("1 qid:8 2:1 2:3", "a higher index than that of the feature before it at column 13, found '2:3'"),
        ("1 qid:8 2:1 1:3", "a higher index"),
        ("1 qid:8 100001:1", "the index a whole number up to 100,000 at column 9"),
        ("1 qid:8 1234567890123:1", "a feature as 'index:value', the index a whole number up to 100,000 at"),
        ("1 1:1", "'qid:' in all lines or in none at column 3, found '1:1'"),
        ("1", "'qid:' in all lines or in none at column 2, found 'the end of the line'"),
    ],
)
def test_a_line_that_is_not_in_the_format(text: Path, line: str, said: str) -> None:
    with pytest.raises(LogError) as caught:
        read_svmlight(write(text, LETOR + line + "\n1 qid:77 1:1\n"))
    assert caught.value.message.startswith(f"{text}, line 6: expected ")
    assert said in caught.value.message
    assert caught.value.remedy


def test_a_query_that_comes_back(text: Path, tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"line 6: query 10 continues after other queries; it began in .*, line 2"):
        read_svmlight(write(tmp_path / "scattered.txt", LETOR + "1 qid:10 1:1\n"))
    with pytest.raises(LogError, match=r"b.txt, line 1: query 9 continues .* it began in .*set.txt, line 5"):
        read_svmlight([text, write(tmp_path / "b.txt", "1 qid:9 1:1\n")])


def test_arguments_that_cannot_work(text: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="base is 2"):
        read_svmlight(text, base=2)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="omit `group`"):
        read_svmlight(text, group=text)
    with pytest.raises(LogError, match="no log at"):
        read_svmlight(tmp_path / "none")
    with pytest.raises(EmptyLogError, match="has no documents"):
        read_svmlight(write(tmp_path / "comments.txt", "# nothing\n\n"))
    with pytest.raises(LogError, match="only query sizes"):
        read_svmlight(write(tmp_path / "a.query", "1\n"))


def test_progress_counts_bytes(text: Path, monkeypatch) -> None:
    monkeypatch.setattr(svmlight, "_BLOCK", 64)
    said: list[tuple[int, int]] = []
    read_svmlight(text, progress=lambda done, total: said.append((done, total)))
    assert len(said) > 2
    assert said == sorted(said)
    assert said[-1] == (len(LETOR), len(LETOR))


NUMBERS = st.one_of(
    st.floats().map(repr),
    st.from_regex(r"[+-]?[0-9]{1,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.from_regex(r"[+-]?\.[0-9]{1,12}(e-?[0-9])?", fullmatch=True),
    st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**9), max_value=10**9).map(str),
    st.sampled_from(["9007199254740992", "9007199254740993", "900719925474099.3e1", "1e22", "1e23", "1e-22", "1e-23"]),
    st.sampled_from(["99999999", "999999999", "0.00000001", "12345678.12345678", "12345678.", "inf", "-Infinity"]),
)


@given(st.lists(st.tuples(st.lists(NUMBERS, max_size=12), st.integers(0, 4)), min_size=1, max_size=6))
def test_numbers_are_those_of_python_to_the_last_bit(tmp_path_factory, rows) -> None:
    lines = [f"{grade} qid:3 " + " ".join(f"{i}:{word}" for i, word in enumerate(row, 1)) for row, grade in rows]
    found = read_svmlight(write(tmp_path_factory.mktemp("svmlight") / "a.txt", "\n".join(lines)))
    assert found.grade.tolist() == [grade for _, grade in rows]
    width = max(len(row) for row, _ in rows)
    assert found.features.shape == (len(rows), width)
    expected = [[*map(float, row), *[0.0] * (width - len(row))] for row, _ in rows]
    assert bits(found.features) == bits(np.array(expected).reshape(len(rows), width))


def test_the_same_as_scikit_learn(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    lines = []
    for query in np.repeat(np.arange(40), rng.integers(1, 12, 40)):
        index = np.flatnonzero(rng.random(30) < 0.6) + 1
        values = rng.choice([1, 1e3, 1e8, 1e-4], 30) * rng.normal(size=30)
        words = [f"{i}:{v:.{rng.integers(1, 18)}g}" for i, v in zip(index, values[index - 1], strict=True)]
        lines.append(f"{rng.integers(5)} qid:{query} {' '.join(words)}  # {query}:1")
    path = write(tmp_path / "random.txt", "\n".join(lines) + "\n")
    features, grade, query = load_svmlight_file(str(path), query_id=True)
    found = read_svmlight(path)
    assert bits(found.features) == bits(features.toarray())
    assert found.grade.tolist() == grade.tolist()
    assert found.query[found.owner].tolist() == query.tolist()


def test_a_round_trip_is_exact(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    features = rng.normal(size=(9, 5)) * 10.0 ** rng.integers(-300, 300, (9, 5))
    features[0] = [-0.0, 0.0, 1e8, -3.0, 5e-324]
    judged = Judged(np.array([7, 3, 5]), np.array([0, 4, 5, 9]), np.arange(9) / 2, features, np.arange(9))
    for name in ("a.txt", "a.txt.gz"):
        write_svmlight(judged, tmp_path / name)
        found = read_svmlight(tmp_path / name)
        assert found.query.tolist() == [7, 3, 5]
        assert found.first.tolist() == [0, 4, 5, 9]
        assert found.grade.tolist() == judged.grade.tolist()
        assert bits(found.features) == bits(features)
    assert gzip.decompress((tmp_path / "a.txt.gz").read_bytes()) == (tmp_path / "a.txt").read_bytes()
    assert (tmp_path / "a.txt").read_text().splitlines()[0] == "0 qid:7 1:-0 2:0 3:100000000 4:-3 5:5e-324"


def test_ids_below_0_are_not_written(tmp_path: Path) -> None:
    judged = Judged(np.array([-1]), np.array([0, 1]), np.zeros(1), np.zeros((1, 1)), np.zeros(1, np.int64))
    with pytest.raises(UsageError, match="query -1"):
        write_svmlight(judged, tmp_path / "a.txt")
    assert not list(tmp_path.iterdir())
