"""Pseudonyms, format-preserving encryption and surrogates: vectors and chances."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log1p

from celosia.core.progress import Progress, silent
from celosia.core.pseudonyms.ff1 import FF1, LETTERS_AND_DIGITS
from celosia.core.pseudonyms.keys import Key, expected_collisions
from celosia.lab.findings import Row
from celosia.lab.mechanisms.cells import comparing

compare_equal, compare_printed = comparing("program")

_NIST = bytes.fromhex("2B7E151628AED2A6ABF7158809CF4F3C")


def shared(people: int, names: int) -> float:
    """The chance that two of some people get the same name when each draws one by itself.

    >>> round(shared(23, 365), 3)
    0.507
    """
    return 1 - exp(sum(log1p(-each / names) for each in range(people)))


def rows(progress: Progress = silent) -> Iterator[Row]:
    """All of them."""
    made = Key(bytes(range(32))).pseudonym("person", "2026-01", "maria garcia")
    yield compare_equal("lab.texts.keyed_pseudonym", "lab.texts.text", "XF5NS2HGCIKM6", made)
    digits, wide = FF1(_NIST), FF1(_NIST, LETTERS_AND_DIGITS)
    ff1 = "lab.texts.ff1"
    yield compare_equal(
        ff1, "lab.texts.vector_1", "2433477484", digits.encrypt("0123456789"), kind=None
    )
    tweak = bytes.fromhex("39383736353433323130")
    found = digits.encrypt("0123456789", tweak)
    yield compare_equal(ff1, "lab.texts.vector_2", "6124200773", found, kind=None)
    tweak = bytes.fromhex("3737373770717273373737")
    found = wide.encrypt("0123456789abcdefghi", tweak)
    yield compare_equal(ff1, "lab.texts.vector_3", "a9tv40mll9kdu509eum", found, kind=None)
    many = "lab.texts.ten_million_values"
    yield compare_printed(
        many, "lab.texts.pairs_at_32_bits", "11642", expected_collisions(10**7, bits=32)
    )
    yield compare_printed(
        many, "lab.texts.pairs_at_64_bits", "2.7e-6", expected_collisions(10**7, bits=64)
    )
    yield compare_printed(
        "lab.texts.surrogates_one_by_one",
        "lab.texts.chance_shared",
        "0.81",
        shared(1000, 300 * 1000),
    )
