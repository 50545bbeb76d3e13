"""Digits come from the doubt; names are cut and cleaned without lying."""

from __future__ import annotations

import pytest

from offrank.language.formatting import (
    Span,
    apart,
    between,
    count,
    decimals,
    listing,
    number,
    percent,
    printable,
    quote,
    rough,
    shorten,
    with_error,
    with_half,
)
from offrank.sums.estimate import Interval


@pytest.mark.parametrize(
    ("value", "half", "shown"),
    [
        (0.412349, 0.0299, "0.412"),  # 29.9 thousandths: two digits of the half
        (0.412349, 0.02999999, "0.41"),  # which reads as 0.03
        (0.412349, 0.03, "0.41"),  # 3 hundredths: one digit
        (0.412349, 0.299, "0.41"),
        (0.412349, 0.3, "0.4"),
        (0.0041, None, "0.00410"),
        (0.0041, 0.0, "0.00410"),
        (0.0041, float("inf"), "0.00410"),
        (12.34, 45.0, "12"),  # whole, not tens
        (1234.5, 299.0, "1,234"),
        (1234.5, 300.0, "1,200"),
        (1234567.0, 890.0, "1,234,600"),
        (1234567.0, 29.0, "1,234,567"),
        (1234567.0, None, "1,234,567"),
        (1234567.8, None, "1,234,568"),
        (-1e6, 2e5, "-1,000,000"),
        (1.0, 1e-12, "1"),  # of rounding, so it has no error
        (1.05, 1e-12, "1.05"),
        (1.2e-5, 1e-6, "0.0000120"),
        (3.2e10, 1e9, "3.20e+10"),
        (-0.0004, None, "-0.000400"),
        (5e-13, None, "5.00e-13"),
        (0.0, None, "0"),
        (-5.0, None, "-5"),
    ],
)
def test_digits_come_from_half_the_interval(value: float, half: float | None, shown: str) -> None:
    assert number(value, decimals(value, half)) == shown


def test_ends_stay_apart_whatever_their_distance() -> None:
    """An interval is at least 6 units of the last digit wide, and less than 60."""
    for step in range(1, 400):
        half = 1e-8 * 1.13**step
        low, high = Span(0.0, -half, half).interval().replace(",", "").split(" to ")
        unit = 10.0 ** -decimals(0.0, half)
        assert 5 <= round((float(high) - float(low)) / unit) <= (600 if 30 <= half < 300 else 60), half


def test_the_ends_have_the_decimals_of_the_value() -> None:
    span = Span(0.412349, 0.405549, 0.419149, 0.00347)
    assert span.text() == "0.412 (0.406 to 0.419)"
    assert with_half(Interval(0.412349, 0.405549, 0.419149, 0.00347)) == "0.4123 ± 0.0068"
    assert with_error(0.412349, 0.00347) == ("0.4123", "0.0035")


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (Span(0.8087, 0.7651, 0.8579), "0.81 (0.77 to 0.86)"),
        (Span(0.1, 0.0004, 0.21), "0.10 (0.0004 to 0.21)"),  # above 0, so it must not read as 0
        (Span(0.1, -0.0004, 0.21), "0.10 (-0.0004 to 0.21)"),
        (Span(0.1, 0.0, 0.21), "0.10 (0 to 0.21)"),
        (Span(0.00344, 0.00211, 0.01183), "0.0034 (0.0021 to 0.0118)"),  # skewed: 0.00133 below
        (Span(0.00233, 0.00063, 0.01108), "0.0023 (0.0006 to 0.0111)"),
        (Span(0.00033, 0.00013, 0.00073), "0.0003 (0.0001 to 0.0007)"),  # a side twice as long as the other
        (Span(0.00033, 0.00014, 0.00073), "0.00033 (0.00014 to 0.00073)"),
        (Span(0.00035, 0.00021, 0.00655), "0.00035 (0.00021 to 0.00655)"),
        (Span(0.80, 0.80, 0.86), "0.80 (0.80 to 0.86)"),  # widened from one side: 0.03
        (Span(0.1, 1e-12, 0.21), "0.10 (0.00 to 0.21)"),  # which is rounding
        (Span(0.0004, -0.8, 0.8), "0.0 (-0.8 to 0.8)"),  # on neither side of 0
        (Span(0.0004, 0.0003, 0.8), "0.0004 (0.0003 to 0.8)"),
        (Span(0.0004, None, None, 0.4), "0.0004"),
        (Span(-0.1, -0.21, -0.0004), "-0.10 (-0.21 to -0.0004)"),
        (Span(0.5, 0.5, 0.5, 0.0), "0.500"),
        (Span(5.0, 5.0, 5.0, 0.0), "5"),
        (Span(1234567.0, 1233677.0, 1235457.0), "1,234,600 (1,233,700 to 1,235,500)"),
        (Span(1e6, 9e5, 1.2e6), "1,000,000 (900,000 to 1,200,000)"),
        (Span(1.2e-5, 1.1e-5, 1.31e-5), "0.0000120 (0.0000110 to 0.0000131)"),
        (Span.of(Interval(0.5, 0.3, float("inf"), 0.1)), "0.50"),  # by the end that is known
        (Span(0.5123, None, None, 0.1), "0.51"),
        (Span(0.5123, None, None), "0.512"),
        (Span(None, None, None), "-"),
    ],
)
def test_at_the_border(span: Span, text: str) -> None:
    assert span.text() == text


