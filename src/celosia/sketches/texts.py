"""Digests of many texts at once: Arrow finds the different ones, and a kernel hashes each once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
