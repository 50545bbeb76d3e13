"""Contexts of the world of adverts: banners, candidates with 35 features, their relevance and logging scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from offrank.log.batch import Contexts, Floats, Integers, SparseFeatures
from offrank.readers.formats.criteo import category_indices

# Number of values of features 4, 6, 7, 8, 9, 10 (user and place; 1, 2, 3 and 5 identify the banner).
_USER = {4: 20, 6: 4, 7: 30, 8: 100, 9: 40, 10: 3}
# Number of values of features 11 to 35 (product); those of _SEVERAL have up to that many values at once.
_PRODUCT = (2, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 8, 12, 16, 24, 24, 30, 30, 40, 8, 12, 50, 70, 80, 100)
_FIRST_PRODUCT = 11
_SEVERAL = {24: 3, 26: 2, 27: 2}
_HABITUAL = (11, 12, 13, 14)  # more frequent in products offered to willing users, but clicked less
_CROSSED = (6, 30)  # a user feature and a product feature that interact
_ABSENT = 0.15  # how often features above 16 are empty
_CLICK_RATE = {1: 54e-4, 2: 53e-4, 3: 64e-4, 4: 141e-4, 5: 126e-4, 6: 91e-4}  # Tables 2 to 4 of the paper
_SIZES = ((300, 250), (728, 90), (160, 600), (468, 60), (120, 600), (970, 250))
_KINDS = 8  # banner types with the same number of slots
_WILLING = 1.6  # standard deviation of the logarithm of a user's willingness to click

_MEMBERS = tuple(f for f in range(_FIRST_PRODUCT, _FIRST_PRODUCT + 25) for _ in range(_SEVERAL.get(f, 1)))
"""The feature that each member of a product's description belongs to."""


