"""The state of a server as bytes: whole-number arrays, and which protocol they count.

The mark `CLS1`, the length of a head of JSON (4 bytes, the lowest first), the head, the arrays in
the order of the head (64-bit whole numbers, the lowest byte first), and 16 bytes of BLAKE2b of all
that stands before.
"""

from __future__ import annotations

import hashlib
import json
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError

State = dict[str, NDArray[np.int64]]

MARK = b"CLS1"
_START, _SUM = 8, 16


def write_state(fingerprint: bytes, users: int, arrays: State) -> bytes:
    """The state of a server as bytes."""
    head = json.dumps(
        {
            "fingerprint": fingerprint.hex(),
            "users": users,
            "arrays": [[name, list(each.shape)] for name, each in arrays.items()],
        }
    ).encode()
    parts = [MARK, len(head).to_bytes(4, "little"), head]
    parts += [np.ascontiguousarray(each, dtype="<i8").tobytes() for each in arrays.values()]
    body = b"".join(parts)
    return body + hashlib.blake2b(body, digest_size=_SUM).digest()


def read_state(data: bytes) -> tuple[bytes, int, State]:
    """The fingerprint, the number of reports and the arrays of a written state.

    Raises:
        InputError: CEL-R006 it is none, or was damaged.
    """
    body, check = data[:-_SUM], data[-_SUM:]
    if body[:4] != MARK or hashlib.blake2b(body, digest_size=_SUM).digest() != check:
        raise _damaged()
    try:
        return _parse(body)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _damaged() from error


def _parse(body: bytes) -> tuple[bytes, int, State]:
    """The parts of a body; any error of Python's own for one that `write_state` never made."""
    at = _START + int.from_bytes(body[4:_START], "little")
    head: dict[str, Any] = json.loads(body[_START:at])
    arrays: State = {}
    for name, shape in head["arrays"]:
        size = 8 * prod(shape)
        arrays[name] = np.frombuffer(body[at : at + size], dtype="<i8").reshape(shape)
        at += size
    users = head["users"]
    if at != len(body) or not isinstance(users, int) or users < 0:
        raise ValueError(users)
    return bytes.fromhex(head["fingerprint"]), users, arrays


def _damaged() -> InputError:
    return InputError("CEL-R006.damaged")
