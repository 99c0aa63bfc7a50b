"""Check digits against worked examples and an outside library."""

from __future__ import annotations

import random
from collections.abc import Callable
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
    # The weights of a CURP share factors with its modulus: some changes of its date go unnoticed.
    places = [17] if name == "curp" else range(len(text))
    for place in places:
        mark = text[place]
        if mark.isdigit():
            for other in "0123456789".replace(mark, ""):
                assert not check(text[:place] + other + text[place + 1 :]), (place, other)


def _digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choices("0123456789", k=count))


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
