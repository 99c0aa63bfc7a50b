"""Keyed fingerprints of records and people: the same in every release, and no value can be read.

Without the key a fingerprint cannot be compared with a guess, so a history without its key does not
tell whether somebody is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.frames import as_text

BYTES = 8
"""Two of 10 million fingerprints of 64 bits are equal by a chance of 3 in a million."""


@dataclass(frozen=True, eq=False, slots=True)
class Fingerprints:
    """One of each record, and one of the unit that it belongs to."""

    records: NDArray[np.uint64] = field(repr=False)
    units: NDArray[np.uint64] = field(repr=False)


def fingerprints(
    frame: pl.DataFrame, basis: Sequence[str], unit_column: str | None, key: bytes
) -> Fingerprints:
    """The fingerprints of the records of a source.

    A record is known by its cells in the columns of the basis; where several have the same ones
    they are interchangeable, and numbered.
    """
    records = _numbered(_hashes([frame[name] for name in basis], key, b"record"), key)
    if unit_column is None:
        return Fingerprints(records, records)
    return Fingerprints(records, _hashes([frame[unit_column]], key, b"unit"))


def _hashes(columns: Sequence[pl.Series], key: bytes, purpose: bytes) -> NDArray[np.uint64]:
    """A keyed hash of each row; cells are told apart by their length, and empty ones by a mark."""
    texts = [as_text(column).to_list() for column in columns]
    hashes = bytearray()
    for cells in zip(*texts, strict=True):
        text = "".join("-" if cell is None else f"{len(cell)}:{cell}" for cell in cells)
        keyed = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=BYTES, key=key,
                        person=purpose)  # fmt: skip
        hashes += keyed.digest()
    return np.frombuffer(bytes(hashes), dtype="<u8").astype(np.uint64)


def _numbered(hashes: NDArray[np.uint64], key: bytes) -> NDArray[np.uint64]:
    """The same, but the second, third and further of equal ones become hashes of their own."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    new = np.append(True, ordered[1:] != ordered[:-1])
    first = np.maximum.accumulate(np.where(new, np.arange(ordered.size), 0))
    number = np.arange(ordered.size) - first
    result = hashes.copy()
    for place in np.flatnonzero(number):
        text = ordered[place].tobytes() + int(number[place]).to_bytes(8, "little")
        keyed = blake2b(text, digest_size=BYTES, key=key, person=b"equal")
        result[order[place]] = np.frombuffer(keyed.digest(), dtype="<u8")[0]
    return result
