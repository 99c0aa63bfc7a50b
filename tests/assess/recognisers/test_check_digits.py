"""Check digits against worked examples and an outside library."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import date
from importlib import import_module

import pytest

from celosia.assess.recognisers import check_digits

VALID = {
    "luhn": ["79927398713"],
    "card": ["4111111111111111"],
    "iban": ["ES9121000418450200051332", "GB82WEST12345698765432", "DE89370400440532013000"],
    "dni": ["12345678Z"],
    "nie": ["X1234567L", "Y1234567X", "Z1234567R"],
    "cif": ["A58818501"],
    "social_security_es": ["281234567840", "280123456742"],
    "cuit": ["20123456786"],
    "rut": ["123456785", "111111111", "10000013K"],
    "cpf": ["11144477735"],
    "curp": ["BOXW310820HNERXN09"],
    "nhs": ["9434765919"],
    "vin": ["1M8GDM9AXKP042788"],
    "isbn": ["9780306406157", "080442957X"],
    "ean": ["4006381333931"],
}


@pytest.mark.parametrize(("name", "text"), [(n, t) for n, all in VALID.items() for t in all])
def test_valid_examples_pass_and_one_changed_digit_fails(name: str, text: str) -> None:
    # Check 32.
    check = getattr(check_digits, name)
    assert check(text)
    passing = {place for place, changed in _changed(text) if check(changed)}
    # The weights of these places of a CURP, 14, 10 and 2, share a factor with its modulus of 10.
    assert passing == ({4, 8, 16} if name == "curp" else set())


def _changed(text: str) -> Iterator[tuple[int, str]]:
    """A text with each of its digits changed to each other one."""
    for place, mark in enumerate(text):
        if mark.isdigit():
            for other in "0123456789".replace(mark, ""):
                yield place, text[:place] + other + text[place + 1 :]


def _digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choices("0123456789", k=count))


def _weighted(text: str, weights: range | tuple[int, ...], modulus: int) -> int:
    return sum(int(mark) * weight for mark, weight in zip(text, weights, strict=False)) % modulus


def _blind_curp(text: str, changed: str, place: int) -> bool:
    century = 1900 if text[16].isdigit() else 2000
    try:
        date(century + int(changed[4:6]), int(changed[6:8]), int(changed[8:10]))
    except ValueError:
        return False
    return (18 - place) * (int(changed[place]) - int(text[place])) % 10 == 0


def _blind_cuit(text: str, changed: str, place: int) -> bool:
    """The check digit 9 stands for two remainders; both must be of a prefix that exists."""
    weights = (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)
    both = {_weighted(each, weights, 11) for each in (text, changed)}
    known = ("20", "23", "24", "27", "30", "33", "34", "50", "51", "55")
    return place < 10 and both == {1, 2} and changed[:2] in known


def _blind_cpf(text: str, changed: str, place: int) -> bool:
    """A check digit 0 stands for the remainders 0 and 1 of the sum before it."""
    for size in (9, 10):
        both = {_weighted(each[:size], range(size + 1, 1, -1), 11) for each in (text, changed)}
        if place >= size or (len(both) == 2 and both != {0, 1}):
            return False
    return len(set(changed)) > 1


def _blind_social_security_es(text: str, changed: str, place: int) -> bool:
    digits = sorted((int(text[2]), int(changed[2])))
    return place == 2 and digits[0] == 0 and (9 * int(text[:2]) + digits[1]) % 97 == 0


BLIND = {
    "curp": _blind_curp,
    "cuit": _blind_cuit,
    "cpf": _blind_cpf,
    "social_security_es": _blind_social_security_es,
}
"""The kinds whose published formula misses some changed digits, and exactly which."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
Generator = Callable[[random.Random], str]

