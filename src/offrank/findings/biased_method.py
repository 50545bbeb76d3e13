"""`biased-method`: a method with a known bias."""

from .evidence import CmipEvidence
from .registry import Statement, finding

_OFF = {
    "paper": Statement(
        "warning",
        "The published estimator is too low: by .02 where the truth is 0 with 58,880 documents, by .3 with 5,000.",
        "Use it to compare with published numbers; to judge a model take binned.",
    ),
    "classifier": Statement(
        "note",
        "What the trees do not find is missing from the value, and from the interval: by .01 of .83 with 58,880 "
        "documents, by .05 with 5,000, hardly at all where the truth is 0.",
        "Read it as at least so much; take binned for the value.",
    ),
}


@finding(
    "biased-method", "Bias of the method", lambda found: not found.constant and found.method in _OFF, cause="method"
)
def biased_method(found: CmipEvidence) -> Statement:
    return _OFF[found.method]
