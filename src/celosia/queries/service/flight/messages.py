"""The protobuf messages of Flight SQL, as far as questions and metadata need them.

A message is a list of numbered fields, each a whole number or some bytes; no other kind occurs in
these messages. They travel inside `google.protobuf.Any`, which names them.

Reference: FlightSql.proto of Apache Arrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from celosia.core.errors import InputError

Value = int | bytes
_PREFIX = "type.googleapis.com/arrow.flight.protocol.sql."
_VARINT, _BYTES = 0, 2
"""The kinds of fields in these messages."""
_LONGEST_VARINT = 10


@dataclass(frozen=True, slots=True)
class FlightMessage:
    """A message by its name, with the values of its fields by their numbers."""

    name: str
    fields: Mapping[int, tuple[Value, ...]] = field(default_factory=dict)

    @classmethod
    def read(cls, data: bytes | None) -> FlightMessage:
        """Read a message inside `Any`.

        Raises:
            InputError: CEL-Q347 it is no message of Flight SQL.
        """
        outer = cls("Any", read_fields(data or b""))
        address = outer.text(1) or ""
        if not address.startswith(_PREFIX):
            raise InputError("CEL-Q347.unreadable")
        return cls(address.removeprefix(_PREFIX), read_fields(outer.data(2)))

    def data(self, number: int) -> bytes:
        """The bytes of a field; none if it is absent.

        Raises:
            InputError: CEL-Q347 the field holds a number.
        """
        values = self.fields.get(number, (b"",))
        if not isinstance(values[-1], bytes):
            raise InputError("CEL-Q347.unreadable")
        return values[-1]  # of a field that is there twice, the last one holds

    def text(self, number: int) -> str | None:
        """The text of a field; None if it is absent.

        Raises:
            InputError: CEL-Q347 the field holds no text.
        """
        return None if number not in self.fields else _text(self.data(number))

    def flag(self, number: int) -> bool:
        """The truth of a field; false if it is absent."""
        return self.fields.get(number, (0,))[-1] not in {0, b""}

    def texts(self, number: int) -> tuple[str, ...]:
        """The texts of a field that may be there several times."""
        values = self.fields.get(number, ())
        return tuple(_text(value) for value in values if isinstance(value, bytes))

    def numbers(self, number: int) -> tuple[int, ...]:
        """The numbers of a field that may be there several times, each alone or packed together."""
        found: list[int] = []
        for value in self.fields.get(number, ()):
            if isinstance(value, int):
                found.append(value)
                continue
            at = 0
            while at < len(value):
                each, at = _read_varint(value, at)
                found.append(each)
        return tuple(found)


def write_message(name: str, fields: Mapping[int, bytes | str]) -> bytes:
    """A message inside `Any`.

    >>> FlightMessage.read(write_message("CommandStatementQuery", {1: "SELECT 1"})).text(1)
    'SELECT 1'
    """
    return write_fields({1: _PREFIX + name, 2: write_fields(fields)})


def write_fields(fields: Mapping[int, bytes | str]) -> bytes:
    """The fields of a message, one after the other."""
    parts = []
    for number, value in fields.items():
        data = value.encode() if isinstance(value, str) else value
        parts += [_varint(number << 3 | _BYTES), _varint(len(data)), data]
    return b"".join(parts)


def read_fields(data: bytes) -> dict[int, tuple[Value, ...]]:
    """The fields of a message by their numbers.

    Raises:
        InputError: CEL-Q347 it ends too early, or has a field of another kind.
    """
    found: dict[int, tuple[Value, ...]] = {}
    for number, value in _pairs(data):
        found[number] = (*found.get(number, ()), value)
    return found


def _pairs(data: bytes) -> Iterator[tuple[int, Value]]:
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        number, kind = tag >> 3, tag & 7
        amount, at = _read_varint(data, at)
        if kind == _VARINT:
            yield number, amount
        elif kind == _BYTES and at + amount <= len(data):
            yield number, data[at : at + amount]
            at += amount
        else:
            raise InputError("CEL-Q347.unreadable")


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, the smallest first, and where it ends."""
    total = 0
    for place, byte in enumerate(data[at : at + _LONGEST_VARINT]):
        total |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return total, at + place + 1
    raise InputError("CEL-Q347.unreadable")


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InputError("CEL-Q347.unreadable") from None
