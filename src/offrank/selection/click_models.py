"""Choice between several click models for use under another policy, from logs of the present policy.

Off-policy selection of paper cmip-debiasedness, section 6.3 and Table 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError
from ..frames import Tabular, plain
from ..language import formatting
from ..report import terminal
from ..report.document import Answer, Document, Figures, Section
from .candidates import MeasuredModel, candidates
from .strategies import BEST, PRESETS, SIGNS, STRATEGIES, WORDS, Keep, Metric, Preset, Strategy, strategy

__all__ = ["BEST", "STRATEGIES", "MeasuredModel", "ModelChoice", "Selection", "choose", "select"]


_ALONE = "CMIP alone favours a model that knows nothing: its relevance is independent of everything"

_UNLIKE = (
    "CMIP of {} is computed from point estimates and contains their noise; that of the others is computed "
    "from posterior draws"
)


@dataclass(frozen=True)
class ModelChoice:
    """The choice of a strategy.

    - name: of the model. strategy: its spelling. kept: the models that remained for the last step.
    - reasons: each step in words. doubts: how the choice could have differed; empty if it could not.
    """

    name: str
    strategy: str
    kept: tuple[str, ...]
    reasons: tuple[str, ...]
    doubts: tuple[str, ...] = ()

    def __str__(self) -> str:
        doubts = "".join(f"\n  but: {doubt}" for doubt in self.doubts)
        return f"{self.name} by `{self.strategy}`: {'; '.join(self.reasons)}{doubts}"


def choose(models: Sequence[MeasuredModel], by: str | Strategy = BEST, preset: Preset = "paper") -> ModelChoice:
    """Return the model that a strategy chooses; among models tied in the last step, the first one.

    Parameters:
        models: the candidates.
        by: a strategy such as `top-4 cmip, top-4 ppl: ndcg`.
        preset: what remains if no model is in every top: `paper` all models, `published-code` the first top.

    Returns:
        The chosen model, with the reasons.

    Raises:
        UsageError: the strategy cannot be read, or a model lacks a metric that it needs.

    Examples:
        >>> one = offrank.selection.MeasuredModel("pbm", perplexity=1.3, ndcg=0.7, cmip=0.1)
        >>> other = offrank.selection.MeasuredModel("dbn", perplexity=1.4, ndcg=0.8, cmip=0.2)
        >>> offrank.selection.choose([one, other], "ndcg").name
        'dbn'
    """
    asked, given = strategy(by), candidates(models)
    if preset not in PRESETS:
        raise UsageError(f"preset is {preset!r}", "use " + " or ".join(PRESETS))
    kept, reasons = given, []
    doubts = [_ALONE] if asked.metrics == ("cmip",) else []
    points = [one for one in given if one.points]
    if "cmip" in asked.metrics and 0 < len(points) < len(given):
        doubts.append(_UNLIKE.format(_names(points)))
    tops = [_top(given, top) for top in asked.tops]
    for top, best in zip(asked.tops, tops, strict=True):
        kept = [one for one in kept if one in best]
        reasons.append(f"kept by {WORDS[top.metric]}: {_names(best)}")
        doubts += _doubts_of_top(given, best, top)
    if not kept:
        kept = given if preset == "paper" else tops[0]
        reasons.append(f"no model is in every top, so {'all' if preset == 'paper' else _names(kept)} remain")
    elif len(tops) > 1:
        reasons.append(f"in every top: {_names(kept)}")
    chosen = min(kept, key=lambda one: formatting.nine_digits(_cost(one, asked.metric)))
    reasons.append(_last(chosen, kept, asked))
    doubts = [*_doubts_of_convicted(chosen, given, asked, preset), *doubts]
    doubts += _doubts_of_last(chosen, kept, asked.metric)
    return ModelChoice(chosen.name, str(asked), tuple(one.name for one in kept), tuple(reasons), tuple(doubts))


@dataclass(frozen=True)
class Selection(Tabular):
    """Candidates and the choice of each strategy; left_out: strategies that could not be used, with the reason.

    excluded: the models that were not to be chosen, with the codes of what convicts them. Where that is every model,
    there are no choices.
    """

    candidates: tuple[MeasuredModel, ...]
    choices: dict[str, ModelChoice]
    left_out: dict[str, str]
    excluded: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    headings = ("model", "metric", "value", "chosen")

    def __getitem__(self, by: str) -> ModelChoice:
        return self.choices[str(strategy(by))]

    @property
    def choice(self) -> ModelChoice | Any:
        """The choice of the one strategy; of several, the one of least average regret in the paper, or the last.

        None where no model may be chosen.
        """
        return self.choices.get(BEST) or next(reversed(self.choices.values()), None)

    @property
    def votes(self) -> dict[str, int]:
        """Count the strategies that chose each model, most first."""
        names = [choice.name for choice in self.choices.values()]
        return {name: names.count(name) for name in sorted(set(names), key=lambda name: (-names.count(name), name))}

    def records(self) -> list[dict[str, Any]]:
        """Return a row per model and metric; chosen: the strategies that choose it."""
        rows: list[dict[str, Any]] = []
        for one in self.candidates:
            chosen = "; ".join(name for name, choice in self.choices.items() if choice.name == one.name)
            for metric in WORDS:
                if one.measured(metric):
                    low, high = one.ends(metric)
                    numbers = {"value": one.value(metric), "low": low, "high": high}
                    rows.append({"model": one.name, "metric": metric, **numbers, "chosen": chosen})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return the measurements, the choices, why some strategies were not used, and which models are excluded."""
        return {
            "measured": self.records(),
            "choice": None if self.choice is None else self.choice.name,
            "choices": plain(self.choices),
            "not_used": dict(self.left_out),
            "excluded": plain(self.excluded),
        }

    def answer(self, severity: str = "ok") -> Answer:
        """Say which model to use, by which strategy, and how the choice could have differed."""
        excluded = formatting.listing(
            [f"{formatting.quote(one)} ({', '.join(why)})" for one, why in self.excluded.items()]
        )
        if (one := self.choice) is None:
            return Answer(
                f"**No model is chosen**: {excluded} must not be chosen, and there is no other.", severity="serious"
            )
        strategies = len(self.choices)
        votes = f" {self.votes[one.name]} of {strategies} strategies choose it." if strategies > 1 else ""
        said = f"{formatting.quote(one.name)} **is the choice** of {formatting.quote(one.strategy)}.{votes}"
        said += f" Must not be chosen: {excluded}." if excluded else ""
        convicted, doubts = any(model.convicted and model.name == one.name for model in self.candidates), one.doubts
        if convicted:
            said, doubts = f"{said} **But** {doubts[0]}.", doubts[1:]
        return Answer(said, severity=severity, reasons=tuple(f"but: {doubt}" for doubt in doubts))

    def chosen(self) -> Section:
        """List the reasons of the choice, and the choice of each strategy."""
        rows = tuple((name, one.name, ", ".join(one.kept)) for name, one in self.choices.items())
        left = tuple(f"not used: {name} ({why})" for name, why in self.left_out.items())
        left += tuple(f"must not be chosen: {name} ({', '.join(why)})" for name, why in self.excluded.items())
        reasons = () if self.choice is None else self.choice.reasons
        table = Figures("Strategies", ("strategy", "chooses", "kept for the last step"), rows, extra=((2,),))
        return Section("The choice", items=(*reasons, *left), tables=(table,) if rows else ())

    def to_document(self) -> Document:
        """Return the page of measurements and choices."""
        rows = tuple((one.name, *(_shown(one, metric) for metric in WORDS)) for one in self.candidates)
        measured = Figures("Measured", ("model", *WORDS.values()), rows)
        lead = formatting.plural(len(rows), "model", "models")
        sections = (Section("Measurements", tables=(measured,)), self.chosen())
        return Document("Which click model?", lead, sections, (self.answer(),))

    def __str__(self) -> str:
        return terminal.render_text(self.to_document()).rstrip()