def test_what_is_beside_a_border_is_not_written_like_it() -> None:
    assert Span(-0.2, -0.96, 0.5).parts(border=-1.0) == ("-0.2", "-0.96 to 0.5")
    assert Span(-0.2, -1.04, 0.5).parts(border=-1.0) == ("-0.2", "-1.04 to 0.5")
    assert Span(-0.2, -1.0, 0.5).parts(border=-1.0) == ("-0.2", "-1.0 to 0.5")
    assert Span(-0.002, -0.00996, 0.005).percents(border=-0.01) == ("-0.2 %", "-0.996 % to +0.5 %")


def test_a_relative_change_has_the_decimals_of_its_own_error() -> None:
    assert Span(0.3018, 0.2785, 0.3409, 0.016).share() == "+30 % (+28 % to +34 %)"
    assert Span(0.0241, 0.0102, 0.0379, 0.00706).share() == "+2.4 % (+1.0 % to +3.8 %)"
    assert Span(-0.5, -0.7, -0.3, 0.102).share() == "-50 % (-70 % to -30 %)"
    assert Span(0.2, 0.19, 0.21).percents(signed=False) == ("20.0 %", "19.0 % to 21.0 %")
    assert Span(0.11, 0.000004, 0.22).share() == "+11 % (+0.0004 % to +22 %)"
    assert Span(0.0, 0.0, 0.0, 0.0).share() == "0 % (0 % to 0 %)"
    assert Span(0.2, None, None).share() == "+20 %"
    assert Span(None, None, None).percents() == ("-", "-")


def test_each_bound_has_the_digits_of_its_own_interval() -> None:
    lower, upper = Interval(0.32167, 0.09534, 0.58662, 0.126), Interval(2.82167, 2.81, 2.8335, 0.006)
    assert between(lower, upper) == ("0.32", "2.822", "0.10 to 2.833")
    vague = Interval(0.5, -3.5, 4.0, 2.0)
    assert between(Interval(0.0, 0.0, 0.0, 0.0), vague, signed=True) == ("0", "+0.50", "0 to +4")
    assert between(lower, upper, signed=True) == ("+0.32", "+2.822", "+0.10 to +2.833")


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        (0.31, 0.26, ("0.31", "0.26")),
        (0.3134, 0.3089, ("0.313", "0.309")),
        (2.0, 0.463, ("2.0", "0.46")),
        (1234567.0, 1234000.0, ("1,234,600", "1,234,000")),
        (12.0, 0.0, ("12", "0")),
        (-0.02, 0.03, ("-0.020", "0.030")),
        (0.5, 0.5, ("0.500", "0.500")),
    ],
)
def test_two_numbers_show_their_difference(one: float, other: float, shown: tuple[str, str]) -> None:
    assert apart(one, other) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1e5, "100,000"),
        (12345.6, "12,300"),
        (2.0, "2"),
        (0.0103, "0.0103"),
        (1.23456e-5, "1.23e-05"),
        (4.359e9, "4.36e+09"),
    ],
)
def test_a_number_without_error_has_three_digits_at_most(value: float, shown: str) -> None:
    assert rough(value) == shown


def test_a_rounded_zero_has_no_sign() -> None:
    assert number(-0.0004, 2) == "0.00"
    assert number(0.0, 2, signed=True) == "0.00"
    assert Span(5.0, -1e-12, 9.0).interval() == "0 to 9"


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
        (0.0, "0 %"),
        (0.05, "5 %"),
        (0.9996, "99.96 %"),
        (0.996, "99.6 %"),
        (0.999999, "> 99.99 %"),
        (1.5, "150 %"),
        (123.0, "12,300 %"),
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
