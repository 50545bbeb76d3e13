"""What a reader of the page should know of the set-up, in words."""

from __future__ import annotations

from .design import Design
from .ground import Grounds

LEAD = (
    "An offline metric for the debiasedness of click models (Deffayet, Hager, Renders, de Rijke): does conditional "
    "mutual information with the logging policy (CMIP) tell which click model predicts well under another policy? The "
    "paper's simulation, its figures, tables and claims, each beside what was found here."
)
_PAPER = (
    "Set up as the paper's text says. The code published with it differs: its test sets have one fixed ranking per "
    "query (temperature 0, and for `uniform` one fixed permutation), where rankings here are drawn from Plackett-Luce "
    "policies; its noise of the oracle has variance .25 instead of .5; its DBN users never leave the list; its "
    "carousel user reads every row, on 10 documents unless told otherwise; the policy's relevance is its score instead "
    "of the expected rank; all runs share documents and scores, where here the oracle's noise is drawn for each run. "
    "`offrank reproduce cmip-published-code` follows the code in all of this but the 10 documents."
)
_PUBLISHED = (
    "Set up as the code published with the paper: one fixed ranking per query in the tests, users and rankings as in "
    "the code, and the policy's score as its relevance; but 25 documents for the carousel user, as in the text."
)
_PERPLEXITY = (
    "Perplexity is Eq. 2 and 3 of the paper, of the clicks' probability given the slate alone, where the code gives "
    "UBM, DBN, NCM and CACM the clicks above. For the carousel, whose 25 ranks have too many histories of clicks for "
    "NCM and CACM, all models are given the clicks above, of which DCTR, RDCTR and PBM make no use. What is clicked at "
    "a rank is not drawn in the tests: the loss is averaged over the user's exact chances, so that few slates say as "
    "much as many clicks."
)
_CMIP = (
    "CMIP is estimated by bins within grades, the default of this library: the published estimator is far below 0 for "
    "models without bias when there are few documents. Both are in the tables. They are of all documents of the "
    "simulation."
)
_FEW = (
    "LambdaMART is trained on the queries that it ranks, as in the paper. Of few queries 100 trees learn the grades by "
    "heart (nDCG .99 on 600), so that at this scale it has 10 trees: its nDCG, below, is then near that of 100 trees "
    "on the published number of queries (.87 for 10 documents and .81 for 25 on generated data). NCM and CACM learn in "
    "larger batches and fewer epochs. Nothing here is as certain as with ten runs of five million sessions."
)


def set_up(grounds: Grounds) -> tuple[str, ...]:
    """Paragraphs on how this was made."""
    design = grounds.design
    first = _PAPER if design.preset == "paper" else _PUBLISHED
    few = (_FEW,) if design.trees < 100 else ()
    return (first, _PERPLEXITY, _CMIP, *few, _size(design, grounds.data))


def _size(design: Design, data: str) -> str:
    return (
        f"Here: {data}; {design.sessions:,} sessions to learn from (published: 5,000,000), {design.tests:,} slates to "
        f"test on for each policy (1,000,000 sessions), {design.runs} runs (10), {design.repetitions:,} repetitions of "
        f"the two-fold cross-validation (1,000); seed {design.seed}. Models: {', '.join(design.models)}."
    )
