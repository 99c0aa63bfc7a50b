"""The kernels of sketches in plain Python: slow, and easy to believe."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from celosia.sketches import HashFamily

PRIME = 2**61 - 1
WORD = 2**64


def mixed(number: int) -> int:
    """SplitMix64."""
    word = (number + 0x9E3779B97F4A7C15) % WORD
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % WORD
    return word ^ (word >> 31)


def digest(value: int | str | bytes) -> int:
    if isinstance(value, int):
        return mixed(value % WORD)
    data, person = (
        (value.encode(), b"celosia text") if isinstance(value, str) else (value, b"celosia data")
    )
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, person=person).digest(), "little")


def column(number: int, coefficients: Sequence[int], width: int) -> int:
    powers = (c * pow(number, power, PRIME) for power, c in enumerate(coefficients))
    return sum(powers) % PRIME % width


def columns(family: HashFamily, value: int | str | bytes) -> list[int]:
    """The column of a value in each row."""
    return [column(digest(value), row, family.width) for row in family.coefficients.tolist()]


def salted(value: int | str | bytes, key: str) -> int:
    salt = hashlib.blake2b(key.encode(), digest_size=8, person=b"celosia salt").digest()
    return mixed(digest(value) ^ int.from_bytes(salt, "little"))


def registers(values: Sequence[int], key: str, precision: int) -> list[int]:
    """HyperLogLog, on binary numerals."""
    found = [0] * 2**precision
    for value in values:
        bits = format(salted(value, key), "064b")
        rest = bits[precision:]
        rank = rest.index("1") + 1 if "1" in rest else len(rest) + 1
        place = int(bits[:precision], 2)
        found[place] = max(found[place], rank)
    return found


def bitmaps(values: Sequence[int], key: str, maps: int) -> list[int]:
    """Flajolet-Martin."""
    found = [0] * maps
    for value in values:
        rest, place = divmod(salted(value, key), maps)
        found[place] |= 1 << next((n for n in range(63) if rest >> n & 1), 63)
    return found


def smallest(values: Sequence[int], key: str, most: int) -> tuple[int, list[int]]:
    """Theta: the limit and the hashes below it."""
    ranked = sorted({salted(value, key) >> 1 for value in values})
    return (ranked[most] if len(ranked) > most else 2**63), ranked[:most]
