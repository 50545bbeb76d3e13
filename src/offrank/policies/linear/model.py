"""The weights of a linear scorer, and the one file that they are kept in."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import UsageError
from ...files import atomic_write
from ...folds.fingerprint import Fingerprint
from ...log.batch import Contexts, Floats
from .encoding import Encoding

_FORMAT = 1


@dataclass(frozen=True)
class Model:
    """score = features . weights. weights: [encoding.size]. facts: how it was learnt, for people.

    training: the rows that were learnt from or chosen by; None where nobody wrote them down.
    """

    encoding: Encoding
    weights: Floats
    facts: Mapping[str, Any] = field(default_factory=dict)
    training: Fingerprint | None = None

    def scores(self, contexts: Contexts) -> Floats:
        """[n, m] of each candidate."""
        scores = self.encoding.lines(contexts).scores(self.weights)
        wide = contexts.candidates.shape[1] - scores.shape[1]
        return np.pad(scores, ((0, 0), (0, wide))) if wide else scores

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one `.npz`, whole or not at all; only what differs from its default takes room."""
        encoding = self.encoding
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
                **self._training(),
            )

    def _training(self) -> dict[str, Any]:
        found = self.training
        if found is None:
            return {}
        return {"rows": np.array(found.rows), "row_keys": found.keys.view(np.int64), "row_counts": found.counts}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """Read what `save` wrote; nothing in the file is executed.

        Raises:
            UsageError: no such file, or not one of ours.
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
