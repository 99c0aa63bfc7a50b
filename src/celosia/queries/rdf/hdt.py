"""The reader of HDT files: a dictionary of terms and facts as adjacency lists of their numbers.

The layout (Fernández et al. 2013, as hdt-cpp and hdt-java write it), all checked by checksums:

- a *control block*: `$HDT`, a type, a format and properties as texts that end with a zero byte, and
  a CRC-16. There is one for the file, the header, the dictionary and the facts;
- the header: N-Triples about the file, which are passed over;
- the dictionary: four *sections* of sorted terms, of those that are subjects and objects, of other
  subjects, of predicates and of other objects. A section is front-coded in blocks: a whole term,
  then for each next one the length of the prefix that it shares with the one before, and the rest;
- the facts: for each subject its predicates, and for each of these pairs its objects, as two
  sequences of numbers with as many bits as are needed, and two bitmaps that mark where lists end.

Numbers that stand alone are *VBytes*: seven bits a byte, the lowest first, the last byte marked.
A file is turned into N-Triples, which the parser of all other files reads: a term of an HDT file is
so the very term that it would be in Turtle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from celosia.queries.rdf._kernels import crc32c
from celosia.queries.rdf.file_loader import BrokenHdtError

DICTIONARY = "<http://purl.org/HDT/hdt#dictionaryFour>"
FACTS = "<http://purl.org/HDT/hdt#triplesBitmap>"
BY_SUBJECT = "1"
"""The order of facts: subject, predicate, object."""
FRONT_CODED, PACKED, BITMAP = 2, 1, 1
"""Types of sections, sequences and bitmaps."""
LINES = 2**15
"""Facts that are written at a time."""
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


class HdtReader:
    """An HDT file as a stream of N-Triples, for a parser."""

    lines = 0
    """HDT files have no lines to point at."""

    def __init__(self, data: bytes, report_share: Callable[[float], None]) -> None:
        """Take the whole file, which is a tenth of its N-Triples, and report how much is read."""
        self._report_share = report_share
        self._pieces = self._write_lines(_Parts(data))
        self._held = b""

    def read(self, size: int = -1) -> bytes:
        """Some more bytes of N-Triples; nothing at the end."""
        while size < 0 or len(self._held) < size:
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._held += piece
        end = len(self._held) if size < 0 else size
        given, self._held = self._held[:end], self._held[end:]
        return given

    def _write_lines(self, parts: _Parts) -> Iterator[bytes]:
        parts.control(1)
        header = parts.control(2)[1]
        parts.take(_number(header.get("length", "0")))
        form, _ = parts.control(3)
        _expect(form == DICTIONARY)
        shared, subjects, predicates, objects = (_section(parts) for _ in range(4))
        form, properties = parts.control(4)
        _expect(form == FACTS and properties.get("order", BY_SUBJECT) == BY_SUBJECT)
        facts = _facts(parts)
        names = shared + subjects, predicates, shared + objects
        # A number that no term has would be a term of another list, or none.
        for column, terms in zip(facts, names, strict=True):
            _expect(column.size == 0 or (column.min() >= 1 and column.max() <= len(terms)))
        total = len(facts[0])
        for start in range(0, total, LINES):
            columns = (
                [terms[number - 1] for number in column[start : start + LINES]]
                for column, terms in zip(facts, names, strict=True)
            )
            lines = [f"{s} {p} {o} .\n" for s, p, o in zip(*columns, strict=True)]
            self._report_share(start / total)
            yield "".join(lines).encode()


class _Parts:
    """The bytes of a file, taken from the front."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        """The next bytes."""
        end = self._at + size
        _expect(size >= 0 and end <= len(self._data))
        piece, self._at = self._data[self._at : end], end
        return piece

    def text(self) -> str:
        """The next text, up to its zero byte."""
        end = self._data.find(b"\0", self._at)
        _expect(end >= 0)
        return _decoded(self.take(end + 1 - self._at)[:-1])

    def vbyte(self) -> int:
        """The next number."""
        number = shift = 0
        while True:
            (byte,) = self.take(1)
            number |= (byte & 0x7F) << shift
            if byte & 0x80:
                return number
            shift += 7
            _expect(shift < 63)

    def checked(self, crc: Callable[[bytes], int], size: int, start: int) -> None:
        """Compare a checksum with that of all bytes since `start`."""
        wanted = crc(self._data[start : self._at])
        _expect(int.from_bytes(self.take(size), "little") == wanted)

    def control(self, kind: int) -> tuple[str, dict[str, str]]:
        """The next control block: its format and its properties."""
        start = self._at
        _expect(self.take(4) == b"$HDT" and self.take(1)[0] == kind)
        form, written = self.text(), self.text()
        self.checked(_crc16, 2, start)
        pairs = (each.partition("=") for each in written.split(";") if each)
        return form, {key: value for key, _, value in pairs}

    def sequence(self) -> NDArray[np.int64]:
        """The next sequence of numbers with a fixed number of bits."""
        start = self._at
        kind, bits = self.take(2)
        _expect(kind == PACKED and bits <= 63)
        count = self.vbyte()
        self.checked(_crc8, 1, start)
        packed = self._packed(-(-count * bits // 8))
        return _unpacked(packed, count, bits)

    def bitmap(self) -> NDArray[np.bool_]:
        """The next bitmap."""
        start = self._at
        _expect(self.take(1)[0] == BITMAP)
        count = self.vbyte()
        self.checked(_crc8, 1, start)
        packed = self._packed(-(-count // 8))
        return np.unpackbits(packed, count=count, bitorder="little").astype(np.bool_)

    def section_head(self) -> tuple[int, int, int]:
        """Of a section: its number of terms, its bytes, and the terms of a block."""
        start = self._at
        _expect(self.take(1)[0] == FRONT_CODED)
        counts = self.vbyte(), self.vbyte(), self.vbyte()
        self.checked(_crc8, 1, start)
        return counts

    def _packed(self, size: int) -> NDArray[np.uint8]:
        start = self._at
        packed = np.frombuffer(self.take(size), np.uint8)
        self.checked(_crc32c, 4, start)
        return packed

    def coded_terms(self, size: int) -> bytes:
        """The bytes of the terms of a section."""
        return self._packed(size).tobytes()


def _section(parts: _Parts) -> list[str]:
    """The terms of the next section, as N-Triples writes them."""
    count, size, block = parts.section_head()
    parts.sequence()  # where blocks begin: all of them are read
    coded, at, last = parts.coded_terms(size), 0, b""
    terms = []
    for number in range(count):
        kept = b""
        if number % max(block, 1):
            length, at = _prefix_length(coded, at)
            _expect(length <= len(last))
            kept = last[:length]
        end = coded.find(b"\0", at)
        _expect(end >= 0)
        last, at = kept + coded[at:end], end + 1
        terms.append(_term(_decoded(last)))
    _expect(at == size)
    return terms


def _prefix_length(coded: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while at < len(coded) and shift < 63:
        byte, at = coded[at], at + 1
        number |= (byte & 0x7F) << shift
        if byte & 0x80:
            return number, at
        shift += 7
    raise BrokenHdtError


def _facts(parts: _Parts) -> tuple[NDArray[np.int64], ...]:
    """The numbers of subject, predicate and object of every fact."""
    last_of_subject, last_of_pair = parts.bitmap(), parts.bitmap()
    predicates, objects = parts.sequence(), parts.sequence()
    _expect(len(last_of_subject) == len(predicates) and len(last_of_pair) == len(objects))
    pairs = _ends_before(last_of_pair)
    subjects = _ends_before(last_of_subject)
    _expect(objects.size == 0 or (pairs[-1] < len(predicates) and bool(last_of_pair[-1])))
    return subjects[pairs] + 1, predicates[pairs], objects


def _ends_before(ends: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each place the number of list ends before it, which is the place of its list."""
    counts: NDArray[np.int64] = np.cumsum(ends, dtype=np.int64)
    return counts - ends.astype(np.int64)


