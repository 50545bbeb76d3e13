"""Gamma, the second moments of slate indicators under the logging policy, and its pseudoinverse.

Coordinates are item * k + slot, k slots: Gamma = E[1_s 1_s'] [m k, m k] (paper slate-pseudoinverse,
Sec. 3.1). A slate fills each slot once, so Gamma is always singular; but its null space is known
without any decomposition, so that one Cholesky factor gives the pseudoinverse. Singular values
need not be separated from rounding errors, where general pseudoinverses fail here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import SupportError
from ...log.batch import Booleans, Floats, Integers
from . import _kernels
from ._kernels import ILL_CONDITIONED, TOLERANCE

IMPOSSIBLE = 1e-12  # a probability below this cannot be distinguished from zero
GAP = 1e4
SMALL = 160  # coordinates up to which a plain loop is faster than a library's threads


@dataclass(frozen=True)
class Inverse:
    """The pseudoinverse of Gamma, with the null space of slates that the logging policy cannot show.

    matrix: [m k, m k] Gamma^+. possible: [m k] whether an item can stand in a slot. null: [m k, d]
    orthonormal basis of the null space within the possible coordinates. whole: every order of every choice of
    items can be shown. candidates: m.
    """

    matrix: Floats
    possible: Booleans
    null: Floats
    whole: bool
    candidates: int

    def weights(self, wanted: Floats | Integers, shown: Integers) -> Floats:
        """[n] q' Gamma^+ 1_s, zero where the log does not identify the target (`supports`).

        wanted: [n, m k] expected indicators (floats), or [n, k] coordinates of one slate (integers).
        shown: [n, k] coordinates of the logged slates.
        """
        return Inverses([self]).weights(np.zeros(len(shown), np.int64), wanted, shown)

    def solve(self, wanted: Floats) -> Floats:
        """[n, m k] Gamma^+ q for expected indicators wanted [n, m k]: the weight of each shown item and slot."""
        return np.asarray(wanted @ self.matrix)

    def norms(self, shown: Integers) -> Floats:
        """[n] 1_s' Gamma^+ 1_s of slates by their coordinates [n, k]."""
        return np.asarray(_kernels.slate_weights(self.matrix[None], np.zeros(len(shown), np.int64), shown, shown))

    def action_rewards(self, shown: Integers, reward: Floats) -> Floats:
        """[n, m k] estimated reward of each item in each slot, Gamma^+ (reward 1_slate); shown [n, k].

        The mean over the impressions of a context estimates phi, up to what no slate can identify.
        """
        return np.asarray(self.matrix[shown].sum(axis=1) * reward[:, None])

    def supports(self, wanted: Floats | Integers) -> Booleans:
        """[n] whether q lies in the range of Gamma, so that additive rewards identify its value.

        Weaker than requiring that every slate of the target is possible (Assumption 2), and all that
        Proposition 1 needs.
        """
        if wanted.dtype != np.int64:
            return np.asarray(_kernels.supported(wanted, self.possible, self.null))
        if self.whole:
            return np.ones(len(wanted), np.bool_)
        inside = self.possible[wanted].all(axis=1)
        outside = self.null[wanted].sum(axis=1)
        return inside & (np.abs(outside) < TOLERANCE).all(axis=1)

    @cached_property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.matrix.nbytes + self.null.nbytes + self.possible.nbytes


@dataclass(frozen=True)
class Inverses:
    """Several inverses of the same size."""

    each: Sequence[Inverse]

    def weights(self, which: Integers, wanted: Floats | Integers, shown: Integers) -> Floats:
        """[n] q' Gamma^+ 1_s as `Inverse.weights`, by number which[n] for each row."""
        if not self.alike:
            out = np.empty(len(which))
            for number, one in enumerate(self.each):
                rows = np.flatnonzero(which == number)
                out[rows] = Inverses([one]).weights(np.zeros_like(rows), wanted[rows], shown[rows])
            return out
        kernel = _kernels.slate_weights if wanted.dtype == np.int64 else _kernels.expected_weights
        return np.where(self.each[0].supports(wanted), kernel(self.matrices, which, wanted, shown), 0.0)

    def tables(self, which: Integers, wanted: Floats | Integers) -> list[Floats]:
        """[m k] for each target, wanted as in `weights`: the weight of each shown item and slot; 0 without support."""
        pairs = list(zip(which.tolist(), wanted, strict=True))
        if wanted.dtype == np.int64:
            found = [self.each[place].matrix[target].sum(axis=0) for place, target in pairs]
        else:
            found = [target @ self.each[place].matrix for place, target in pairs]
        if self.alike:
            supported = self.each[0].supports(wanted)
        else:
            supported = np.array([self.each[place].supports(target[None])[0] for place, target in pairs])
        return [one if sure else np.zeros_like(one) for one, sure in zip(found, supported.tolist(), strict=True)]

    @cached_property
    def alike(self) -> bool:
        """Whether all have the same null space and possible items."""
        return len(self.each) == 1 or all(one.whole for one in self.each)

    @cached_property
    def matrices(self) -> Floats:
        """[g, m k, m k] the matrix of each."""
        return np.stack([one.matrix for one in self.each])


