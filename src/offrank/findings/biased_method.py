"""`biased-method`: a method with a known bias."""

from .evidence import CmipEvidence
from .registry import Statement, finding

_OFF = {
    "paper": Statement(
        "warning",
        "The published estimator is biased downward: by .02 with 58,880 documents when the true value is 0, by .3 "
        "with 5,000.",
        "Use it only to compare with published numbers. To judge a model, use binned.",
    ),
    "classifier": Statement(
        "note",
        "The value and its interval miss what the trees do not find: .01 of .83 with 58,880 documents, .05 with "
        "5,000, and almost nothing when the true value is 0.",
        "Read the value as a lower bound, or use binned for an estimate.",
    ),
}


@finding(
    "biased-method", "Bias of the method", lambda found: not found.constant and found.method in _OFF, cause="method"
)
def biased_method(found: CmipEvidence) -> Statement:
    return _OFF[found.method]
