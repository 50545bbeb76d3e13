"""The four base rankers of paper slate-pseudoinverse (section 4.1): a lasso and a regression tree on two feature sets.

As in the published code, from which the text differs:

- The title set has the streams anchor and URL and the features of URLs and links; the body set has the streams body,
  title and whole document, and the quality scores. No ranker has the features of clicks.
- The candidates are the top m documents, at most, by the tree on the title set, learnt from all documents of all
  queries. All four rankers are then learnt again, from the candidates alone.
- Features are not normalised, and the intercept of the lasso is a penalised column of .01.

Unlike there, the five folds that choose penalty and depth are of whole queries, by a hash of the query, and ties are
broken by a hash of the document, so that nothing depends on the order of the data.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offrank.errors import UsageError, optional
from offrank.log.batch import Floats, Integers
from offrank.log.graded_queries import Judged
from offrank.log.hashing import hashed

LASSO_TITLE, TREE_TITLE, LASSO_BODY, TREE_BODY = RANKERS = ("lasso_title", "tree_title", "lasso_body", "tree_body")
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2)
DEPTHS = (3, 6, 9, 12, 15, 18)
FOLDS = 5

_CONSTANT = 0.01
_LARGEST = float(np.finfo(np.float32).max) / 4  # trees are learnt in single precision

Folds = list[tuple[NDArray[Any], NDArray[Any]]]
"""(rows to learn from, rows to test on) for each fold."""


@dataclass(frozen=True)
class FeatureSets:
    """The columns, from 0, of the title and of the body set; layout: what they were taken for."""

    layout: str
    title: tuple[int, ...]
    body: tuple[int, ...]

    @classmethod
    def of(cls, columns: int) -> FeatureSets:
        """Return the sets of a collection with so many features.

        They are MSLR's for 136 (56 and 77 columns), LETOR 4.0's for 46 (22 and 24), otherwise the first and the second
        half. The generated queries of `mslr_like` have 136 features in another order; by MSLR's sets their rankers
        overlap about as much as on MSLR (.26 to .53 of the top 10, published .25 to .52), the two lassos more (.40).

        Raises:
            UsageError: fewer than 2 columns.
        """
        if columns < 2:
            raise UsageError(f"{columns} features cannot be divided into two sets", "give documents with 2 or more")
        if columns == 136:
            return cls._streams("MSLR", 25, range(125, 131), range(131, 133))
        if columns == 46:
            return cls._streams("LETOR 4.0", 8, range(40, 46), range(0))
        half = columns // 2
        return cls("halves", tuple(range(half)), tuple(range(half, columns)))

    @classmethod
    def _streams(cls, layout: str, kinds: int, links: range, quality: range) -> FeatureSets:
        """Return the sets of kinds x (body, anchor, title, URL, whole document) and other columns."""
        title = [column for column in range(5 * kinds) if column % 5 in {1, 3}]
        body = [column for column in range(5 * kinds) if column % 5 in {0, 2, 4}]
        return cls(layout, (*title, *links), (*body, *quality))

    def design(self, name: str, features: Floats) -> Floats:
        """Return the columns of a ranker's set, after a constant one [rows, 1 + columns]; what is no number is 0."""
        columns = list(self.title if name in {LASSO_TITLE, TREE_TITLE} else self.body)
        return np.column_stack([np.full(len(features), _CONSTANT), finite(features[:, columns])])


@dataclass(frozen=True)
class RankedSets:
    """Candidates of queries and their scores by the four rankers: name -> [rows], the higher the better."""

    judged: Judged
    scores: Mapping[str, Floats]
    seed: int = 0

    @cached_property
    def ranks(self) -> dict[str, Integers]:
        """Return the rank, from 1, of each document among its query's: name -> [rows]."""
        return {name: ranks(self.judged, scores, name, self.seed) for name, scores in self.scores.items()}


def ranked_sets(judged: Judged, documents: int, seed: int = 0) -> RankedSets:
    """Reduce queries to their top documents, `documents` at most, and learn the four rankers from those.

    Raises:
        UsageError: as `base_rankers` and `filtered`.
        MissingExtraError: scikit-learn is not installed.
    """
    kept = filtered(judged, documents, seed)
    return RankedSets(kept, base_rankers(kept, seed), seed)


def filtered(judged: Judged, documents: int, seed: int = 0) -> Judged:
    """Keep the top documents of each query, `documents` at most, by the tree on the title set; in the same order.

    Raises:
        UsageError: fewer than 1 document; as `base_rankers`.
        MissingExtraError: scikit-learn is not installed.
    """
    if documents < 1:
        raise UsageError(f"documents is {documents!r}", "give at least 1")
    if judged.sizes.max(initial=0) <= documents:
        return judged
    rank = ranks(judged, base_rankers(judged, seed, (TREE_TITLE,))[TREE_TITLE], TREE_TITLE, seed)
    return judged.pick(np.arange(len(judged)), np.minimum(judged.sizes, documents), np.flatnonzero(rank <= documents))


