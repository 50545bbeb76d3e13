"""Digits come from the doubt; names are cut and cleaned without lying."""

from __future__ import annotations

import pytest

from offrank.language.formatting import (
    Span,
    count,
    decimals,
    listing,
    number,
    percent,
    printable,
    quote,
    shorten,
    with_error,
    with_half,
)
from offrank.sums.estimate import Interval


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (0.412349, 0.00347, "0.41235"),  # three digits of the error: 0.00347
        (0.412349, 0.0022, "0.41235"),
        (0.412349, 0.00999, "0.41235"),
        (0.412349, 0.00999999, "0.4123"),  # which reads as 0.0100
        (0.412349, 0.01, "0.4123"),
        (0.004, 0.002, "0.00400"),
        (0.004, 0.4, "0.004"),
        (0.0004, 0.4, "0.0004"),  # the error says 0.000, which would be a lie
        (0.0041, None, "0.00410"),
        (0.0, 0.0, "0.00"),
        (12.34, 45.0, "12.3"),
        (1234567.0, 890.0, "1,234,567"),
        (1.0, 1e-12, "1.000000"),  # at most seven digits of the value
        (0.0004123512, 1e-7, "0.000412351"),
        (3.2e10, 1e9, "3.200e+10"),
        (3.2e10, 1e3, "3.200000e+10"),
        (-0.0004, 0.3, "-0.0004"),
        (5e-13, None, "5.00e-13"),
        (4.1235e-13, 3.47e-15, "4.1235e-13"),
    ],
)
def test_digits_come_from_the_standard_error(value: float, error: float | None, shown: str) -> None:
    assert number(value, decimals(value, error)) == shown


def test_the_ends_and_the_error_have_the_decimals_of_the_value() -> None:
    span = Span(0.412349, 0.405549, 0.419149, 0.00347)
    assert span.text() == "0.41235 (0.40555 to 0.41915)"
    assert with_half(Interval(0.412349, 0.405549, 0.419149, 0.00347)) == "0.41235 ± 0.00680"
    assert with_error(0.412349, 0.00347) == ("0.41235", "0.00347")


def test_a_relative_change_has_the_decimals_of_its_own_error() -> None:
    assert Span(0.0241, 0.0102, 0.0379, 0.00706).share() == "+2.410 % (+1.020 % to +3.790 %)"
    assert Span(-0.5, -0.7, -0.3, 0.102).share() == "-50.0 % (-70.0 % to -30.0 %)"
    assert Span(0.2, 0.19, 0.21).percents(signed=False) == ("20.000 %", "19.000 % to 21.000 %")  # of 0.005 in all
    assert Span(0.0, 0.0, 0.0, 0.0).share() == "0.00 % (0.00 % to 0.00 %)"
    assert Span(None, None, None).percents() == ("-", "-")


def test_a_rounded_zero_has_no_sign() -> None:
    assert number(-0.0004, 2) == "0.00"
    assert number(0.0, 2, signed=True) == "0.00"
    assert Span(5.0, -0.001, 0.2, 50.0).interval() == "0.0 to 0.2"


def test_what_is_missing_is_a_dash() -> None:
    assert number(None, 2) == Span(1.0, None, 1.0).interval() == count(None) == percent(None) == "-"


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


@pytest.mark.parametrize(("value", "places"), [(1.4615, 3), (0.7225, 3), (100.5, 0), (2.5e-7, 7)])
def test_a_tie_is_rounded_alike_whatever_the_order_of_the_sums(value: float, places: int) -> None:
    assert len({number(value * (1 + away), places) for away in (-2e-14, -1e-15, 0.0, 1e-15, 2e-14)}) == 1
    assert number(value * (1 + 1e-9), places) != number(value * (1 - 1e-9), places)