@dataclass(frozen=True)
class Pool:
    """`size` contexts for banners of `slots` products, numbered from `first`; see AdvertWorld."""

    slots: int
    size: int
    first: int
    seed: int
    sharpness: float
    bits: int

    def contexts(self, rows: Integers) -> Contexts:
        """Return some of the contexts, or one repeated."""
        return self._contexts.take(rows)

    @cached_property
    def candidates(self) -> Integers:
        """Return the number of candidates of each context [size]."""
        return self._rng(0).integers(5 * self.slots, 10 * self.slots + 1, size=self.size)

    @cached_property
    def willing(self) -> Floats:
        """Return the logarithm of each user's willingness to click, which no feature reveals [size]."""
        return _WILLING * self._rng(1).normal(size=self.size)

    @cached_property
    def user(self) -> dict[int, Integers]:
        """Return feature -> [size] value, for the features of banner and user."""
        rng = self._rng(2)
        kind = np.minimum(rng.geometric(0.35, size=self.size), _KINDS) - 1
        width, height = np.array(_SIZES)[kind % len(_SIZES)].T
        banner = {1: width, 2: height, 3: kind // 2, 5: np.full(self.size, self.slots)}
        users = {feature: rng.integers(values, size=self.size) for feature, values in _USER.items()}
        return dict(sorted((banner | users).items()))

    @cached_property
    def product(self) -> Integers:
        """Return the value of each member of a product's description, -1 if absent [size, widest, members]."""
        rng, shape = self._rng(3), (self.size, 10 * self.slots)
        found = np.empty((*shape, len(_MEMBERS)), np.int64)
        for member, feature in enumerate(_MEMBERS):
            if feature in _HABITUAL:
                often = 1 / (1 + np.exp(-1.5 * self.willing / _WILLING))
                found[..., member] = rng.random(shape) < often[:, None]
                continue
            values = _PRODUCT[feature - _FIRST_PRODUCT]
            found[..., member] = values * rng.random(shape) ** 1.3
            if feature > 16 or _MEMBERS.index(feature) != member:
                found[..., member][rng.random(shape) < (0.5 if feature in _SEVERAL else _ABSENT)] = -1
        for feature in _SEVERAL:  # repeated values are a count, and are adjacent
            of = np.flatnonzero(np.array(_MEMBERS) == feature)
            found[..., of] = np.sort(found[..., of], axis=2)[..., ::-1]
        return found

    @cached_property
    def relevance(self) -> Floats:
        """Return the probability of a click if examined; 0 beyond a context's candidates [size, widest]."""
        appeal = np.exp(self._linear + self._crossed + self.willing[:, None])
        usual = _CLICK_RATE[self.slots] / rank_examination(self.slots).sum()
        return np.where(self._real, np.minimum(usual * appeal / appeal[self._real].mean(), 1 / self.slots), 0.0)

    @cached_property
    def table(self) -> pa.Table:
        """Return the logged columns of each context, in the wide layout."""
        ends = np.concatenate([[0], np.cumsum(self.candidates)]).astype(np.int32)
        sparse = self._features
        lines = sparse.offsets.astype(np.int32)
        flat = {"features": sparse.indices.astype(np.int32), "feature_values": sparse.values.astype(np.float32)}
        beside = {name: pa.ListArray.from_arrays(lines, pa.array(values)) for name, values in flat.items()}
        beside |= {
            "candidates": pa.array(self._contexts.candidates[self._real]),
            "old_score": pa.array(self._scores[self._real]),
        }
        columns = {name: pa.ListArray.from_arrays(ends, values) for name, values in beside.items()}
        names = [f"{w}x{h}/{f3}/{f5}" for w, h, f3, f5 in zip(*(self.user[f] for f in (1, 2, 3, 5)), strict=True)]
        whole = {"query": self.first + np.arange(self.size), "slots": np.full(self.size, self.slots), "banner": names}
        return pa.table(columns | whole)

    @cached_property
    def texts(self) -> tuple[list[str], list[list[str]]]:
        """Return the features in the paper's format: of each banner, and of each of its candidates."""
        users = np.array(list(self.user.values())).T.tolist()
        heads = [" ".join(f"{f}:{v}" for f, v in zip(self.user, values, strict=True)) for values in users]
        tokens = _tokens()
        lines = [
            [" ".join(tokens[member][value] for member, value in enumerate(line) if value >= 0) for line in row[:m]]
            for row, m in zip(self.product.tolist(), self.candidates.tolist(), strict=True)
        ]
        return heads, lines

    @cached_property
    def _real(self) -> np.ndarray:
        """Return where there is a candidate [size, widest]."""
        return np.arange(10 * self.slots) < self.candidates[:, None]

    @cached_property
    def _linear(self) -> Floats:
        """Return the part of the log-relevance that is a sum over features [size, widest]."""
        effects = _effects(self.seed)
        found = np.zeros(self.product.shape[:2])
        for member, effect in enumerate(effects):
            found += effect[self.product[..., member]]
        return found

    @cached_property
    def _crossed(self) -> Floats:
        """Return the part that depends on the interaction of user and product features [size, widest]."""
        of_user, of_product = _CROSSED
        effect = 0.3 * np.random.default_rng([self.seed, 5]).normal(
            size=(_USER[of_user], _PRODUCT[of_product - _FIRST_PRODUCT] + 1)
        )
        value = self.product[..., _MEMBERS.index(of_product)]
        return np.asarray(effect[self.user[of_user][:, None], value])

    @cached_property
    def _scores(self) -> Floats:
        """Return the logging policy's Plackett-Luce weights, which partly reflect relevance [size, widest]."""
        habit = self._rng(4).normal(size=self._linear.shape)
        return np.where(self._real, np.exp(self.sharpness * (0.4 * self._linear + 0.7 * habit)), 0.0)

    @cached_property
    def _contexts(self) -> Contexts:
        query = self.first + np.arange(self.size)
        items = np.where(self._real, query[:, None] * 100 + np.arange(10 * self.slots), 0)
        length = np.full(self.size, self.slots)
        scores = {"old_score": self._scores}
        return Contexts(items, self.candidates, length, scores, keys={"query": query}, features=self._features)

    @cached_property
    def _features(self) -> SparseFeatures:
        """Return features as the paper format's reader does: numbers at indices 0 and 1, categories hashed."""
        categories = {f: values for f, values in self.user.items() if f > 2}
        numeric = np.array([self.user[1], self.user[2]]).T
        of_user = np.array(
            [category_indices(_tokens_of(f, int(v.max()) + 1), self.bits)[v] for f, v in categories.items()]
        ).T
        of_user = np.hstack([np.broadcast_to([0, 1], numeric.shape), of_user])
        user_values = np.hstack([numeric, np.ones((self.size, of_user.shape[1] - 2))])
        shape = (*self._real.shape, of_user.shape[1])
        tables = [category_indices(tokens, self.bits) for tokens in _tokens()]
        product = np.stack([index[self.product[..., member]] for member, index in enumerate(tables)], axis=2)
        indices = np.concatenate([np.broadcast_to(of_user[:, None], shape), product], axis=2)
        counts = np.concatenate([np.broadcast_to(user_values[:, None], shape), self._product_counts()], axis=2)
        indices, counts = indices[self._real], counts[self._real]
        offsets = np.concatenate([[0], np.cumsum((counts > 0).sum(axis=1))])
        first = np.concatenate([[0], np.cumsum(self.candidates)[:-1]])
        return SparseFeatures(first, offsets, indices[counts > 0], counts[counts > 0])

    def _product_counts(self) -> Floats:
        """Return the count of a value; 0 if absent or counted at its first place [size, widest, members]."""
        counts = (self.product >= 0).astype(np.float64)
        for member in range(len(_MEMBERS) - 1, 0, -1):
            if _MEMBERS[member] == _MEMBERS[member - 1]:
                same = (self.product[..., member] == self.product[..., member - 1]) & (counts[..., member] > 0)
                counts[..., member - 1] += np.where(same, counts[..., member], 0.0)
                counts[..., member][same] = 0.0
        return counts

    def _rng(self, *words: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, 3, self.slots, *words])


def rank_examination(slots: int) -> Floats:
    """Return the examination probability of each rank [slots]."""
    return np.asarray(1.0 / (1 + 0.3 * np.arange(slots)))


def _tokens() -> list[list[str]]:
    """Return the token of each value, for each member."""
    return [_tokens_of(feature, _PRODUCT[feature - _FIRST_PRODUCT]) for feature in _MEMBERS]


def _tokens_of(feature: int, values: int) -> list[str]:
    return [f"{feature}:{value}" for value in range(values)]


def _effects(seed: int) -> list[Floats]:
    """Return the effect of each value on the log-relevance, for each member; the last is of no value."""
    found = []
    for feature in _MEMBERS:
        rng = np.random.default_rng([seed, 2, feature])
        values = _PRODUCT[feature - _FIRST_PRODUCT]
        effect = np.array([0.3, -0.3]) if feature in _HABITUAL else 0.1 * rng.normal(size=values)
        found.append(np.append(effect, 0.0))
    return found
