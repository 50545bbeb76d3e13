"""`model-based`: an estimate that relies on a reward model alone."""

from ..wording import EstimatorOption, Wording
from .evidence import EstimateEvidence, ModelEvidence
from .registry import Statement, finding
from .reward_model import fit_in_words


@finding("model-based", "Model-based estimate", lambda found: found.kind == "model", cause="assumption")
def model_based(found: EstimateEvidence) -> Statement:
    model = found.model or ModelEvidence()
    told = (
        "the variation between contexts and the uncertainty of the model's parameters"
        if model.posterior
        else ("the variation between contexts")
    )
    return Statement(
        "warning",
        f"This is the prediction of {model.name}: the interval covers {told}, not the error of the model."
        + fit_in_words(model),
        Wording(
            "Compare with an estimator that uses the clicks of this log; {} corrects the model by them.",
            EstimatorOption("dr(model)"),
        ),
    )
