"""Columns of numbers with check digits, against plain arithmetic on made-up numbers."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.assess.recognisers.check_digits import IBAN_LENGTHS
from celosia.assess.risk import content

VALUES = dict(
    zip("0123456789ABCDEFGHJKLMNPRSTUVWXYZ", "012345678912345678123457923456789", strict=True)
)


def plain_luhn(digits: str) -> bool:
    turned = [int(digit) for digit in reversed(digits)]
    return (sum(turned[::2]) + sum(sum(divmod(2 * d, 10)) for d in turned[1::2])) % 10 == 0


def plain_rut(body: int, check: str) -> bool:
    total = sum(int(d) * (2 + i % 6) for i, d in enumerate(reversed(str(body))))
    return "0123456789K0"[11 - total % 11] == check


@given(st.lists(st.integers(2 * 10**15, 7 * 10**15 - 1).map(str), min_size=1))
def test_cards_pass_by_the_rule_of_luhn(numbers: list[str]) -> None:
    found = content.is_card(pl.Series(numbers)).tolist()
    assert found == [plain_luhn(number) for number in numbers]


@given(st.integers(0, 10**7 - 1), st.sampled_from("0123456789XYZ"))
def test_exactly_one_letter_fits_a_dni(number: int, first: str) -> None:
    letters = "TRWAGMYFPDXBNJZSQVHLCKE"
    whole = int({"X": "0", "Y": "1", "Z": "2"}.get(first, first) + f"{number:07}")
    texts = [f"{first}{number:07}{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    passed = pl.Series(texts).filter(pl.Series(content.is_dni(pl.Series(texts))))
    assert passed.to_list() == [f"{first}{number:07}{letters[whole % 23]}"]


@given(st.integers(10**6, 10**8 - 1))
def test_exactly_one_digit_fits_a_rut(body: int) -> None:
    spelt = f"{body:,}".replace(",", ".")
    checks = "0123456789K"
    wanted = [plain_rut(body, check) for check in checks]
    assert sum(wanted) == 1
    for shape in (spelt + "-", f"{body}-", str(body)):
        found = content.is_rut(pl.Series([shape + check for check in checks]))
        assert found.tolist() == wanted


@settings(max_examples=40)
@given(st.sampled_from(sorted(IBAN_LENGTHS)), st.from_regex(r"[0-9A-Z]{30}", fullmatch=True))
def test_one_pair_of_check_digits_fits_an_account(country: str, text: str) -> None:
    account = text[: IBAN_LENGTHS[country] - 4]
    due = 98 - int("".join(str(int(letter, 36)) for letter in account + country + "00")) % 97
    texts = [f"{country}{pair:02}{account}" for pair in range(2, 99)]
    found = content.is_account(pl.Series(texts)).tolist()
    assert [pair for pair, passed in enumerate(found, 2) if passed] == [due]


@given(st.from_regex(r"[A-HJ-NPR-Z0-9]{17}", fullmatch=True))
def test_one_ninth_character_fits_a_vehicle(text: str) -> None:
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    due = sum(int(VALUES[c]) * weight for c, weight in zip(text, weights, strict=True)) % 11
    texts = [text[:8] + check + text[9:] for check in "0123456789X"]
    found = content.is_vehicle(pl.Series(texts)).tolist()
    assert found == [place == due for place in range(11)]


@pytest.mark.parametrize(
    "check",
    [
        content.is_card,
        content.is_account,
        content.is_dni,
        content.is_rut,
        content.is_vehicle,
    ],
)
def test_texts_of_any_kind_are_only_refused(check: Callable[[pl.Series], object]) -> None:
    odd = ["", " ", "ñandú", "0", "x" * 99, "٣" * 16, "12345678😀", "\n4111111111111111"]
    assert list(check(pl.Series(odd))) == [False] * len(odd)  # type: ignore[call-overload]
    assert list(check(pl.Series([], dtype=pl.String))) == []  # type: ignore[call-overload]
