"""`select estimators`: which estimator to believe for a log and a target."""

from __future__ import annotations

from ..evaluation import arguments
from ..evaluation.reproducibility import facts
from ..evaluation.selected_estimators import SelectedEstimators
from ..evaluation.selection import EstimatorSelector
from ..evaluation.selection_question import EstimatorSelection
from ..evaluation.simulated_selection import CONTEXTS, simulate_selection
from ..inference.spec import IntervalSpec
from ..language.argument import asks
from ..policies.fit import fitted
from ..reward_models.fitting import fit_models


@asks(EstimatorSelection)
def select_estimators(question: EstimatorSelection) -> SelectedEstimators:
    """Choose the estimator with the smallest estimated error for a log and a target.

    The bias of each candidate shows in its differences to estimates that assume less, for the target and for
    pseudo-targets that the log tells about more precisely; docs/concepts/selection.md has the rule and how often it is
    right. `evaluate(..., "auto")` uses the choice.

    Parameters:
        log: The log: from `read_log`, or anything that it takes.
        target: A new policy: top(new_score).
        logging: The policy that drew the log. `logged` uses the propensities written in it.
        estimators: Candidates; by default all that the log and the policies allow.
        examination: Probability that each rank is examined, or a click model's file. For pbm and interpol. In Python
            numbers, a fitted click model, the file that it was saved to, or what `offrank.harvest_clicks` found.
        cluster: Rows with the same value depend on each other; auto: query, user or session; none: independent rows.
            auto takes the one of them, with at least five values, that has the strongest dependence.
        worlds: Simulated logs of each kind of users; 0: none.
        columns: Role -> the log's own name of that column, as `read_log` takes them.
        executor: Where the log is read: any `concurrent.futures.Executor`; threads by default.
        progress: Called with (parts done, all parts) of the log, as they are read.

    Returns:
        The chosen estimator, and the estimated errors of all candidates in units of the reward.

    Raises:
        UsageError: arguments that cannot work. LogError: the log breaks a rule.
        NoOverlapError: no candidate has an estimate.

    Examples:
        >>> simulated = offrank.simulate("log.parquet", sessions=5000, queries=50, slots=3, temperature=1.0)
        >>> target, logging = (f"plackett_luce(noisy_oracle, temperature={t}, log=True)" for t in (0.5, 1))
        >>> offrank.select_estimators("log.parquet", target, logging, ["snips", "snipm"], worlds=0).chosen
        'snips'
    """
    source, executor, progress = arguments.source(question.log, question.columns), question.executor, question.progress
    spec = IntervalSpec("normal", cluster=question.cluster).with_clusters_of(source)
    listed = tuple(fit_models(question.candidates, source, executor, progress, spec.columns))
    curve, worlds = question.trained.curve, question.worlds
    drawn, wanted = (fitted(one, source, executor) for one in (question.drawn_by, question.asked))
    selector = EstimatorSelector(
        source, drawn, curve, spec, listed, executor, progress, sample=CONTEXTS if worlds else 0
    )
    choice = selector.select(wanted)
    simulated = simulate_selection(selector, wanted, choice, worlds, progress)
    title = f"Which estimator for {question.asked!r}?"
    said = {**question.said("question"), "command": question.command("select_estimators")}
    return SelectedEstimators(choice, simulated, facts=facts("estimator-selection", title, source, **said))
