"""What every sketch can do: update, merge, be written and read, and tell what it is.

A sketch is its parameters and a few arrays of whole numbers. The same values give the same arrays
in any order and in any number of parts, so merging is exact. The fingerprint of the parameters
tells whether two sketches may be merged.

A sketch is written as the mark `CSK1`, the length of a head of JSON (4 bytes, the lowest first),
the head (kind of sketch, parameters, fingerprint, and name, type and shape of each array), the
arrays in that order, the lowest byte first, and 16 bytes of BLAKE2b of all that stands before. The
sum finds accidents; it is no signature.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import current, localise, say
from celosia.core.numbers import real, whole

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


FORM = "celosia sketch 1"
LARGEST = 2**31
INTERVAL = ("low", "high")
"""Facts that are told in one sentence with their estimate."""
"""Cells of one sketch."""


class Sketch(ABC):
    """A small summary of many values; merging two is summarising all of their values."""

    name: ClassVar[str]
    """As it is written in bytes."""

    key: str
    """Decides the hash functions: sketches with another key cannot be merged."""

    _kinds: ClassVar[dict[str, type[Sketch]]] = {}
    _joining: ClassVar[np.ufunc]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" in vars(cls):
            Sketch._kinds[cls.name] = cls

    def __init__(self, *, key: str) -> None:
        if not isinstance(key, str) or len(key.encode("utf-8", "replace")) > 48:
            raise InputError("CEL-K003.key")
        self.key = key

    @abstractmethod
    def update(self, values: Any, counts: Any = None) -> Self:
        """Take in an array, a series or a list of values, each once or `counts` times."""

    @abstractmethod
    def _sizes(self) -> dict[str, int]:
        """The parameters next to the key."""

    @abstractmethod
    def _shapes(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        """The type and the shape of each array of the state."""

    @abstractmethod
    def _facts(self) -> dict[str, Any]:
        """What the sketch knows without being asked about a value, as plain values."""

    def _sound(self) -> bool:
        """Whether a state that was read can have come from updates."""
        return True

    @cached_property
    def _state(self) -> Arrays:
        """Made when first wanted: who only asks for sizes needs no memory."""
        return {name: np.zeros(shape, dtype=kind) for name, (kind, shape) in self._shapes().items()}

    def parameters(self) -> dict[str, Any]:
        """All that decides about the state, as plain values."""
        return {**self._sizes(), "key": self.key}

    @cached_property
    def fingerprint(self) -> bytes:
        """8 bytes that tell kinds of sketches and their parameters apart."""
        text = json.dumps([FORM, self.name, self.parameters()], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).digest()

    @property
    def size(self) -> int:
        """The bytes of the state in memory."""
        return sum(each.nbytes for each in self._state.values())

    def merge(self, other: Sketch) -> Self:
        """Take in all that another sketch has seen, exactly as if it had been seen here.

        Raises:
            InputError: CEL-K006 it is another kind of sketch, or has other parameters.
        """
        self._same(other)
        for name, theirs in other._state.items():
            mine = self._state[name]
            self._joining(mine, theirs, out=mine)
        return self

    def copy(self) -> Self:
        """Another sketch with the same state."""
        made = type(self)(**self.parameters())
        made.__dict__["_state"] = {name: each.copy() for name, each in self._state.items()}
        return made

    def to_bytes(self) -> bytes:
        """Parameters and state, to be read by `from_bytes`."""
        head = {
            "sketch": self.name,
            "parameters": self.parameters(),
            "fingerprint": self.fingerprint.hex(),
        }
        return to_bytes(head, self._state)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The sketch that `to_bytes` has written; `Sketch.from_bytes` reads any kind.

        Raises:
            InputError: CEL-K005 the bytes are damaged, or another kind of sketch.
        """
        head, arrays = from_bytes(data)
        kind = Sketch._kinds.get(head.get("sketch", ""))
        if kind is None or not issubclass(kind, cls):
            raise damaged()
        try:
            made = kind(**head["parameters"])
        except (InputError, KeyError, TypeError):
            raise damaged() from None
        made.__dict__["_state"] = arrays
        found = {name: (each.dtype, each.shape) for name, each in arrays.items()}
        wanted = {name: (np.dtype(kind), shape) for name, (kind, shape) in made._shapes().items()}
        if (
            found != wanted
            or made.fingerprint.hex() != head.get("fingerprint")
            or not made._sound()
        ):
            raise damaged()
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sketch):
            return NotImplemented
        return self.fingerprint == other.fingerprint and all(
            np.array_equal(mine, other._state[name]) for name, mine in self._state.items()
        )

    __hash__ = None  # type: ignore[assignment]  # it changes with every update

    def as_dict(self) -> dict[str, Any]:
        """What it is and what it knows, as plain values for JSON."""
        return {
            "sketch": self.name,
            "parameters": self.parameters(),
            "fingerprint": self.fingerprint.hex(),
            "bytes": self.size,
            **self._facts(),
        }

    def __str__(self) -> str:
        sizes = [say(f"sketches.size.{name}", value=each) for name, each in self._shown().items()]
        told = {name: formatted(value) for name, value in self._facts().items()}
        facts = [say(f"sketches.fact.{name}", **told) for name in told if name not in INTERVAL]
        size = say("sketches.size.bytes", value=self.size)
        return f"{self.name} ({', '.join(sizes)}): {', '.join([*facts, size])}"

    def _shown(self) -> dict[str, int]:
        """The sizes as people are told them."""
        return self._sizes()

    def __repr__(self) -> str:
        text = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        return f"{type(self).__name__}({text})"

    def _same(self, other: Sketch) -> None:
        if not isinstance(other, Sketch) or other.fingerprint != self.fingerprint:
            raise InputError("CEL-K006")


def check_size(word: str, value: object, low: int, high: int = LARGEST) -> int:
    """A whole number in its range."""
    number = whole(value)
    if number is None or not low <= number <= high:
        raise InputError("CEL-K003.size", name=word, low=low, high=high)
    return number


def check_share(word: str, value: object) -> float:
    """A number above 0 and below 1: a wished error, or a confidence."""
    number = real(value)
    if number is None or not 0 < number < 1:
        raise InputError("CEL-K008.share", name=word)
    return number


def weights(counts: Any, size: int, *, negative: bool = True) -> NDArray[np.int64] | None:
    """Counts as an array of whole numbers, one for each value; None stays None."""
    if counts is None:
        return None
    array = np.asarray(counts.to_numpy() if hasattr(counts, "to_numpy") else counts)
    if array.shape != (size,) or (size and array.dtype.kind not in "iu"):
        raise InputError("CEL-K004.not_whole")
    if size and max(-int(array.min()), int(array.max())) > LARGEST:
        raise InputError("CEL-K004.too_large", low=-LARGEST, high=LARGEST)
    if size and not negative and array.min() < 0:
        raise InputError("CEL-K004.below_zero")
    return array.astype(np.int64)


def formatted(value: Any) -> str:
    """A number for people, in their language."""
    if value is None:
        return say("sketches.unbounded")
    form = ",.4g" if isinstance(value, float) and abs(value) < 1000 else ",.0f"
    return localise(format(value, form), current())
