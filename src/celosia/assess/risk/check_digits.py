"""Check digits: which texts are well-formed numbers of cards, accounts, people and vehicles.

Every function takes distinct texts (no missing ones) and tells for each whether it passes. The
expected share of random digits that pass is one in ten or fewer, so a column of which half pass
is no chance.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Table = NDArray[np.int64]

_DNI_LETTERS = np.frombuffer(b"TRWAGMYFPDXBNJZSQVHLCKE", dtype=np.uint8)
_VIN_WEIGHTS = np.array([8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2])
_VIN_LETTERS = {**dict(zip("ABCDEFGH", range(1, 9), strict=True)), "J": 1, "K": 2, "L": 3}
_VIN_LETTERS |= {"M": 4, "N": 5, "P": 7, "R": 9}
_VIN_LETTERS |= dict(zip("STUVWXYZ", range(2, 10), strict=True))


def luhn(texts: pl.Series) -> Flags:
    """Payment cards: 13 to 19 digits of a card issuer, with the check of Luhn (ISO 7812).

    >>> luhn(pl.Series(["4111 1111 1111 1111", "4111 1111 1111 1112", "12"])).tolist()
    [True, False, False]
    """
    bare = texts.str.replace_all(r"[ -]", "")
    # 15 digits are American Express or else a device; lengths that no issuer has are left out.
    fits = bare.str.contains(r"^(?:4\d{12}|3[47]\d{13}|3[068]\d{12}|[2-6]\d{15}|[56]\d{17,18})$")
    digits = _characters(_only(bare, fits, "0"), 19) - ord("0")
    doubled = digits[:, -2::-2] * 2
    doubled[doubled > 9] -= 9
    checked = (digits[:, -1::-2].sum(axis=1) + doubled.sum(axis=1)) % 10 == 0
    return np.asarray(fits.to_numpy() & checked)


def iban(texts: pl.Series) -> Flags:
    """Bank accounts: country, two check digits and up to 30 more, with remainder 97 (ISO 13616).

    >>> iban(pl.Series(["GB82 WEST 1234 5698 7654 32", "GB82WEST12345698765433"])).tolist()
    [True, False]
    """
    bare = texts.str.replace_all(" ", "").str.to_uppercase()
    fits = bare.str.contains(r"^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$")
    turned = _only(bare.str.slice(4) + bare.str.slice(0, 4), fits, "0")
    characters = _characters(turned, 34)
    values = np.where(characters >= ord("A"), characters - ord("A") + 10, characters - ord("0"))
    rest = np.zeros(len(texts), dtype=np.int64)
    for value in values.T:
        rest = (rest * np.where(value > 9, 100, 10) + value) % 97
    return np.asarray(fits.to_numpy() & (rest == 1))


def dni(texts: pl.Series) -> Flags:
    """Spanish DNI and NIE: eight digits, or X, Y or Z and seven, and the letter they imply.

    >>> dni(pl.Series(["12345678Z", "X1234567L", "12345678A"])).tolist()
    [True, True, False]
    """
    bare = texts.str.replace_all(r"[ .-]", "").str.to_uppercase()
    fits = bare.str.contains(r"^[XYZ0-9]\d{7}[A-Z]$")
    letters = _characters(_only(bare, fits, "00000000T"), 9)
    first = letters[:, 0]
    digits = np.where(first >= ord("X"), first - ord("X"), first - ord("0"))
    number = digits * 10**7 + _number(letters[:, 1:8])
    return np.asarray(fits.to_numpy() & (_DNI_LETTERS[number % 23] == letters[:, 8]))


def rut(texts: pl.Series) -> Flags:
    """Chilean RUT: up to eight digits and the digit or K that they imply, modulo 11.

    >>> rut(pl.Series(["12.345.678-5", "11111111-1", "12.345.678-9"])).tolist()
    [True, True, False]
    """
    bare = texts.str.to_uppercase()
    fits = bare.str.contains(r"^(?:\d{1,2}\.\d{3}\.\d{3}-|\d{7,8}-?)[0-9K]$")
    letters = _characters(_only(bare.str.replace_all(r"[.-]", ""), fits, "0"), 9)
    digits = letters[:, :8] - ord("0")
    due = (11 - digits @ np.array([3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11
    given = np.where(letters[:, 8] == ord("K"), 10, letters[:, 8] - ord("0"))
    return np.asarray(fits.to_numpy() & (due == given))


def vin(texts: pl.Series) -> Flags:
    """Vehicles: 17 letters and digits of which the ninth is the check digit (ISO 3779).

    >>> vin(pl.Series(["1M8GDM9AXKP042788", "1M8GDM9A1KP042788"])).tolist()
    [True, False]
    """
    upper = texts.str.to_uppercase()
    fits = upper.str.contains(r"^[A-HJ-NPR-Z0-9]{8}[0-9X][A-HJ-NPR-Z0-9]{8}$")
    values = np.zeros(256, dtype=np.int64)
    for digit in range(10):
        values[ord("0") + digit] = digit
    for letter, value in _VIN_LETTERS.items():
        values[ord(letter)] = value
    letters = _characters(_only(upper, fits, "0"), 17)
    rest = values[letters] @ _VIN_WEIGHTS % 11
    given = np.where(letters[:, 8] == ord("X"), 10, letters[:, 8] - ord("0"))
    return np.asarray(fits.to_numpy() & (rest == given))


def _only(texts: pl.Series, fits: pl.Series, other: str) -> pl.Series:
    """The texts that fit, and a harmless one for the rest."""
    pair = pl.DataFrame({"text": texts, "fits": fits})
    kept = pl.when(pl.col("fits")).then(pl.col("text")).otherwise(pl.lit(other))
    return pair.select(kept).to_series()


def _characters(texts: pl.Series, width: int) -> Table:
    """One row of character codes a text, with zeros in front: they change none of these checks."""
    padded = texts.str.pad_start(width, "0").to_list()
    flat = np.array(padded, dtype=f"S{width}")
    return flat.view(np.uint8).reshape(len(padded), width).astype(np.int64)


def _number(digits: Table) -> NDArray[np.int64]:
    tens = 10 ** np.arange(digits.shape[1] - 1, -1, -1)
    return np.asarray((digits - ord("0")) @ tens, dtype=np.int64)
