"""`model-based`: an estimate that relies on a reward model alone."""

from ..wording import EstimatorOption, Wording
from .evidence import EstimateEvidence, ModelEvidence
from .registry import Statement, finding
from .reward_model import fit_in_words


@finding("model-based", "Model-based estimate", lambda found: found.kind == "model", cause="assumption")
def model_based(found: EstimateEvidence) -> Statement:
    model = found.model or ModelEvidence()
    told = "how contexts differ and how well its numbers are known" if model.posterior else "how contexts differ"
    return Statement(
        "warning",
        f"This is what {model.name} expects: the interval tells {told}, not how wrong the model may be."
        + fit_in_words(model),
        Wording(
            "Compare with an estimator that looks at the clicks; {} corrects the model by them.",
            EstimatorOption("dr(model)"),
        ),
    )
