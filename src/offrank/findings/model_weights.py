"""`model-weights`: an estimate whose weights are right only where users click as a click model says."""

from __future__ import annotations

from ..wording import EstimatorOption, Wording
from .evidence import EstimateEvidence
from .registry import Statement, finding


def of_model(found: EstimateEvidence) -> bool:
    """Whether the weights are those of a click model."""
    return found.kind == "items" and found.model is not None and not found.corrects


@finding("model-weights", "Weights of a click model", of_model, cause="assumption")
def model_weights(found: EstimateEvidence) -> Statement:
    assert found.model is not None
    told = ". The interval covers only the uncertainty of the model's parameters" if found.model.posterior else ""
    return Statement(
        "warning",
        f"Clicks are weighted by the examination of {found.model.name}: if users examine other items, the value is "
        f"wrong, and no weight shows it{told}.",
        Wording(
            "Compare with the weights of other kinds of model ({}), and prefer the model that predicts another "
            "day's clicks best.",
            EstimatorOption("weights(dbn)" if "ubm" in found.model.name else "weights(ubm)"),
        ),
    )
