"""Combinations that are known to break a relation, each with the reason; to be deleted when it is mended.

A combination that is not listed fails its test, and so does an entry that nothing breaks any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tests.metamorphic.asked import Pair


@dataclass(frozen=True)
class Known:
    """reason: why. The others are patterns, as of file names.

    logging: of `evaluate`. target: of `evaluate`; of other verbs what they are asked about, a policy or a method.
    """

    reason: str
    relation: str
    verb: str = "evaluate"
    shape: str = "*"
    logging: str = "*"
    target: str = "*"
    estimator: str = "*"

    def concerns(self, verb: str, relation: str, shape: str, logging: str) -> bool:
        """Whether a test must meet it."""
        asked = ((verb, self.verb), (relation, self.relation), (shape, self.shape), (logging, self.logging))
        return all(fnmatchcase(word, pattern) for word, pattern in asked)

    def is_about(self, target: str) -> bool:
        """Whether it may be met where this is asked about."""
        return fnmatchcase(target, self.target)

    def explains(self, pair: Pair) -> bool:
        """Whether it is the reason for one combination of target and estimator."""
        return fnmatchcase(pair[0], self.target) and fnmatchcase(pair[1], self.estimator)


ADAGRAD = "Adagrad takes batches, and a row's candidates, one after another"

KNOWN: tuple[Known, ...] = (
    Known(ADAGRAD, "candidates*", "learn", shape="partial", target="regression"),
    Known(ADAGRAD, "rows*", "learn", shape="partial", target="regression"),
    Known(ADAGRAD, "candidates*", "learn", shape="single"),
    Known(ADAGRAD, "rows*", "learn", shape="single"),
)


def unexpected(found: Mapping[Pair, str], concerned: Iterable[Known]) -> list[str]:
    """What is broken and not known, and what is known and not broken."""
    concerned = list(concerned)
    new = [f"{pair}: {what}" for pair, what in found.items() if not any(known.explains(pair) for known in concerned)]
    mended = [f"not needed any more: {known}" for known in concerned if not any(map(known.explains, found))]
    return new + mended


def concerning(verb: str, relation: str, shape: str, logging: str = "") -> list[Known]:
    """The entries that a test must meet."""
    return [known for known in KNOWN if known.concerns(verb, relation, shape, logging)]