def base_rankers(judged: Judged, seed: int = 0, names: tuple[str, ...] = RANKERS) -> dict[str, Floats]:
    """Learn rankers of the grade from all queries, and score the same queries: name -> [rows].

    There is no held-out part, as in the paper; the folds only choose the penalty and the depth.

    Raises:
        UsageError: fewer than 2 queries, or fewer than 2 features.
        MissingExtraError: scikit-learn is not installed.
    """
    if len(judged) < 2:
        raise UsageError(f"there are {len(judged)} queries to learn rankers from", "give at least 2")
    sets = FeatureSets.of(judged.features.shape[1])
    folds = _folds(judged, seed)
    found = dict[str, Floats]()
    for name in names:
        design = sets.design(name, judged.features)
        is_lasso = name in {LASSO_TITLE, LASSO_BODY}
        found[name] = _lasso(design, judged.grade, folds) if is_lasso else _tree(design, judged.grade, folds, seed)
    return found


def ranks(judged: Judged, scores: Floats, name: str, seed: int = 0) -> Integers:
    """Return the rank, from 1, of each document among its query's [rows].

    Ties are broken by a hash of the query, the document, the ranker's name and the seed: the same each time,
    and as good as random among tied documents.
    """
    codes = judged.document.astype(np.uint64) ^ hashed(_key(name, seed) ^ judged.query.astype(np.uint64))[judged.owner]
    order = np.lexsort((hashed(codes), -scores, judged.owner))
    found = np.empty(judged.rows, np.int64)
    found[order] = np.arange(judged.rows) - judged.first[judged.owner] + 1
    return found


def finite(features: Floats) -> Floats:
    """Return features as trees can take them: in the range of single precision, and 0 for what is no number."""
    found = np.nan_to_num(features, nan=0.0)
    return np.clip(found, -_LARGEST, _LARGEST, out=found)


def parts(judged: Judged, count: int, name: str, seed: int) -> Integers:
    """Divide the queries into equally large parts, 0 to count - 1, by a hash of the query, a name and the seed [q]."""
    found = np.empty(len(judged), np.int64)
    found[np.argsort(hashed(judged.query.astype(np.uint64) ^ _key(name, seed)), kind="stable")] = (
        np.arange(len(judged)) % count
    )
    return found


def _key(name: str, seed: int) -> NDArray[np.uint64]:
    """Return a code of a name and a seed [1]."""
    word = np.frombuffer(name.encode().ljust(16, b"\0")[:16], np.uint64)
    return hashed(hashed(word[:1] ^ np.uint64(seed % 2**64)) ^ word[1:])


def _folds(judged: Judged, seed: int) -> Folds:
    """Divide the rows into folds of whole queries, by a hash of the query and the seed."""
    of_row = parts(judged, FOLDS, "folds", seed)[judged.owner]
    return [(np.flatnonzero(of_row != one), np.flatnonzero(of_row == one)) for one in range(min(FOLDS, len(judged)))]


def _lasso(design: Floats, grade: Floats, folds: Folds) -> Floats:
    """Return predictions by a lasso without intercept, its penalty of least squared error on the held-out folds."""
    library = optional("sklearn.linear_model", "the base rankers need scikit-learn", "models")
    model = library.LassoCV(alphas=PENALTIES, fit_intercept=False, cv=folds, max_iter=3000, precompute=True)
    with warnings.catch_warnings():  # on raw features it seldom converges in the published number of steps
        warnings.simplefilter("ignore")
        model.fit(design, grade)
    return np.asarray(model.predict(design), np.float64)


def _tree(design: Floats, grade: Floats, folds: Folds, seed: int) -> Floats:
    """Return predictions by a randomised regression tree, its depth of least squared error on the held-out folds.

    A tree cut at a depth has the law of one grown to it, so that each fold grows only the deepest.
    """
    library = optional("sklearn.tree", "the base rankers need scikit-learn", "models")
    single = design.astype(np.float32)

    def grown(depth: int, rows: NDArray[Any] | slice) -> Any:
        model = library.DecisionTreeRegressor(
            splitter="random", max_depth=depth, min_samples_split=4, min_samples_leaf=4, random_state=seed
        )
        return model.fit(single[rows], grade[rows])

    errors = np.zeros(len(DEPTHS))
    for rows, held in folds:
        cut = _cut(grown(DEPTHS[-1], rows).tree_, single[held])
        errors += [float(np.sum((grade[held] - predicted) ** 2)) for predicted in cut]
    return np.asarray(grown(DEPTHS[int(errors.argmin())], slice(None)).predict(single), np.float64)


def _cut(tree: Any, design: NDArray[np.float32]) -> Iterator[Floats]:
    """Yield predictions of a tree cut at each of the depths [rows]."""
    node = np.zeros(len(design), np.int64)
    for depth in range(1, DEPTHS[-1] + 1):
        inner = np.flatnonzero(tree.children_left[node] >= 0)
        at = node[inner]
        left = design[inner, tree.feature[at]] <= tree.threshold[at]
        node[inner] = np.where(left, tree.children_left[at], tree.children_right[at])
        if depth in DEPTHS:
            yield tree.value[node, 0, 0]
