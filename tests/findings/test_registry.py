"""Findings from outside: what is refused when they register, one that fails, and one that is taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pytest

import offrank
from offrank.errors import UsageError
from offrank.findings import FINDINGS, Statement, all_findings, cautions_for, finding, has_cause
from offrank.findings.log import LogEvidence
from offrank.findings.row import Row
from tests.findings.rows import row
from tests.verbs.logs import coins

if TYPE_CHECKING:
    from offrank.findings.weights import ClustersEvidence as NotThere


@pytest.fixture(autouse=True)
def _undisturbed() -> Iterator[None]:
    """Whatever a test has registered, or failed to: numbers and findings are the same after it."""
    registered, before = dict(FINDINGS), answer()
    yield
    assert dict(FINDINGS) == registered
    assert {**answer().to_dict(), "created": None} == {**before.to_dict(), "created": None}


def answer() -> offrank.Result:
    return offrank.evaluate(coins(400), "ranking(best)", "uniform", "snips")


def long(found: Row) -> Statement:
    return Statement("note", f"{found.slots} slots.", "Judge the first.")


def plain(found):  # type: ignore[no-untyped-def]
    return long(found)


def of_two(found: Row, log: LogEvidence) -> Statement:
    return long(found)


def unread(found: NotThere) -> Statement:
    return Statement("note", str(found), "Do.")


def of_number(found: float) -> Statement:
    return Statement("note", str(found), "Do.")


def of_word(found: Literal["long"]) -> Statement:
    return Statement("note", str(found), "Do.")


def of_interval(found: offrank.sums.estimate.Interval) -> Statement:
    return Statement("note", str(found), "Do.")


@pytest.mark.parametrize(
    ("say", "changed", "message", "remedy"),
    [
        (plain, {}, "0 annotated arguments", "found: Row"),
        (of_two, {}, "2 annotated arguments", "found: Row"),
        (unread, {}, "name 'NotThere' is not defined", "found: Row"),
        (of_word, {}, "reads long, which is no evidence", "known: 'AlongEvidence'"),
        (of_number, {}, "reads float, which is no evidence", "known: 'AlongEvidence', 'ArmsEvidence'"),
        (of_interval, {}, "reads Interval, which is no evidence", "'Row'"),
        (long, {"cause": "efective size"}, "unknown cause, 'efective size'", "did you mean 'effective size'?"),
        (long, {"cause": ("tail", "tale")}, "unknown cause, 'tale'", "did you mean 'tail'?"),
        (long, {"cause": None}, "unknown cause, None", "known: 'logging policy'"),
        (long, {"explains": "mean wait"}, "unknown cause, 'mean wait'", "did you mean 'mean weight'?"),
        (long, {"code": ""}, "no valid code", "'long-slates'"),
        (long, {"code": "Long slates"}, "no valid code", "'long-slates'"),
        (long, {"code": None}, "no valid code", "'long-slates'"),
        (long, {"code": "low-ess"}, "the code of another package's finding", "a code of its own"),
        (long, {"code": "two-units"}, "the code of another package's finding", "a code of its own"),
    ],
)
def test_what_cannot_work_is_refused_when_it_registers(
    say: Callable[[Any], Statement], changed: dict[str, Any], message: str, remedy: str
) -> None:
    asked = {"code": "long-slates", "title": "Slates", "cause": "tail", **changed}
    with pytest.raises(UsageError) as refused:
        finding(**asked)(say)
    assert f"the finding {asked['code']!r}, tests.findings.test_registry.{say.__name__}," in refused.value.message
    assert message in refused.value.message
    assert remedy in refused.value.remedy


def test_a_code_has_one_finding_for_each_evidence() -> None:
    finding("long-slates", "Slates", cause="tail")(long)
    finding("long-slates", "Slates", cause="tail")(long)  # once more, as in a notebook

    def longer(found: Row) -> Statement:
        return long(found)

    with pytest.raises(UsageError, match="have the same name, 'long-slates in"):
        finding("long-slates", "Slates", cause="tail")(longer)
    FINDINGS.remove(long)


def test_evidence_may_be_of_the_same_package() -> None:
    @dataclass(frozen=True)
    class Own:
        slots: int

    def own(found) -> Statement:  # type: ignore[no-untyped-def]
        return Statement("note", f"{found.slots} slots.", "Judge the first.")

    own.__annotations__["found"] = Own
    finding("own-slots", "Slates", cause="tail")(own)
    assert [one.message for one in cautions_for(Own(4))] == ["4 slots."]
    FINDINGS.remove(own)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("serios", "Long.", "Do."), "'serios' is no severity"),
        ((None, "Long.", "Do."), "None is no severity"),
        (("note", None, "Do."), "is no statement"),
        (("note", "Long.", 3), "is no statement"),
        (("note", "Long.", "Do.", None), "is no statement"),
    ],
)
def test_a_statement_that_cannot_be_said_is_refused(words: tuple[Any, ...], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        Statement(*words)
    assert message in refused.value.message


def test_the_severity_that_was_meant_is_named() -> None:
    with pytest.raises(UsageError) as refused:
        Statement("serios", "Long.", "Do.")  # type: ignore[arg-type]
    assert refused.value.remedy == "did you mean 'serious'? known: 'serious', 'warning', 'note'"


def failing(found: Row) -> Statement:
    return Statement("note", f"{1 / 0} slots.", "Do.")


def misspelt(found: Row) -> Statement:
    return Statement("serios", f"{found.slots} slots.", "Do.")  # type: ignore[arg-type]


def speechless(found: Row) -> Any:
    return found.slots > 0


def of_log(log: LogEvidence) -> Statement:
    raise KeyError(log.logging)


@pytest.mark.parametrize(
    ("say", "error"),
    [
        (failing, "ZeroDivisionError: division by zero"),
        (misspelt, "UsageError: 'serios' is no severity"),
        (speechless, "UsageError: it returned True, which is no Statement"),
        (of_log, "KeyError: 'uniform'"),
    ],
)
def test_one_that_fails_is_one_caution_and_the_number_stands(say: Callable[[Any], Statement], error: str) -> None:
    before = answer()
    assert before.verdict.trust == "sound"
    finding("bad-one", "Bad", cause="tail")(say)
    with pytest.warns(RuntimeWarning, match="`bad-one` of package `tests`"):
        found = answer()
    FINDINGS.remove(say)
    [failed] = [one.caution for one in found.findings if one.caution.code == "finding-failed"]
    assert failed.severity == "warning"
    assert failed.message == (
        f"1 finding failed, so nobody knows whether there is anything to say: `bad-one` of package `tests` ({error})."
    )
    assert has_cause(failed, "rows")
    assert (found.verdict.decision, found.verdict.trust) == (before.verdict.decision, "with care")
    assert [reason.code for reason in found.verdict.reasons] == ["finding-failed"]
    assert (found["snips"].value, found["snips"].low) == (before["snips"].value, before["snips"].low)


def test_several_that_fail_are_named_together_and_the_others_stand() -> None:
    finding("bad-one", "Bad", cause="tail")(failing)
    finding("another-bad-one", "Bad", cause="tail")(misspelt)
    with pytest.warns(RuntimeWarning, match="failed"):
        found = cautions_for(row(ess=99.0), row(ess=99.0, n=5))
    FINDINGS.remove(failing)
    FINDINGS.remove(misspelt)
    assert [one.code for one in found] == ["low-ess", "low-ess", "finding-failed"]
    assert "2 findings failed" in found[-1].message
    assert found[-1].message.count("bad-one` of package `tests`") == 2


def test_a_failure_of_a_finding_of_offrank_is_loud_in_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("offrank.findings.weights.items_help", lambda *_: 1 / 0)
    with pytest.raises(RuntimeWarning, match="`low-ess` of package `offrank`"):
        cautions_for(row(ess=99.0))


def test_what_was_taken_back_says_nothing_and_its_code_is_free() -> None:
    finding("long-slates", "Slates", cause="tail")(long)
    assert "long-slates" in {one.code for one in cautions_for(row())}
    FINDINGS.remove(long)
    assert "long-slates" not in {one.code for one in (*cautions_for(row()), *all_findings())}
    finding("long-slates", "Slates", cause="tail")(failing)
    FINDINGS.remove(failing)
    with pytest.raises(UsageError, match="is no registered finding"):
        FINDINGS.remove(long)


def test_one_finding_may_read_several_types_of_evidence() -> None:
    def sampled(found: Row | LogEvidence) -> Statement | None:
        return Statement("note", f"A factor of {found.sampling_factor:g}.", "Do.")

    finding("sampled", "Sampling", cause="rows")(sampled)
    said = [one.message for one in cautions_for(Row(), LogEvidence()) if one.code == "sampled"]
    assert said == ["A factor of 1.", "A factor of 1."]
    FINDINGS.remove(sampled)
    assert "sampled" not in {one.code for one in all_findings()}