def select(table: Any, by: str | Strategy | None = None, preset: Preset = "paper") -> Selection:
    """Choose among click models by one strategy, as published, or by each of the paper's nine.

    The nine choose among the models that nothing convicts (`MeasuredModel.convicted`); where every one is, none is
    chosen. A strategy that is asked for by name is applied to all models, and what convicts its choice is said.

    Parameters:
        table: `MeasuredModel`s, rows or an Arrow table; see `candidates`.
        by: a strategy; by default the paper's nine.
        preset: what remains if no model is in every top: `paper` all models, `published-code` the first top.

    Returns:
        The candidates, and the choice of each strategy.

    Raises:
        UsageError: as for `choose`; for the nine strategies, only if none can be used.

    Examples:
        >>> rows = [{"name": "pbm", "ppl": 1.3, "ndcg": 0.7}, {"name": "dbn", "ppl": 1.4, "ndcg": 0.8}]
        >>> [choice.name for choice in offrank.selection.select(rows, "ndcg").choices.values()]
        ['dbn']
    """
    given = candidates(table)
    if by is not None:
        choice = choose(given, by, preset)
        return Selection(tuple(given), {choice.strategy: choice}, {})
    free = [one for one in given if not one.convicted]
    excluded = {one.name: one.convicted for one in given if one.convicted}
    choices: dict[str, ModelChoice] = {}
    left_out: dict[str, str] = {}
    for name in STRATEGIES if free else ():
        lacking = _lacking(free, strategy(name))
        if lacking:
            left_out[name] = lacking
        else:
            choices[name] = choose(free, name, preset)
    if free and not choices:
        raise UsageError(
            "no strategy can be used: every metric is missing for some model", "measure the same metrics for all models"
        )
    return Selection(tuple(given), choices, left_out, excluded)


