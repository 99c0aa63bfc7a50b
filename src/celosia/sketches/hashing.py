"""Stable hashing: the same numbers in every process, on every machine and in every language.

A value becomes a 64-bit *digest*. Whole numbers from -2^63 to 2^64 - 1 are mixed: take x mod 2^64,
add the 64-bit golden ratio, and apply the finaliser of SplitMix64. Texts (UTF-8) and bytes are
hashed by BLAKE2b with a digest of 8 bytes, read as a little-endian number; the personal string is
"celosia text" or "celosia data". Texts are taken as they are: an accented letter of one code point
and the same letter with a combining accent are two values, so let all devices normalise alike (NFC,
say). NumPy's arrays of fixed width (dtype U or S) have lost zero characters at the end of a text.

A *family* turns digests into columns, row by row. The coefficients of row r are the little-endian
numbers of BLAKE2b(digest of 8 bytes, key = the family's key, data = "r,i" in decimal) modulo
P = 2^61 - 1, for i = 0 .. degree; the leading one is 1 where it would be 0. The column is
(polynomial of the digest mod P) mod P mod width. A polynomial of degree d is (d + 1)-wise
independent on digests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.numbers import whole
from celosia.sketches import _kernels
from celosia.sketches import _text_kernels as kernels

PERSONS = {"text": b"celosia text", "data": b"celosia data"}
"""The personal strings of BLAKE2b that tell texts from bytes."""


def of_many(listed: Any) -> NDArray[np.uint64] | None:
    """The digests of a list or an array of texts only, or of bytes only.

    None where Arrow does not take them, as half of a surrogate pair, which is no UTF-8.
    """
    import pyarrow as pa  # heavy, and only long lists of texts need it

    try:
        return of_arrow(pa.array(listed))
    except (pa.ArrowInvalid, UnicodeEncodeError):
        return None


def of_arrow(column: Any) -> NDArray[np.uint64] | None:
    """The digests of an Arrow array of texts or bytes; None where it has others, or nothing."""
    import pyarrow as pa  # heavy, and only columns of texts need it

    kind = getattr(column, "type", None)
    if isinstance(kind, pa.DictionaryType):
        kind = kind.value_type
    is_text = kind in (pa.string(), pa.large_string(), pa.string_view())
    if not is_text and kind not in (pa.binary(), pa.large_binary(), pa.binary_view()):
        return None
    if column.null_count:
        return None
    wide = column.cast(kind).cast(pa.large_string() if is_text else pa.large_binary())
    whole = wide.combine_chunks() if isinstance(wide, pa.ChunkedArray) else wide
    coded = whole.cast(pa.large_binary()).dictionary_encode()
    found = _hash(coded.dictionary, "text" if is_text else "data")
    spread: NDArray[np.uint64] = found[coded.indices.to_numpy()]
    return spread


def _hash(column: Any, kind: str) -> NDArray[np.uint64]:
    """The digest of each of an array of type `large_binary`."""
    _, ends, data = column.buffers()
    first = column.offset
    person = np.frombuffer(PERSONS[kind].ljust(16, b"\0"), dtype="<u8").astype(np.uint64)
    return kernels.blake(
        np.frombuffer(data or b"", dtype=np.uint8),
        np.frombuffer(ends, dtype=np.int64)[first : first + len(column) + 1],
        person,
    )


PRIME = 2**61 - 1
GOLDEN = 0x9E3779B97F4A7C15

Digests = NDArray[np.uint64]

_MANY = 1000
"""Texts in a list for which loading Arrow pays."""


def digest(value: object) -> int:
    """The digest of one value.

    >>> digest("celosía"), digest(2026)
    (8829134018270389533, 15824617304438902051)
    """
    return int(digests([value])[0])


def digests(values: Any) -> Digests:
    """The digests of an array, a series or a list of whole numbers, texts or bytes.

    Raises:
        InputError: CEL-K001 a value is none of these; which one is not told.
    """
    if isinstance(values, (str, bytes)):
        raise InputError("CEL-K001.one_text")
    column = values.to_arrow() if hasattr(values, "to_arrow") else values
    if hasattr(column, "to_pylist") and (found := of_arrow(column)) is not None:
        return found
    array = value_array(values)
    if array.dtype.kind in "iu":
        return _kernels.mixed(words_of(array))
    listed: list[Any] = array.tolist()
    if len(listed) > _MANY and set(map(type, listed)) in ({str}, {bytes}):
        many = of_many(listed)
        if many is not None:
            return many
    known: dict[object, int] = {}
    made = np.empty(array.size, dtype=np.uint64)
    for place, each in enumerate(listed):
        value = plain_value(each)
        kind = (type(value), value)
        if kind not in known:
            known[kind] = _one(value)
        made[place] = known[kind]
    return made


def value_array(values: Any) -> NDArray[Any]:
    """Values as one row of whole numbers, or of objects, texts or bytes.

    Raises:
        InputError: CEL-K001 they are several columns, or of another type.
    """
    if isinstance(values, (str, bytes)):
        raise InputError("CEL-K001.one_text")
    array = values if isinstance(values, np.ndarray) else _array(values)
    if array.ndim > 1:
        raise InputError("CEL-K001.several_columns")
    if array.dtype.kind not in "iuOUS":
        raise InputError("CEL-K001.other_type", type=array.dtype)
    return array.reshape(-1)


def words_of(array: NDArray[Any]) -> Digests:
    """Whole numbers modulo 2^64."""
    wide = np.int64 if array.dtype.kind == "i" else np.uint64
    return np.ascontiguousarray(array, dtype=wide).view(np.uint64)


def plain_value(each: Any) -> str | bytes | int:
    """A text, bytes or a whole number, as Python has it.

    Raises:
        InputError: CEL-K001 it is none of these.
    """
    value = each.item() if isinstance(each, np.generic) else each
    if isinstance(value, bool) or not isinstance(value, (str, bytes, int)):
        raise InputError("CEL-K001.not_plain")
    return value


def _array(values: Any) -> NDArray[Any]:
    if hasattr(values, "to_pylist") and hasattr(values, "type"):  # Arrow copies only when told to
        return np.asarray(values.to_numpy(zero_copy_only=False))
    if hasattr(values, "column_names") and not hasattr(values, "to_numpy"):
        raise InputError("CEL-K001.table")
    if hasattr(values, "to_numpy"):
        found: NDArray[Any] = np.asarray(values.to_numpy())
        return found
    listed = list(values) if isinstance(values, Iterable) else [values]
    kinds = {type(each) for each in listed}
    if kinds == {int} and all(-(2**63) <= each < 2**63 for each in listed):
        return np.array(listed, dtype=np.int64)
    made = np.empty(len(listed), dtype=object)
    made[:] = listed
    return made


def whole_word(value: int) -> int:
    """A whole number modulo 2^64.

    Raises:
        InputError: CEL-K001 it has more than 64 bits.
    """
    if not -(2**63) <= value < 2**64:
        raise InputError("CEL-K001.too_large")
    return value % 2**64


def _one(value: str | bytes | int) -> int:
    if isinstance(value, int):
        return int(_kernels.mixed(np.array([whole_word(value)], dtype=np.uint64))[0])
    data, person = (
        (value.encode("utf-8", "surrogatepass"), PERSONS["text"])
        if isinstance(value, str)
        else (value, PERSONS["data"])
    )
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, person=person).digest(), "little")


@dataclass(frozen=True, kw_only=True)
class HashFamily:
    """Rows of hash functions onto columns 0 .. width - 1, decided by a key.

    Args:
        key: up to 64 bytes; the same key gives the same functions.
        rows: how many functions.
        width: how many columns each has.
        degree: of the polynomials; a degree of 2 is 3-wise independent.

    Raises:
        InputError: CEL-K002 a parameter is out of range.

    >>> family = HashFamily(key=b"emoji", rows=2, width=1024)
    >>> family.columns(digests(["smile", "cry"]), 0).tolist()
    [77, 926]
    """

    key: bytes
    rows: int
    width: int
    degree: int = 2

    def __post_init__(self) -> None:
        for word, low, high in (("rows", 1, 2**24), ("width", 1, 2**40), ("degree", 0, 63)):
            number = whole(getattr(self, word))
            if number is None or not low <= number <= high:
                raise InputError("CEL-K002.size", name=word, low=low, high=high)
        if len(self.key) > 64:
            raise InputError("CEL-K002.key")

    @cached_property
    def coefficients(self) -> NDArray[np.uint64]:
        """One row for each function, the constant first."""
        return self._coefficients(range(self.rows))

    def _coefficients(self, rows: Sequence[int]) -> NDArray[np.uint64]:
        places = range(self.degree + 1)
        keyed = hashlib.blake2b(digest_size=8, key=self.key)  # once: copies are cheaper
        made = [[self._coefficient(keyed.copy(), row, place) for place in places] for row in rows]
        return np.array(made, dtype=np.uint64).reshape(len(rows), self.degree + 1)

    def _coefficient(self, keyed: hashlib.blake2b, row: int, place: int) -> int:
        keyed.update(b"%d,%d" % (row, place))
        number = int.from_bytes(keyed.digest(), "little") % PRIME
        return max(1, number) if place == self.degree else number

    def columns(self, digests: Digests, row: int) -> NDArray[np.int64]:
        """The columns of digests in one row."""
        return _kernels.columns(digests, self.coefficients[row], np.int64(self.width))

    def columns_at(
        self, digests: Digests, rows: NDArray[np.int64] | Sequence[int]
    ) -> NDArray[np.int64]:
        """The column of each digest in a row of its own."""
        places = np.asarray(rows, dtype=np.int64)
        if "coefficients" in self.__dict__ or 16 * places.size > self.rows:
            table = self.coefficients
        else:  # a device with one value wants one function of many
            different, places = np.unique(places, return_inverse=True)
            table = self._coefficients(different.tolist())
        return _kernels.columns_at(digests, places, table, np.int64(self.width))

    def every_column(self, digests: Digests) -> NDArray[np.int64]:
        """The columns of all digests in all rows: rows by digests."""
        return _kernels.every_column(digests, self.coefficients, np.int64(self.width))
