"""Keyed fingerprints of records and people: the same in every release, and no value can be read.

Without the key a fingerprint cannot be compared with a guess, so a history without its key does not
tell whether somebody is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.frames import as_text
from celosia.frames.columns import without_minus_zero

BYTES = 8
"""Two of 10 million fingerprints of 64 bits are equal by a chance of 3 in a million."""


Identify = Callable[["RecordHashes"], pl.DataFrame]
"""Applies a function to all rows of a source, wherever they are; their order is any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordHashes:
    """Keyed hashes of each row: of its record, of its unit, and of the group that an engine counts.

    A record is known by its cells in the columns of the basis. Workers of an engine may run it.
    """

    basis: tuple[str, ...]
    unit: str | None
    groups: tuple[str, ...]
    """The columns by which the source was grouped; none where each row is searched by itself."""
    key: bytes = field(repr=False)

    @property
    def columns(self) -> dict[str, pl.DataType]:
        """The names and types of what is made of each row."""
        return dict.fromkeys(("record", "unit", "group"), pl.Int64())

    def __call__(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The hashes of some rows."""
        record = _hashes([rows[name] for name in self.basis], self.key, b"record")
        unit = record if self.unit is None else _hashes([rows[self.unit]], self.key, b"unit")
        made = zip(self.columns, (record, unit, self.group(rows)), strict=True)
        return pl.DataFrame({name: hashes.view(np.int64) for name, hashes in made})

    def group(self, rows: pl.DataFrame) -> NDArray[np.uint64]:
        """The hash of each row's group; -0.0 and 0.0 are one value."""
        if not self.groups:
            return np.zeros(rows.height, dtype=np.uint64)
        cells = without_minus_zero(pl.DataFrame([rows[name] for name in self.groups]))
        return _hashes(list(cells), self.key, b"group")


@dataclass(frozen=True, eq=False, slots=True)
class Fingerprints:
    """One of each record, one of the unit that it belongs to, and one of its group."""

    records: NDArray[np.uint64] = field(repr=False)
    units: NDArray[np.uint64] = field(repr=False)
    groups: NDArray[np.uint64] = field(repr=False)

    @classmethod
    def of(cls, identify: Identify, hashes: RecordHashes) -> Fingerprints:
        """The fingerprints of all records of a source.

        Where several records have the same cells they are interchangeable, and numbered.
        """
        found = identify(hashes)
        record, unit, group = (found[name].to_numpy().view(np.uint64) for name in hashes.columns)
        records = _numbered(record, hashes.key)
        return cls(records, records if hashes.unit is None else unit, group)


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
