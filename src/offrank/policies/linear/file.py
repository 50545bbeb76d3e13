"""The file of a learnt policy, linear or boosted; nothing in it is executed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError
from ...language.files import is_sealed, regular
from ...language.outputs import refuse_output
from ...log.arrays import DAMAGED, load_arrays, save_arrays
from ...sums.fingerprint import Fingerprint
from .encoding import Encoding

T = TypeVar("T")

_FORMAT = 2
"""Files of format 1 have no checksum."""
_DAMAGED = (*DAMAGED, *(AttributeError, KeyError, IndexError, TypeError, OverflowError))
"""What reading another file, or a damaged one, raises."""


@dataclass(frozen=True)
class PolicyFile:
    """What the file of a policy holds: the encoding of features, and the arrays of its model by name.

    facts: how it was learnt, for people. training: the rows used for learning or selection; None if not recorded.
    """

    encoding: Encoding
    facts: Mapping[str, Any]
    training: Fingerprint | None
    arrays: Mapping[str, NDArray[Any]]

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write one `.npz` file atomically; only values of the encoding that differ from their default take space.

        Raises:
            UsageError: a file of others is there, and it is not to be replaced.
        """
        refuse_output(path, overwrite=overwrite)
        encoding, rows = self.encoding, self.training
        arrays: dict[str, Any] = dict(self.arrays)
        if rows is not None:
            arrays |= {"rows": np.array(rows.rows), "row_keys": rows.keys.view(np.int64), "row_counts": rows.counts}
        scaled = np.flatnonzero(encoding.scale != 1)
        about = {
            "format": np.array([_FORMAT, encoding.bits, encoding.cross]),
            "scaled": scaled,
            "scale": encoding.scale[scaled],
            "context": np.flatnonzero(encoding.context),
            "facts": np.frombuffer(json.dumps(dict(self.facts)).encode(), dtype=np.uint8),
        }
        save_arrays(path, about | arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], build: Callable[[PolicyFile], T]) -> T:
        """Read what `save` wrote, and build its model.

        Raises:
            UsageError: no such file, or not a saved model of this kind.
        """
        try:
            sealed = is_sealed(regular(path))  # first: what is damaged is not looked into
            return build(cls._read(load_arrays(path), sealed=sealed))
        except UsageError as error:
            raise UsageError(f"{str(path)!r} cannot be used: {error.message}", error.remedy) from error
        except FileNotFoundError as error:
            raise UsageError(f"there is no policy {str(path)!r}", "create one with `offrank learn`") from error
        except _DAMAGED as error:
            remedy = "create one with `offrank learn`, and name it as that command does: linear(...) or boosted(...)"
            why = f": {error}" if isinstance(error, ValueError) else ""
            raise UsageError(f"{str(path)!r} is not a learnt policy of this kind{why}", remedy) from error

    @classmethod
    def _read(cls, found: Mapping[str, Any], *, sealed: bool) -> PolicyFile:
        if any(array.dtype.kind not in "biuf" or not np.isfinite(array).all() for array in found.values()):
            raise ValueError("it contains a number that is not finite")
        version, bits, cross = (int(number) for number in found["format"])
        if not 1 <= version <= _FORMAT:
            raise UsageError(f"it has format {version}", f"this offrank reads format {_FORMAT}")
        if version > 1 and not sealed:
            raise ValueError("its checksum is missing")
        plain = Encoding.plain(bits)
        plain.context[found["context"]] = True
        plain.scale[found["scaled"]] = found["scale"]
        training = None
        if "rows" in found:
            training = Fingerprint.read(None, True, int(found["rows"]), found["row_keys"], found["row_counts"])
        encoding = Encoding(bits, plain.context, plain.scale, bool(cross))
        return cls(encoding, json.loads(found["facts"].tobytes()), training, found)
