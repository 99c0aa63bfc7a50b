"""A sketch as bytes: what it is, its parameters, its arrays, and a sum that shows damage.

The mark `CSK1`, the length of a head of JSON (4 bytes, the lowest first), the head (kind of sketch,
parameters, fingerprint, and name, type and shape of each array), the arrays in that order, the
lowest byte first, and 16 bytes of BLAKE2b of all that stands before. The sum finds accidents; it is
no signature.
"""

from __future__ import annotations

import hashlib
import json
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError

Arrays = dict[str, NDArray[Any]]

MARK = b"CSK1"
_START, _SUM = 8, 16
_TYPES = {"u1": np.uint8, "u8": np.uint64, "i8": np.int64}


def to_bytes(head: dict[str, Any], arrays: Arrays) -> bytes:
    """A head and arrays as bytes."""
    shapes = [[name, each.dtype.str[1:], list(each.shape)] for name, each in arrays.items()]
    said = json.dumps({**head, "arrays": shapes}, sort_keys=True).encode()
    parts = [MARK, len(said).to_bytes(4, "little"), said]
    parts += [each.astype(each.dtype.newbyteorder("<")).tobytes() for each in arrays.values()]
    body = b"".join(parts)
    return body + hashlib.blake2b(body, digest_size=_SUM).digest()


def from_bytes(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """The head and the arrays of a written sketch.

    Raises:
        InputError: CEL-K005 it is none, is of another version, or was damaged.
    """
    body, check = bytes(data[:-_SUM]), bytes(data[-_SUM:])
    if body[:4] != MARK or hashlib.blake2b(body, digest_size=_SUM).digest() != check:
        raise damaged()
    try:
        return _read(body)
    except (KeyError, TypeError, ValueError):
        raise damaged() from None


def _read(body: bytes) -> tuple[dict[str, Any], Arrays]:
    at = _START + int.from_bytes(body[4:_START], "little")
    head: dict[str, Any] = json.loads(body[_START:at])
    arrays: Arrays = {}
    for name, kind, shape in head.pop("arrays"):
        dtype = np.dtype(_TYPES[kind])
        end = at + dtype.itemsize * prod(int(each) for each in shape)
        found = np.frombuffer(body[at:end], dtype=dtype.newbyteorder("<"))
        arrays[name] = found.reshape(shape).astype(dtype)
        at = end
    if at != len(body):
        raise ValueError
    return head, arrays


def damaged() -> InputError:
    """The error of bytes that are no whole sketch."""
    return InputError("CEL-K005")
