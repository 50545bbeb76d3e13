"""Digits come from the doubt; names are cut and cleaned without lying."""

from __future__ import annotations

import pytest

from offrank.formatting import count, decimals, interval, listing, number, percent, printable, quote, shorten


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (0.41234, 0.0036, "0.412"),  # one digit of an error that starts above 3.55
        (0.41234, 0.0022, "0.4123"),  # two digits below it
        (0.004, 0.002, "0.0040"),
        (0.004, 0.4, "0.004"),  # the error says 0.0, which would be a lie
        (0.0041, None, "0.00410"),
        (0.0, 0.0, "0.00"),
        (12.3, 45.0, "12"),
        (1234567.0, 890.0, "1,234,567"),
        (1.0, 1e-12, "1.00000"),  # at most six digits of the value
        (3.2e10, 1e9, "3.20e+10"),
        (-0.0004, 0.3, "-0.0004"),
        (5e-13, None, "5.00e-13"),
    ],
)
def test_digits_come_from_the_standard_error(value: float, error: float | None, shown: str) -> None:
    assert number(value, decimals(value, error)) == shown


def test_a_rounded_zero_has_no_sign() -> None:
    assert number(-0.0004, 2) == "0.00"
    assert number(0.0, 2, signed=True) == "0.00"
    assert interval(-0.001, 0.2, 1) == "0.0 to 0.2"


def test_what_is_missing_is_a_dash() -> None:
    assert number(None, 2) == interval(None, 1.0, 2) == count(None) == percent(None) == "-"


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.081, "8.1 %"),
        (0.0997, "10 %"),
        (0.5, "50 %"),
        (1.0, "100 %"),
        (0.0012, "0.12 %"),
        (1e-6, "< 0.01 %"),
        (0.0, "0.0 %"),
    ],
)
def test_percentages_have_two_digits(share: float, shown: str) -> None:
    assert percent(share) == shown


def test_percentages_with_sign() -> None:
    assert percent(0.081, signed=True) == "+8.1 %"
    assert percent(-0.23, signed=True) == "-23 %"


@pytest.mark.parametrize(("value", "shown"), [(123456.0, "123,456"), (3.26, "3.3"), (3.0, "3"), (0.0, "0")])
def test_counts(value: float, shown: str) -> None:
    assert count(value) == shown


def test_long_names_are_cut_before_their_end() -> None:
    assert shorten("interpol(window=2)") == "interpol(window=2)"
    cut = shorten("plackett_luce(a_very_long_score_name, temperature=0.5)")
    assert len(cut) == 24
    assert cut == "plackett_luce(a_ver\u20260.5)"


def test_wide_letters_count_twice() -> None:
    assert len(shorten("推荐" * 20)) <= 13


def test_control_characters_do_not_reach_a_terminal() -> None:
    assert printable("a\x1b[31mb\u202ec\nd") == "a\ufffd[31mb\ufffdc d"
    assert printable("é 推荐 \U0001f469\u200d\U0001f4bb\u00a0x") == "é 推荐 \U0001f469\u200d\U0001f4bb\u00a0x"


def test_listing_counts_what_it_leaves_out() -> None:
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert listing(list("abcdefgh"), most=3) == "a, b and 6 more"


def test_quoted_names_cannot_end_the_quote() -> None:
    assert quote("a`b") == "`a\u2019b`"