def pseudoinverses(gamma: Floats) -> list[Inverse]:
    """The pseudoinverse of each Gamma [g, m, k, m, k], as `pseudoinverse`."""
    m, k = gamma.shape[1:3]
    if m * k > SMALL:
        return [pseudoinverse(one) for one in gamma]
    possible = np.ones(m * k, np.bool_)
    whole, null = np.ascontiguousarray(gamma).reshape(-1, m * k, m * k), _known_null(possible.reshape(m, k))
    matrices = np.empty_like(whole)
    found = _kernels.invert_all(whole, null, IMPOSSIBLE, matrices)
    return [
        Inverse(matrix.copy(), possible, null, whole=True, candidates=m) if known else pseudoinverse(one)
        for matrix, known, one in zip(matrices, found.tolist(), gamma, strict=True)
    ]


def pseudoinverse(gamma: Floats) -> Inverse:
    """The pseudoinverse of Gamma [m, k, m, k], by one Cholesky factor.

    With D the marginals and N a basis of the null space, A = D^-1/2 Gamma D^-1/2 + Q Q', where Q is
    an orthonormal basis of D^1/2 N, is positive definite; D^-1/2 A^-1 D^-1/2, projected on the
    complement of N, is Gamma^+. Where not all orders of some items can be shown, the null
    space is larger: then it is found from the eigenvalues, if they leave a gap.

    Raises:
        SupportError: the eigenvalues leave no gap: nearly deterministic logging.
    """
    m, k = gamma.shape[:2]
    whole = np.ascontiguousarray(gamma).reshape(m * k, m * k)
    marginal = np.diagonal(whole)
    possible = marginal > IMPOSSIBLE
    part = whole if possible.all() else np.ascontiguousarray(whole[np.ix_(possible, possible)])
    root = np.sqrt(marginal[possible])
    null = _known_null(possible.reshape(m, k))
    inverse = _by_cholesky(part, root, null)
    if inverse is not None:
        full = bool(possible.all())
        return Inverse(_embed(inverse, possible), possible, _embed_rows(null, possible), full, m)
    inverse, null = _by_eigenvalues(part / root[:, None] / root, root)
    return Inverse(_embed(inverse, possible), possible, _embed_rows(null, possible), whole=False, candidates=m)


def _known_null(possible: Booleans) -> Floats:
    """[possible, d] orthonormal vectors orthogonal to every slate: constants per slot (and per item) of sum zero.

    If each item is possible in all slots or none, and there are as many slots as such items, every slate shows
    every item once: then constants per item are orthogonal too.
    """
    from scipy.linalg import helmert  # slow to import

    counts = possible.sum(axis=0)
    slots = len(counts)
    item, slot = np.nonzero(possible)
    shifts = np.ascontiguousarray((helmert(slots).T if slots > 1 else np.empty((1, 0)))[slot])
    if not (possible.all(axis=1) == possible.any(axis=1)).all():
        return _orthonormal(shifts)
    items = int(counts[0])
    shifts /= np.sqrt(items)
    if items > slots or items == 1:
        return shifts
    among = np.cumsum(possible.any(axis=1)) - 1
    return np.ascontiguousarray(np.hstack([shifts, helmert(items).T[among[item]] / np.sqrt(slots)]))


def _by_cholesky(gamma: Floats, root: Floats, null: Floats) -> Floats | None:
    """The pseudoinverse, or None where the null space is larger than the known one."""
    if len(gamma) <= SMALL:
        small = np.empty_like(gamma)
        return small if _kernels.pseudoinverse_of(gamma, null, small) else None
    unseen = _orthonormal(null * root[:, None])
    full = gamma / root[:, None] / root + unseen @ unseen.T
    size = np.abs(full).sum(axis=0).max()
    inverse, positive = _by_library(full)
    if not positive or size * np.abs(inverse).sum(axis=0).max() > ILL_CONDITIONED:
        return None
    inverse = _project(inverse / root[:, None] / root, null)
    marginal = np.diagonal(gamma)
    # Gamma Gamma^+ q = q for the logging policy's own q, as a check on the null space.
    return inverse if np.abs(gamma @ (inverse @ marginal) - marginal).max() < TOLERANCE else None


def _by_library(matrix: Floats) -> tuple[Floats, bool]:
    """The inverse of a large positive definite matrix, which is overwritten, and whether it is one."""
    from scipy.linalg import lapack  # slow to import

    factor, failed = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1)
    if failed:
        return factor, False
    lower, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    lower = np.tril(lower)
    return lower + np.tril(lower, -1).T, not failed


