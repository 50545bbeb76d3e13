"""The ranker that served each row, told by a column: the arms of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..errors import RowError, UsageError
from ..language.spelling import Spelled, spell
from ..log.batch import Booleans, Contexts, Floats, Integers, LogBatch
from ..log.hashing import text_code
from ..log.source import Ability, Needs
from .base import Policy, put_rows, refuse_no_column, refuse_no_policy
from .policy_mixture import frozen
from .propensities import Propensities, ShownPolicy, propensities
from .rank_law import RankLaw
from .registry import POLICIES


@POLICIES.register
@dataclass(frozen=True, repr=False)
class By(Spelled, ShownPolicy):
    """A policy for each value of a column, where the column says which ranker served a row.

    Parameters:
        column: whose value says which policy served a row.
        policies: value -> policy. Values are words, whole numbers, or True and False. A row with another value is
            refused.

    Raises:
        UsageError: two policies for one value.

    Examples:
        >>> offrank.By("arm", {"A": offrank.Top("a_score"), "B": offrank.Top("b_score")})
        by(arm, {A: top(a_score), B: top(b_score)})
    """

    name: ClassVar[str] = "by"
    column: str
    policies: Mapping[str, Policy]

    def __post_init__(self) -> None:
        refuse_no_column(self, self.column)
        object.__setattr__(self, "policies", frozen(self.policies, "by(arm, {A: top(a_score), B: top(b_score)})"))
        refuse_no_policy(self, *self.policies.values())
        words = [_word(self, value) for value in self.policies]
        if twice := [word for word in words if words.count(word) > 1]:
            raise UsageError(f"{self!r}: two policies for {twice[0]!r}", "give each value of the column one policy")

    @property
    def any_slate(self) -> bool:
        return all(part.any_slate for part in self.policies.values())

    @property
    def sorts(self) -> bool:
        return any(part.sorts for part in self.policies.values())

    @property
    def rankers(self) -> By:
        return self

    @property
    def column_read(self) -> Needs:
        """The column, as codes and, for errors, as words."""
        return Needs(keys=frozenset([self.column]), labels=frozenset([self.column]), exchangeable=True)

    def reads(self, ability: Ability) -> Needs:
        return self.reads_of(self.policies.values(), ability) | self.column_read

    def sample(self, contexts: Contexts, rng: np.random.Generator) -> Integers:
        """[n, k] candidate indices, -1 pads."""
        slates = np.full((len(contexts), contexts.slots), -1)
        for rows, part in self.served(contexts):
            drawn = part.law("sample").sample(contexts.take(rows), rng)
            slates[rows, : drawn.shape[1]] = drawn
        return slates

    def rank_probs(self, contexts: Contexts, items: Integers) -> Floats:
        """[n, q, k] probability that candidate items[n, q] is at each rank; 0 on pads."""
        found = np.zeros((*items.shape, contexts.slots))
        for rows, part in self.served(contexts):
            put_rows(found, rows, part.law("rank_probs").rank_probs(contexts.take(rows), items[rows]))
        return found

    def pair_probs(self, contexts: Contexts) -> Floats:
        """As `Policy.pair_probs`, by the policy of each row."""
        size = contexts.candidates.shape[1], contexts.slots
        found = np.zeros((len(contexts), *size, *size))
        for rows, part in self.served(contexts):
            put_rows(found, rows, part.law("pair_probs").pair_probs(contexts.take(rows)))
        return found

    def shown_slate(self, batch: LogBatch) -> Floats:
        return self._joined(batch, (), lambda part: part.log_prob)

    def shown_slots(self, batch: LogBatch) -> Floats:
        return self._joined(batch, batch.slates.shape[1:], lambda part: part.slot_probs, 1.0)

    def shown_ranks(self, batch: LogBatch) -> RankLaw:
        slots = batch.slates.shape[1]
        law = self._joined(batch, (slots, slots), lambda part: part.rank_law.written_out(part.batch.contexts.length))
        return RankLaw.of(law)

    def for_rows(self, batch: LogBatch) -> Policy:
        self.refuse_unknown(batch)
        return self

    def tied(self, batch: LogBatch) -> Booleans:
        found = np.zeros(len(batch), np.bool_)
        for rows, part in self.served(batch.contexts):
            found[rows] = part.tied(batch.take(rows))
        return found

    def arms(self, contexts: Contexts) -> Integers:
        """[n] the number of each row's policy among `policies`; -1 where the value has none."""
        codes, numbers = self._codes
        found = contexts.keys[self.column]
        place = np.minimum(np.searchsorted(codes, found), len(codes) - 1)
        return np.where(codes[place] == found, numbers[place], -1)

    def served(self, contexts: Contexts) -> Iterator[tuple[Integers, Policy]]:
        """The rows of each value that occurs, and its policy.

        Raises:
            UsageError: a value has no policy.
        """
        arms = self.arms(contexts)
        if (arms < 0).any():
            code = contexts.keys[self.column][(arms < 0).argmax()]
            raise UsageError(f"{self!r}: no policy for the value of {self.column!r} with the code {code}", self._remedy)
        for number, part in enumerate(self.policies.values()):
            if len(rows := np.flatnonzero(arms == number)):
                yield rows, part

    def refuse_unknown(self, batch: LogBatch) -> None:
        """Raise unless every row has a value with a policy.

        Raises:
            RowError: one has none.
        """
        if self.column not in batch.contexts.keys:  # no probability is asked for, so the column was not read
            return
        unknown = self.arms(batch.contexts) < 0
        if unknown.any():
            at = int(unknown.argmax())
            labels, code = batch.labels.get(self.column), batch.contexts.keys[self.column][at]
            value = str(code) if labels is None else labels.names[labels.codes[at]]
            row, detail = int(batch.row[at]) - batch.base, f"no policy is given for {value!r}"
            raise RowError(batch.file, row, self.column, "no-policy", detail, self._remedy)

    @property
    def _remedy(self) -> str:
        known = ", ".join(map(spell, self.policies))
        return f"name the ranker of every value (known: {known}), or remove the other rows"

    @cached_property
    def _codes(self) -> tuple[Integers, Integers]:
        """The codes of the values, ascending, and the number of each one's policy."""
        found = {}
        for number, value in enumerate(self.policies):
            word = _word(self, value)
            found[text_code(word)] = number
            if word.removeprefix("-").isdecimal() and str(int(word)) == word:
                found[int(word)] = number
        codes = np.array(sorted(found), np.int64)
        return codes, np.array([found[code] for code in codes.tolist()])

    def _joined(
        self, batch: LogBatch, shape: tuple[int, ...], of: Callable[[Propensities], Floats], pad: float = 0.0
    ) -> Floats:
        """[n, ...] what the policy of each row says of the shown slates."""
        found = np.full((len(batch), *shape), pad)
        for rows, part in batch.once(("parts", id(self)), lambda: (self, self._parts(batch)))[1]:
            put_rows(found, rows, of(part))
        return found

    def _parts(self, batch: LogBatch) -> list[tuple[Integers, Propensities]]:
        return [(rows, propensities(part, batch.take(rows))) for rows, part in self.served(batch.contexts)]


def _word(policy: By, value: object) -> str:
    """The text of a value, as a column of texts holds it."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int):
        raise UsageError(f"{policy!r}: {value!r} cannot be the value of a column", "use words or whole numbers")
    return str(value)