def _unpacked(packed: NDArray[np.uint8], count: int, bits: int) -> NDArray[np.int64]:
    """Numbers of some bits each, the lowest bit first; in parts, for a bit takes a byte here."""
    found = np.zeros(count, np.int64)
    step = 2**20  # whole bytes, whatever the number of bits
    for start in range(0, count, step):
        end = min(start + step, count)
        piece = packed[start * bits // 8 : -(-end * bits // 8)]
        each = np.unpackbits(piece, count=(end - start) * bits, bitorder="little")
        rows = each.reshape(end - start, bits)
        for place in range(bits):
            found[start:end] |= rows[:, place].astype(np.int64) << place
    return found


def _term(text: str) -> str:
    """A term as N-Triples writes it: HDT has no marks around addresses, and no escapes."""
    if text.startswith("_:"):
        return text
    if not text.startswith('"'):
        return f"<{text}>"
    end = text.rfind('"')
    _expect(end > 0)
    return f'"{text[1:end].translate(_ESCAPES)}"{text[end + 1 :]}'


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BrokenHdtError from None


def _number(text: str) -> int:
    _expect(text.isdecimal() and len(text) < 18)
    return int(text)


def _expect(holds: bool | np.bool_) -> None:
    if not holds:
        raise BrokenHdtError


def _crc8(data: bytes) -> int:
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x07) & 0xFF if crc & 0x80 else crc << 1
    return crc


def _reflected(data: bytes, polynomial: int) -> int:
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ polynomial if crc & 1 else crc >> 1
    return crc


def _crc16(data: bytes) -> int:
    return _reflected(data, 0xA001)


def _crc32c(data: bytes) -> int:
    return int(crc32c(np.frombuffer(data, np.uint8), _TABLE))


_TABLE = np.array([_reflected(bytes([each]), 0x82F63B78) for each in range(256)], np.uint32)