def _by_eigenvalues(scaled: Floats, root: Floats) -> tuple[Floats, Floats]:
    """The pseudoinverse and an orthonormal basis of the null space, from the eigenvalues."""
    from scipy.linalg import eigh  # slow to import

    values, vectors = eigh(scaled)
    seen = values > 1e-9 * values[-1]
    dropped = max(float(np.abs(values[~seen]).max(initial=0.0)), np.finfo(float).eps * len(values))
    if values[seen].min() < GAP * dropped:
        raise SupportError(
            "the logging policy is so close to deterministic that what it can show cannot be distinguished from "
            f"what it cannot (eigenvalues {values[seen].min():.1e} and {dropped:.1e} of the scaled second moments)",
            "use snips to evaluate a policy that is closer to the logging policy, or log more randomly",
        )
    null = _orthonormal(vectors[:, ~seen] / root[:, None])
    half = vectors[:, seen] / root[:, None]
    return _project((half / values[seen]) @ half.T, null), null


def _project(matrix: Floats, null: Floats) -> Floats:
    """P M P with P = I - N N', for symmetric M: makes any generalised inverse the Moore-Penrose one."""
    half = matrix - null @ (null.T @ matrix)
    return np.asarray(half - (half @ null) @ null.T)


def _orthonormal(vectors: Floats) -> Floats:
    return np.ascontiguousarray(np.linalg.qr(vectors)[0])


def _embed(matrix: Floats, possible: Booleans) -> Floats:
    """The matrix with zeros at the impossible coordinates."""
    if possible.all():
        return np.ascontiguousarray(matrix)
    out = np.zeros((len(possible), len(possible)))
    out[np.ix_(possible, possible)] = matrix
    return out


def _embed_rows(vectors: Floats, possible: Booleans) -> Floats:
    out = np.zeros((len(possible), vectors.shape[1]))
    out[possible] = vectors
    return out


# Uniform logging: the pseudoinverse in closed form, without any matrix


def solve_uniform(indicators: Floats) -> Floats:
    """[..., m, k] Gamma^+ q for q = indicators [..., m, k] (paper slate-pseudoinverse, Prop. 4).

    Constants per slot that add up to zero, and with k = m constants per item too, are projected out.
    """
    m, k = indicators.shape[-2:]
    by_slot = indicators.sum(axis=-2, keepdims=True)
    by_item = indicators.sum(axis=-1, keepdims=True)
    total = by_slot.sum(axis=-1, keepdims=True)
    if k < m:
        everywhere, item = 1 / k**2 - (m - 1) / (m * (m - k)), (m - 1) / (m - k)
    else:
        everywhere, item = 1 / m, -(m - 1) / m
    return np.asarray(everywhere * total + (m - 1) * indicators - (m - 1) / m * by_slot + item * by_item)


def action_rewards(slates: Integers, reward: Floats, candidates: int) -> Floats:
    """[n, m, k] estimated reward of each candidate in each slot, Gamma^+ (reward 1_slate).

    slates: [n, k] without pads, drawn uniformly from `candidates` items; reward: [n]. The mean over the
    impressions of a context estimates phi, up to what no slate can identify (constants per slot that add
    up to zero): a regression target for learning (paper slate-pseudoinverse, App. G). For k < m,
    reward * (1 / k - (m - 1) / (m - k) + (m - 1) 1{s_j = a} + (m - 1) / (m - k) 1{a in s}).
    """
    n, k = slates.shape
    shown = np.zeros((n, candidates, k))
    shown[np.arange(n)[:, None], slates, np.arange(k)] = 1.0
    return solve_uniform(shown) * reward[:, None, None]


@dataclass(frozen=True)
class UniformInverse:
    """Gamma^+ of uniform logging of k among m candidates, as a `gamma.Inverse` in closed form."""

    candidates: int
    slots: int

    def each(self, some: Integers) -> Iterator[tuple[Integers, UniformInverse]]:
        """As `inverses.Case.each`: all contexts have this inverse."""
        yield np.arange(len(some)), self

    def solve(self, wanted: Floats) -> Floats:
        """[n, m k] Gamma^+ q."""
        return solve_uniform(wanted.reshape(-1, self.candidates, self.slots)).reshape(wanted.shape)

    def supports(self, wanted: Floats) -> Booleans:
        """[n] whether q fills every slot alike, and every item where all are shown."""
        law = wanted.reshape(-1, self.candidates, self.slots)
        even = np.ptp(law.sum(axis=1), axis=1) < TOLERANCE
        return even & (np.ptp(law.sum(axis=2), axis=1) < TOLERANCE) if self.slots == self.candidates else even

    def norms(self, shown: Integers) -> Floats:
        """[n] 1_s' Gamma^+ 1_s, the same for every slate: m k - k + 1, or m^2 - 2 m + 2 where k = m."""
        m, k = self.candidates, self.slots
        return np.full(len(shown), 1.0 + (m - 1) * (k if k < m else m - 1))