def _lacking(given: Sequence[MeasuredModel], asked: Strategy) -> str:
    """Name the missing metric and its models, or return an empty text."""
    for metric in asked.metrics:
        without = [one for one in given if not one.measured(metric)]
        if without:
            return f"no {WORDS[metric]} of {_names(without)}"
    return ""


def _cost(one: MeasuredModel, metric: Metric) -> float:
    return SIGNS[metric] * one.value(metric)


def _top(given: Sequence[MeasuredModel], top: Keep) -> list[MeasuredModel]:
    """Return those no worse than the last of the top; ties stay, in the order of the candidates."""
    last = sorted(_cost(one, top.metric) for one in given)[min(top.size, len(given)) - 1]
    return [one for one in given if _cost(one, top.metric) <= last]


def _last(chosen: MeasuredModel, kept: Sequence[MeasuredModel], asked: Strategy) -> str:
    degree = "highest" if SIGNS[asked.metric] < 0 else "lowest"
    among = f"of those {chosen.name}" if asked.tops else chosen.name
    if len(kept) == 1:
        return f"only {chosen.name} is left ({WORDS[asked.metric]} {_number(chosen, asked.metric)})"
    return f"{among} has the {degree} {WORDS[asked.metric]} {_number(chosen, asked.metric)}"


def _doubts_of_top(given: Sequence[MeasuredModel], best: Sequence[MeasuredModel], top: Keep) -> Iterator[str]:
    dropped = [one for one in given if one not in best]
    if not dropped:
        every = f"all {len(given)} models" if len(given) > 1 else "the only model"
        yield f"`{top}` keeps {every}, so {WORDS[top.metric]} decides nothing"
    for one in dropped:
        near = [other for other in best if _overlap(one, other, top.metric)]
        if near:
            yield (
                f"{one.name} was dropped, although its {WORDS[top.metric]} does not differ clearly from that of "
                f"{_names(near)}"
            )


def _doubts_of_last(chosen: MeasuredModel, kept: Sequence[MeasuredModel], metric: Metric) -> Iterator[str]:
    near = [one for one in kept if one is not chosen and _overlap(chosen, one, metric)]
    if near:
        yield f"{WORDS[metric]} does not separate {chosen.name} from {_names(near)}"


def _doubts_of_convicted(
    chosen: MeasuredModel, given: Sequence[MeasuredModel], asked: Strategy, preset: Preset
) -> Iterator[str]:
    others = [one for one in given if not one.convicted]
    if chosen.convicted:
        instead = f"; among the others, the choice is {choose(others, asked, preset).name}" if others else ""
        yield f"{chosen.name} must not be chosen ({', '.join(chosen.convicted)}){instead}"


def _overlap(one: MeasuredModel, other: MeasuredModel, metric: Metric) -> bool:
    (low, high), (least, most) = one.ends(metric), other.ends(metric)
    return low <= most and least <= high


def _names(models: Sequence[MeasuredModel]) -> str:
    return ", ".join(one.name for one in models)


def _shown(one: MeasuredModel, metric: Metric) -> str | None:
    if not one.measured(metric):
        return None
    low, high = one.ends(metric)
    return _number(one, metric) if low == high else formatting.Span(one.value(metric), low, high).text()


def _number(one: MeasuredModel, metric: Metric) -> str:
    """Format the value; to four decimals if it was given without an interval."""
    value, (low, high) = one.value(metric), one.ends(metric)
    return f"{value:.4f}" if low == high else formatting.Span(value, low, high).number()
