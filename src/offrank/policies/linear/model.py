"""A linear scorer: the encoding of features as coordinates, their weights, and the file for both."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ...files import atomic_write
from ...folds.fingerprint import Fingerprint
from ...log.batch import Contexts, Floats, Integers
from . import _kernels

_FORMAT = 1


@dataclass(frozen=True)
class Lines:
    """Encoded features, a line per candidate.

    starts: [n + 1]; row i has the lines starts[i] : starts[i + 1]. offsets: [lines + 1]; line l has the
    coordinates indices[offsets[l] : offsets[l + 1]], with `values` beside them.
    """

    starts: Integers
    offsets: Integers
    indices: NDArray[np.int32]
    values: Floats

    def scores(self, weights: Floats) -> Floats:
        """[n, m] score of each candidate, zeros beyond a row's candidates."""
        out = np.zeros((len(self.starts) - 1, int(np.diff(self.starts).max(initial=0))))
        _kernels.padded_scores(self.starts, self.offsets, self.indices, self.values, weights, out)
        return out

    def survey(self, seen: NDArray[np.bool_], differs: NDArray[np.bool_], largest: Floats) -> None:
        """Mark the features that occur, those that differ within a row, and the largest absolute value of each."""
        size = len(seen)
        number, count, total, low, high = np.full(size, -1), np.full(size, -1), *np.zeros((3, size))
        given = (self.starts, self.offsets, self.indices, self.values)
        _kernels.survey(*given, seen, differs, largest, total, number, count, low, high)


@dataclass(frozen=True)
class Encoding:
    """The coordinate of each feature: its index if below 2^bits, else a hash of it.

    - context: [2^bits] features of the context, the same for all candidates of every impression.
    - cross: whether each feature of a candidate is multiplied by each of the context's too; a linear scorer
      ignores the context otherwise.
    - scale: [2^bits] each feature's values are multiplied by it.
    """

    bits: int
    context: NDArray[np.bool_]
    scale: Floats
    cross: bool = False

    @classmethod
    def plain(cls, bits: int) -> Encoding:
        """The default encoding of features.

        Raises:
            UsageError: a table that is too small or too large.
        """
        if not 1 <= bits <= 28:
            raise UsageError(f"bits is {bits}", "give between 1 and 28: weights are a table of 2^bits numbers")
        return cls(bits, np.zeros(1 << bits, dtype=np.bool_), np.ones(1 << bits))

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return 1 << self.bits

    def lines(self, contexts: Contexts) -> Lines:
        """The candidates' encoded features.

        Raises:
            UsageError: the log's features were not read.
        """
        found = contexts.features
        if found is None:
            raise UsageError(
                "a linear policy needs the features of the candidates",
                "give a log with a column `features`, or name it with columns={'features': ...}",
            )
        given = (found.first, contexts.size, found.offsets, found.indices)
        offsets = _kernels.line_offsets(*given, self.bits, self.context, self.cross)
        indices, values = np.empty(offsets[-1], dtype=np.int32), np.empty(offsets[-1])
        how = (self.bits, self.context, self.cross, self.scale)
        _kernels.encode(*given, found.values, *how, offsets, indices, values)
        return Lines(np.concatenate([[0], np.cumsum(contexts.size)]), offsets, indices, values)


@dataclass(frozen=True)
class Model:
    """A linear model, score = features . weights. weights: [encoding.size]. facts: how it was learnt, for people.

    training: the rows used for learning or selection; None if not recorded.
    """

    encoding: Encoding
    weights: Floats
    facts: Mapping[str, Any] = field(default_factory=dict)
    training: Fingerprint | None = None

    def scores(self, contexts: Contexts) -> Floats:
        """[n, m] score of each candidate."""
        scores = self.encoding.lines(contexts).scores(self.weights)
        wide = contexts.candidates.shape[1] - scores.shape[1]
        return np.pad(scores, ((0, 0), (0, wide))) if wide else scores

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one `.npz` file atomically; only values that differ from their default take space."""
        encoding, rows = self.encoding, self.training
        training: dict[str, Any] = {}
        if rows is not None:
            training = {"rows": np.array(rows.rows), "row_keys": rows.keys.view(np.int64), "row_counts": rows.counts}
        used, scaled = np.flatnonzero(self.weights), np.flatnonzero(encoding.scale != 1)
        with atomic_write(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(
                file,
                format=np.array([_FORMAT, encoding.bits, encoding.cross]),
                indices=used,
                weights=self.weights[used],
                scaled=scaled,
                scale=encoding.scale[scaled],
                context=np.flatnonzero(encoding.context),
                facts=np.frombuffer(json.dumps(dict(self.facts)).encode(), dtype=np.uint8),
                **training,
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read what `save` wrote; nothing in the file is executed.

        Raises:
            UsageError: no such file, or not a saved model.
        """
        try:
            with np.load(path, allow_pickle=False) as found:
                return cls._read(found, path)
        except UsageError:
            raise
        except FileNotFoundError as error:
            raise UsageError(f"there is no policy {str(path)!r}", "write one with `offrank learn`") from error
        except (KeyError, IndexError, ValueError, zipfile.BadZipFile, EOFError) as error:
            raise UsageError(f"{str(path)!r} is not a learnt policy", "write one with `offrank learn`") from error

    @classmethod
    def _read(cls, found: Mapping[str, Any], path: str | os.PathLike[str]) -> Model:
        version, bits, cross = (int(number) for number in found["format"])
        if version != _FORMAT:
            raise UsageError(f"{path} is of format {version}", f"this offrank reads format {_FORMAT}")
        plain = Encoding.plain(bits)
        plain.context[found["context"]] = True
        plain.scale[found["scaled"]] = found["scale"]
        weights = np.zeros(plain.size)
        weights[found["indices"]] = found["weights"]
        facts = json.loads(found["facts"].tobytes())
        training = None
        if "rows" in found:
            training = Fingerprint.read(None, True, int(found["rows"]), found["row_keys"], found["row_counts"])
        return cls(Encoding(bits, plain.context, plain.scale, bool(cross)), weights, facts, training)
