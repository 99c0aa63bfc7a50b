"""exp(-x) of a rational x in whole-number arithmetic, to any precision, with its error known."""

from __future__ import annotations

from fractions import Fraction


def exp_minus(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Whole numbers that enclose 2^bits * exp(-exponent), at most 3 apart; exponent >= 0.

    >>> exp_minus(Fraction(1), 20), round(2**20 / 2.718281828459045)
    ((385748, 385751), 385750)
    """
    if exponent * 10 > (bits + 2) * 7:  # 0.7 > ln 2, so that exp(-exponent) < 2^-bits
        return 0, 1
    # exp(-x) = exp(-x / 2^halvings)^(2^halvings) with x / 2^halvings <= 2^-8.
    halvings = (exponent.numerator // exponent.denominator).bit_length() + 8
    places = bits + halvings + bits.bit_length() + 8
    one = 1 << places
    small = (exponent.numerator << places) // (exponent.denominator << halvings)
    power, term, count = one, one, 0
    while term:
        count += 1
        term = (term * small >> places) // count
        power += -term if count % 2 else term
    # Each of the `count` terms is less than 3 units wrong (its own rounding, that of `small`, and
    # that of the term before), the terms left out less than 1 together. Each squaring of a number
    # up to 1 doubles the error and adds 1: in the end 2^halvings * (3 count + 3) units at most,
    # below 2^(places - bits), one unit of the result.
    for _ in range(halvings):
        power = power * power >> places
    found = power >> (places - bits)  # rounded down, by less than another unit
    return max(found - 1, 0), min(found + 2, 1 << bits)
