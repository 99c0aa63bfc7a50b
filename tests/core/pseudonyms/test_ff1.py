"""Format-preserving encryption against the vectors of NIST."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.pseudonyms.ff1 import FF1, LETTERS_AND_DIGITS

KEY = bytes.fromhex("2B7E151628AED2A6ABF7158809CF4F3C")


@pytest.mark.parametrize(
    ("alphabet", "tweak", "plain", "encrypted"),
    [
        ("0123456789", "", "0123456789", "2433477484"),
        ("0123456789", "39383736353433323130", "0123456789", "6124200773"),
        (
            LETTERS_AND_DIGITS,
            "3737373770717273373737",
            "0123456789abcdefghi",
            "a9tv40mll9kdu509eum",
        ),
    ],
)
def test_vectors_of_the_standard(alphabet: str, tweak: str, plain: str, encrypted: str) -> None:
    # Check 33.
    ff1 = FF1(KEY, alphabet)
    assert ff1.encrypt(plain, bytes.fromhex(tweak)) == encrypted
    assert ff1.decrypt(encrypted, bytes.fromhex(tweak)) == plain


@given(st.text("0123456789", min_size=6, max_size=60), st.binary(max_size=40))
@settings(max_examples=60)
def test_what_is_encrypted_is_decrypted(text: str, tweak: bytes) -> None:
    ff1 = FF1(KEY)
    hidden = ff1.encrypt(text, tweak)
    assert len(hidden) == len(text)
    assert ff1.decrypt(hidden, tweak) == text


def test_a_domain_below_a_million_is_refused() -> None:
    # Check 33.
    FF1(KEY).encrypt("123456")
    with pytest.raises(InputError, match="million"):
        FF1(KEY).encrypt("12345")


def test_characters_outside_the_alphabet_and_short_keys_are_refused() -> None:
    with pytest.raises(InputError, match="character"):
        FF1(KEY).encrypt("12345-6")
    with pytest.raises(InputError, match="bytes"):
        FF1(b"short")
