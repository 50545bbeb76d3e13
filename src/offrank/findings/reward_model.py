"""`reward-model`: what a reward model that corrects an estimate was learnt from, and how well it predicts."""

from ..formatting import percent, plural
from .evidence import EstimateEvidence, ModelEvidence
from .registry import Statement, finding


@finding("reward-model", "Reward model", lambda found: found.kind != "model", cause="assumption")
def reward_model(found: EstimateEvidence) -> Statement | None:
    if found.model is None or (found.model.explained is None and not found.model.rows):
        return None
    return Statement(
        "note",
        f"The rewards are corrected by {found.model.name}." + fit_in_words(found.model),
        "Compare reward models by the standard errors of their dr estimates: the model that explains most need not "
        "have the smallest.",
    )


def fit_in_words(model: ModelEvidence) -> str:
    """What a model was learnt from and how well it predicts, as sentences; empty if that is not known."""
    said = ""
    if model.folds:
        some = f"a random sample of {model.rows:,} of the" if model.rows < model.read else "the"
        chosen = f" ({', '.join(model.settings)})" if model.settings else ""
        said = (
            f" It was fitted{chosen} to {some} {plural(model.read, 'impression', 'impressions')} with "
            f"{model.folds}-fold cross-fitting: each part is predicted by a model of the others."
        )
    if model.explained is None:
        return said
    if model.explained <= 0:
        return f"{said} It predicts these rewards no better than their mean: try other features or settings."
    return f"{said} It explains {percent(model.explained, 0)} of the variance of the logged rewards."
