# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False
"""Decimal numbers of up to 18 digits to the nearest double, by products of 128 bits.

D. Lemire (2021), Number parsing at a gigabyte per second, section 5; first by M. Eisel. A product of the digits and of
a power of five, rounded to 128 bits, has enough of its bits right to tell the nearest double, ties included; where it
might not, or where the double would be subnormal or infinite, it says that it does not know.
"""

from __future__ import annotations

import math

import numba
import numpy as np

_jit = numba.njit(cache=True, nogil=True)

LOWEST, HIGHEST = -300, 290
"""Powers of ten that are in the table; the result is then no subnormal and no infinity."""


def _five_to_the(power: int) -> int:
    """The leading 128 bits of 5^power, rounded down, or up where 5^-power has at most 64 bits, as the proof has it."""
    five = 5 ** abs(power)
    if power >= 0:
        shift = 128 - five.bit_length()
        return five << shift if shift >= 0 else five >> -shift
    return (1 << (five.bit_length() + 127)) // five + (1 if power >= -27 else 0)


_TABLE = np.array(
    [[_five_to_the(power) >> 64, _five_to_the(power) & ((1 << 64) - 1)] for power in range(LOWEST, HIGHEST + 1)],
    dtype=np.uint64,
)
_0, _1, _3, _9, _32, _63 = (np.uint64(value) for value in (0, 1, 3, 9, 32, 63))
_LOW, _ENDS, _ALL = np.uint64((1 << 32) - 1), np.uint64(0x1FF), np.uint64((1 << 64) - 1)


@_jit
def _product(a, b):
    """(upper, lower) 64 bits of a product of 64 bits each."""
    a_high, a_low, b_high, b_low = a >> _32, a & _LOW, b >> _32, b & _LOW
    low, middle = a_low * b_low, a_high * b_low
    middle += low >> _32
    other = a_low * b_high + (middle & _LOW)
    return a_high * b_high + (middle >> _32) + (other >> _32), (other << _32) | (low & _LOW)


@_jit
def nearest(digits, power):
    """The double nearest to digits x 10^power, or -1.0 where that is not known. digits: from 0, below 2^63."""
    if digits == 0:
        return 0.0
    if power < LOWEST or power > HIGHEST:
        return -1.0
    number, zeros = np.uint64(digits), 0
    while number >> _63 == _0:
        number <<= _1
        zeros += 1
    upper, lower = _product(number, _TABLE[power - LOWEST, 0])
    if upper & _ENDS == _ENDS:  # the lower half of the power may carry into the bits that count
        more, _ = _product(number, _TABLE[power - LOWEST, 1])
        lower += more
        if lower < more:
            upper += _1
    if lower == _ALL:
        return -1.0
    top = upper >> _63
    mantissa = upper >> (top + _9)
    # floor(power log2(10)) in whole numbers; the mantissa has 53 bits.
    exponent = ((217706 * power) >> 16) + np.int64(top) - zeros + 11
    if lower <= _1 and -4 <= power <= 23 and mantissa & _3 == _1 and mantissa << (top + _9) == upper:
        mantissa &= ~_1  # exactly between two doubles: to the even one
    mantissa = (mantissa + (mantissa & _1)) >> _1
    if exponent < -1073 or exponent > 970:
        return -1.0
    return math.ldexp(float(np.int64(mantissa)), exponent)
