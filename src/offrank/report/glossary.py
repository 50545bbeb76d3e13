"""What the words of a page mean: a line for each, shown under the pointer and, for print, at the end of the page."""

from __future__ import annotations

import re
from collections.abc import Iterable

from markupsafe import Markup

TERMS = {
    "impression": "One list of items that was shown once, and what was clicked in it: a row of the log.",
    "slate": "The items shown in one impression, with their order.",
    "slot": "A place in a slate that shows one item.",
    "candidate": "An item that could have been shown in an impression.",
    "logging policy": "The ranker, with its randomness, that drew the slates of the log.",
    "target": "The ranker that is asked about: its mean reward is estimated without showing it to anyone.",
    "propensity": "The probability with which the logging policy showed what it showed.",
    "importance weight": "How many times more often the target shows a slate or item than the logging policy did.",
    "mean weight": "The mean of the importance weights: 1 if propensities are right and the log covers the target.",
    "effective sample size": "The number of impressions of the target itself that would give as exact a mean.",
    "ESS": "Effective sample size: the number of impressions of the target itself that would give as exact a mean. It "
    "follows from the error, so that ips and snips differ although their weights are the same.",
    "tail index": "How heavy the largest weights are: above 0.7, a few of them decide the estimate.",
    "design effect": "The variance with dependent rows, over that of as many independent ones.",
    "cluster": "Rows that depend on each other, such as those of one user; intervals take them together.",
    "minimum detectable effect": "The smallest true difference that such a log would show with a power of 80 %.",
    "interval": "Made so that it holds the true value in this share of all logs, such as 95 %.",
    "studentised": "Intervals from the standard error and the skewness of the sums.",
    "standard error": "The standard deviation that the estimate would have over many logs like this one.",
    "self-normalised": "Divided by the mean weight instead of by 1: a little bias, much less variance.",
    "examination": "The probability that a user looks at a rank; how many clicks a place gets for being where it is.",
    "support": "A target has support where the logging policy could have shown what the target shows.",
    "Bonferroni": "k intervals at 1 - (1 - level) / k each hold the truth together at the level.",
    "Welch's test": "A test of equal means for groups whose variances differ.",
    "perplexity": "2 to the power of the mean surprise at a click or no click: 1 is perfect, 2 is a coin.",
    "nDCG": "Discounted cumulative gain over that of the best order: 1 is the best order.",
    "CMIP": "What a click model's predictions still tell of the logging policy, given relevance; 0 is right.",
}
"""Term -> what it means, in a sentence."""

_SHORT = {"weight": "mean weight", "tail": "tail index", "largest": "largest weight"}
"""Headers of columns that are shorter than their term."""
_MORE = {
    "largest weight": "The largest importance weight, as a share of the sum of all.",
    "change": "The difference to what was logged, on the same impressions.",
}


def _pattern(term: str) -> str:
    """Return the pattern of a term, also in the plural and at the beginning of a sentence."""
    first = f"[{term[0].upper()}{term[0]}]" if term[0].islower() else re.escape(term[0])
    ending = "(?:y|ies)" if term.endswith("y") else "s?"
    return first + re.escape(term[1:].removesuffix("y")) + ending


_NAMES = sorted(TERMS, key=len, reverse=True)
_FOUND = re.compile(r"(?<![\w-])(?:" + "|".join(f"({_pattern(one)})" for one in _NAMES) + r")(?![\w=-])")
"""Each term, unless it is the name of an argument: `interval=...`."""
_OPTION = re.compile(r"""(?:=["']|--[\w-]+ )$""")
"""What stands before the value of an option: such a value is to be typed, and no term."""


def explained(text: str, told: set[str] | None = None) -> Markup:
    """Escape a text, with a line on each term in it, the first time. told: terms that had theirs, which grows."""
    told, parts, at = set() if told is None else told, [], 0
    for found in _FOUND.finditer(text):
        term = _NAMES[(found.lastindex or 1) - 1]
        if term not in told and not _OPTION.search(text, 0, found.start()):
            told.add(term)
            parts += [Markup("{}").format(text[at : found.start()]), _line(found.group(), TERMS[term])]
            at = found.end()
    return Markup().join([*parts, Markup("{}").format(text[at:])])


def header(name: str) -> Markup:
    """Escape the header of a column, with a line on it if it is a term."""
    term = _SHORT.get(name, name)
    means = TERMS.get(term, _MORE.get(term))
    return explained(name) if means is None else _line(name, means)


def _line(shown: str, means: str) -> Markup:
    return Markup('<abbr title="{}">{}</abbr>').format(means, shown)


def listed(page: str, more: Iterable[tuple[str, str]] = ()) -> list[tuple[str, str]]:
    """Return the terms that have a line on a page, and `more`, in the order of the alphabet."""
    known = {**_MORE, **TERMS}
    found = [(term, means) for term, means in known.items() if Markup('title="{}"').format(means) in page]
    return sorted([*found, *more], key=lambda one: one[0].lower())