RANDOM: dict[str, tuple[str, Generator]] = {
    "luhn": ("luhn", lambda rng: _digits(rng, rng.randint(1, 19))),
    # For Spain the oracle checks the account's own digits as well.
    "iban": ("iban", lambda rng: f"DE{rng.randint(2, 98):02d}{_digits(rng, 18)}"),
    "dni": ("es.dni", lambda rng: _digits(rng, 8) + rng.choice(LETTERS)),
    "nie": ("es.nie", lambda rng: rng.choice("XYZK") + _digits(rng, 7) + rng.choice(LETTERS)),
    "cif": (
        "es.cif",
        lambda rng: rng.choice(LETTERS) + _digits(rng, 7) + rng.choice("0123456789ABCDEFGHIJ"),
    ),
    "cuit": ("ar.cuit", lambda rng: rng.choice(("20", "27", "30", "51", "26")) + _digits(rng, 9)),
    "rut": ("cl.rut", lambda rng: _digits(rng, rng.choice((7, 8))) + rng.choice("0123456789K")),
    "cpf": ("br.cpf", lambda rng: _digits(rng, 11)),
    # The second letter X keeps clear of the words that no CURP begins with.
    "curp": (
        "mx.curp",
        lambda rng: (
            f"{rng.choice(LETTERS)}X{rng.choice(LETTERS)}{rng.choice(LETTERS)}"
            f"{rng.randint(0, 99):02d}{rng.randint(1, 12):02d}{rng.randint(1, 28):02d}"
            f"{rng.choice('HM')}{rng.choice(('NE', 'DF', 'ZS'))}"
            f"{''.join(rng.choices('BCDFGHJKLMNPQRSTVWXYZ', k=3))}{rng.choice('0A9')}"
            f"{_digits(rng, 1)}"
        ),
    ),
    "nhs": ("gb.nhs", lambda rng: _digits(rng, 10)),
    "ssn": (
        "us.ssn",
        lambda rng: (
            rng.choice(("000", "666", "9" + _digits(rng, 2), _digits(rng, 3)))
            + rng.choice(("00", _digits(rng, 2)))
            + rng.choice(("0000", _digits(rng, 4)))
        ),
    ),
    "isbn": (
        "isbn",
        lambda rng: rng.choice(
            (_digits(rng, 9) + rng.choice("0123456789X"), "978" + _digits(rng, 10))
        ),
    ),
    "ean": ("ean", lambda rng: _digits(rng, rng.choice((8, 13)))),
}


@pytest.mark.parametrize("name", RANDOM)
def test_checks_agree_with_python_stdnum(name: str) -> None:
    # Check 32: 10,000 random strings a kind.
    module, draw = RANDOM[name]
    oracle = import_module(f"stdnum.{module}").is_valid
    check = getattr(check_digits, name)
    rng = random.Random(32)
    texts = [draw(rng) for _ in range(10_000)]
    assert [text for text in texts if check(text) != bool(oracle(text))] == []
    assert any(map(check, texts))


def _valid(name: str, count: int) -> list[str]:
    """Random numbers that pass, and of the kinds with blind places some where these matter."""
    check, rng = getattr(check_digits, name), random.Random(1)
    found = list(VALID.get(name, []))
    while len(found) < count:
        if name == "social_security_es":
            body = rng.choice(("43", "43", _digits(rng, 2))) + rng.choice("0478") + _digits(rng, 7)
            found += [body + f"{rest:02d}" for rest in range(97) if check(body + f"{rest:02d}")]
        elif check(text := RANDOM[name][1](rng)):
            found.append(text)
    return found


@pytest.mark.parametrize("name", sorted((set(RANDOM) | set(BLIND)) - {"ssn"}))
def test_a_changed_digit_fails_but_where_the_published_formula_is_blind(name: str) -> None:
    """Check 32 beyond its examples: exactly these changes pass, and no other."""
    check, blind, missed = getattr(check_digits, name), BLIND.get(name), 0
    for text in _valid(name, 60):
        for place, changed in _changed(text):
            expected = blind is not None and blind(text, changed, place)
            assert check(changed) == expected, (text, place, changed)
            missed += expected
    assert (missed > 0) == (name in BLIND)
