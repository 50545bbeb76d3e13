"""Under a given prior, how well each entry is known is told by the tables that were learnt."""

import pytest

from offrank.clicks import DBN, SDBN

GOING, PRIOR = 0.8, (1.0, 2.0)
CLICKS = {(1, 0): 120, (1, 1): 16, (0, 1): 36, (0, 0): 80}
"""Sessions that show the documents a and b, by where they were clicked."""


@pytest.mark.parametrize(("model", "going"), [(DBN(continuation=GOING, prior=PRIOR), GOING), (SDBN(prior=PRIOR), 1.0)])
def test_what_is_known_of_a_hidden_satisfaction_is_its_information_at_the_end(model, going):
    """Louis (1982): a click on a alone tells less of its satisfaction s than one whose result was seen.

    With w the probability that it satisfied, given that b was not clicked, it counts 1 - w (1 - w) / (s (1 - s)) times.
    """
    rows = [{"query": "q", "slate": ["a", "b"], "clicks": list(one)} for one, n in CLICKS.items() for _ in range(n)]
    learnt = model.fit(rows).learnt
    s, attraction = float(learnt.parameters["satisfaction"][0]), float(learnt.parameters["attraction"][1])
    satisfied = s / (s + (1 - s) * (1 - going * attraction))
    counts = 1 - satisfied * (1 - satisfied) / (s * (1 - s))
    known = sum(PRIOR) + CLICKS[1, 1] + CLICKS[1, 0] * counts
    assert learnt.strength["satisfaction"][0] == pytest.approx(known, rel=1e-3)
    assert learnt.strength["satisfaction"][1] == pytest.approx(sum(PRIOR))  # nothing is below b
