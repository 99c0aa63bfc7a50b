"""A plain writer of HDT files, for tests: slow, and by the letter of the format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

Fact = tuple[str, str, str]
"""Subject, predicate and object, as an HDT dictionary has them: no marks, no escapes."""
BLOCK = 3


def hdt_file(facts: Iterable[Fact], *, order: int = 1) -> bytes:
    """The HDT file of some facts."""
    distinct = set(facts)
    subjects, objects = {fact[0] for fact in distinct}, {fact[2] for fact in distinct}
    shared = _sorted(subjects & objects)
    lists = [
        shared,
        _sorted(subjects - objects),
        _sorted({fact[1] for fact in distinct}),
        _sorted(objects - subjects),
    ]
    of_subject = {term: at for at, term in enumerate(shared + lists[1], 1)}
    of_predicate = {term: at for at, term in enumerate(lists[2], 1)}
    of_object = {term: at for at, term in enumerate(shared + lists[3], 1)}
    numbered = sorted((of_subject[s], of_predicate[p], of_object[o]) for s, p, o in distinct)
    header = b'<file://a> <http://rdfs.org/ns/void#triples> "1" .\n'
    return b"".join(
        [
            control(1, "<http://purl.org/HDT/hdt#HDTv1>"),
            control(2, "ntriples", f"length={len(header)};"),
            header,
            control(3, "<http://purl.org/HDT/hdt#dictionaryFour>", "mapping=1;"),
            *map(section, lists),
            control(4, "<http://purl.org/HDT/hdt#triplesBitmap>", f"order={order};"),
            *_facts(numbered),
        ]
    )


def control(kind: int, form: str, properties: str = "") -> bytes:
    """A control block."""
    block = b"$HDT" + bytes([kind]) + form.encode() + b"\0" + properties.encode() + b"\0"
    return block + _reflected(block, 0xA001, 0).to_bytes(2, "little")


def vbyte(number: int) -> bytes:
    """A number of its own."""
    digits = []
    while number >= 0x80:
        digits.append(number & 0x7F)
        number >>= 7
    return bytes([*digits, number | 0x80])


def section(terms: Sequence[str]) -> bytes:
    """A section of the dictionary."""
    coded, starts, last = b"", [], b""
    for at, term in enumerate(each.encode() for each in terms):
        if at % BLOCK == 0:
            starts.append(len(coded))
            coded += term + b"\0"
        else:
            same = 0
            while same < min(len(last), len(term)) and last[same] == term[same]:
                same += 1
            coded += vbyte(same) + term[same:] + b"\0"
        last = term
    head = bytes([2]) + vbyte(len(terms)) + vbyte(len(coded)) + vbyte(BLOCK)
    places = sequence([*starts, len(coded)])
    return head + bytes([_crc8(head)]) + places + coded + _crc32c(coded)


def sequence(numbers: Sequence[int]) -> bytes:
    """Numbers with as many bits as the largest needs."""
    bits = max((each.bit_length() for each in numbers), default=0)
    return _packed(bytes([1, bits]), numbers, bits)


def bitmap(marks: Sequence[int]) -> bytes:
    """A bitmap."""
    return _packed(bytes([1]), marks, 1)


def _packed(head: bytes, numbers: Sequence[int], bits: int) -> bytes:
    head += vbyte(len(numbers))
    whole = sum(number << at * bits for at, number in enumerate(numbers))
    data = whole.to_bytes(-(-len(numbers) * bits // 8), "little")
    return head + bytes([_crc8(head)]) + data + _crc32c(data)


def _facts(numbered: Sequence[tuple[int, int, int]]) -> list[bytes]:
    pairs = [
        (*pair, [fact[2] for fact in of])
        for pair, of in groupby(numbered, lambda fact: (fact[0], fact[1]))
    ]
    last_pairs, last_objects = _ends([each[0] for each in pairs]), list[int]()
    for _, _, objects in pairs:
        last_objects += [0] * (len(objects) - 1) + [1]
    return [
        bitmap(last_pairs),
        bitmap(last_objects),
        sequence([each[1] for each in pairs]),
        sequence([fact[2] for fact in numbered]),
    ]


def _ends(keys: Sequence[int]) -> list[int]:
    return [int(at + 1 == len(keys) or keys[at + 1] != key) for at, key in enumerate(keys)]


def _sorted(terms: Iterable[str]) -> list[str]:
    by_bytes: Callable[[str], bytes] = str.encode
    return sorted(terms, key=by_bytes)


def _crc8(data: bytes) -> int:
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1) ^ (0x107 if crc & 0x80 else 0)
    return crc


def _crc32c(data: bytes) -> bytes:
    return (_reflected(data, 0x82F63B78, 0xFFFFFFFF) ^ 0xFFFFFFFF).to_bytes(4, "little")


def _reflected(data: bytes, polynomial: int, crc: int) -> int:
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (polynomial if crc & 1 else 0)
    return crc
