"""Private reports from a device, with nothing but Python: this one file is the whole client.

    client = Client(parameters)
    report = client.report("smile")
    client.send("https://collector.example", [report], token="...")

The parameters are public and come from `celosia collect client PROTOCOL.toml`. A value never leaves
this module: only reports do. All draws compare whole numbers with random bits of the operating
system, so every chance is exactly what the protocol states. With a `Memory`, answers that must not
be drawn twice are kept, and reports that would cost more than the budget are refused.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import reduce
from itertools import chain, combinations, count, islice, takewhile
from math import isnan
from typing import Any

Plain = dict[str, Any]
"""Client parameters, as they are read from JSON."""
Value = str | bytes | int | float
Raw = Callable[[int], bytes]
Drawing = Callable[["Draws"], bytes]
Recall = Callable[[Plain, bytes, Drawing, str], bytes]
"""The kept answer of a case, or a new one at a price; a case without a name is never kept."""

_WORD, _PRIME = 2**64, 2**61 - 1


class ClientError(ValueError):
    """A value that the protocol has no report for, or parameters that are none."""


class BudgetSpent(ClientError):  # noqa: N818 - the state of the device, not a fault
    """A new answer would cost more than the device may still spend; nothing was drawn."""


def _bits_for(options: int) -> int:
    return (options - 1).bit_length()


def _bytes(number: int, bits: int) -> bytes:
    return number.to_bytes(-(-bits // 8), "little")


def _numbers(data: bytes, size: int) -> list[int]:
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]


class Draws:
    """Whole numbers from uniform random bytes, in the order that the protocols state."""

    def __init__(self, raw: Raw) -> None:
        self.raw = raw

    def words(self, count: int) -> Iterator[int]:
        """Words of 64 bits, lowest byte first; all are drawn at once."""
        return iter(_numbers(self.raw(8 * count), 8))

    def below(self, bound: int) -> int:
        """Exactly uniform below a bound: words beyond its last multiple are drawn again."""
        while True:
            word = next(self.words(1))
            if word < _WORD - _WORD % bound:
                return word % bound

    def tosses(self, heads: int, count: int = 1) -> list[bool]:
        """Coins that show True with a chance of heads / 2^32, four bytes each."""
        return [each < heads for each in _numbers(self.raw(4 * count), 4)]

    def many_tosses(self, heads: int, count: int) -> list[bool]:
        """The same from a byte each, and four more for those that the byte does not decide."""
        top, rest = divmod(heads, 2**24)
        first = self.raw(count)
        found = [byte < top for byte in first]
        undecided = [at for at, byte in enumerate(first) if byte == top]
        for at, more in zip(undecided, _numbers(self.raw(4 * len(undecided)), 4), strict=True):
            found[at] = more >> 8 < rest
        return found


def _kept_draws(secret: bytes, tag: bytes) -> Draws:
    """Draws that are the same for the same secret and case, in every copy of a memory."""
    key = hashlib.blake2b(tag, key=secret, person=b"celosia draws").digest()
    blocks = (hashlib.blake2b(_bytes(at, 64), key=key).digest() for at in count())
    stream = chain.from_iterable(blocks)
    return Draws(lambda size: bytes(islice(stream, size)))


def mix(number: int) -> int:
    """SplitMix64 of one word."""
    word = (number + 0x9E3779B97F4A7C15) % _WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % _WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB % _WORD
    return word ^ word >> 31


def digest(value: Value) -> int:
    """64 bits of a text, bytes or a whole number."""
    if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < _WORD:
        return mix(value % _WORD)
    if isinstance(value, str):
        data, person = value.encode("utf-8", "surrogatepass"), b"celosia text"
    elif isinstance(value, bytes):
        data, person = value, b"celosia data"
    else:
        raise ClientError("a value must be a text, bytes or a whole number of 64 bits")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, person=person).digest(), "little")


def column(key: str, row: int, width: int, number: int) -> int:
    """The column of a digest by one hash function of a family: a polynomial of degree 2."""
    keyed = (
        hashlib.blake2b(b"%d,%d" % (row, place), digest_size=8, key=key.encode())
        for place in range(3)
    )
    low, middle, high = (int.from_bytes(each.digest(), "little") % _PRIME for each in keyed)
    return ((max(1, high) * number + middle) * number + low) % _PRIME % width


def _place(parameters: Plain, value: Value) -> int:
    if isinstance(value, (bool, float)) or value not in parameters["domain"]:
        raise ClientError("the value is not in the domain of the protocol")
    return int(parameters["domain"].index(value))


# Every protocol makes a report as one number, its lowest bit the first: a field of w bits after s
# bits is added as field << s. `recall` is None without a memory.


def _count_mean(p: Plain, number: int, draws: Draws) -> int:
    row = draws.below(p["hashes"])
    groups = -(-p["width"] // 64)
    stream = draws.words(68 * groups + min(2**13, 5 * groups))
    made, pool = 0, [0, 0]
    for group in range(groups):
        made |= _lanes(stream, 2**32 - p["heads"], pool) << 64 * group
    made ^= 1 << column(p["key"], row, p["width"], number)
    return made & (1 << int(p["width"])) - 1 | row << int(p["width"])


def _lanes(stream: Iterator[int], bound: int, pool: list[int]) -> int:
    """64 tosses: four bits of all lanes at once, then lane by lane from a pool of bits."""
    undecided, found = _WORD - 1, 0
    for place in range(4):
        drawn = next(stream)
        if bound >> (31 - place) & 1:
            found |= undecided & ~drawn
            undecided &= drawn
        else:
            undecided &= ~drawn
    rest = int(f"{bound % 2**28:028b}"[::-1], 2)
    while undecided:
        lane = undecided & -undecided
        undecided ^= lane
        if pool[1] <= 28:
            pool[:] = next(stream), 64
        differs = (pool[0] ^ rest) | 1 << 28
        differs &= -differs
        if differs & rest:
            found |= lane
        pool[:] = pool[0] >> differs.bit_length(), pool[1] - differs.bit_length()
    return found


def _hadamard_count_mean(p: Plain, number: int, draws: Draws) -> int:
    row = draws.below(p["hashes"])
    word = next(draws.words(1))
    place = word >> 32 & p["width"] - 1
    lie = word % 2**32 >= p["heads"]
    sign = (place & column(p["key"], row, p["width"], number)).bit_count() & 1 ^ lie
    return int(sign | row << 1 | place << 1 + _bits_for(p["hashes"]))


def _kary(size: int, heads: int, place: int, draws: Draws) -> int:
    step = 1 + draws.below(size - 1)
    return place if draws.tosses(heads)[0] else (place + step) % size


def _unary(p: Plain, place: int, size: int, draws: Draws) -> int:
    bits = draws.many_tosses(p["zero"], size)
    bits[place] = draws.tosses(p["one"])[0]
    return _number(bits)


def _number(bits: Iterable[bool]) -> int:
    return sum(bit << at for at, bit in enumerate(bits))


def _local_hashing(p: Plain, number: int, draws: Draws) -> int:
    if p["pool"]:
        choice = draws.below(p["pool"])
        place = column(f"{p['key']}/olh", choice, p["buckets"], number)
        width = _bits_for(p["pool"])
    else:
        choice, width = int.from_bytes(draws.raw(4), "little"), 32
        start = digest(p["key"]) + 3 * choice
        one, two, three = (mix(start + word) for word in range(3))
        product = ((one + (number >> 32)) * (two + number % 2**32) + three) % _WORD
        place = (product >> 32) * p["buckets"] >> 32
    return choice | _kary(p["buckets"], p["heads"], place, draws) << width


def _hadamard_response(p: Plain, place: int, draws: Draws) -> int:
    row, block = divmod(place, p["blocks"])
    row += 1
    kept, found = draws.tosses(p["heads"])[0], draws.below(p["width"])
    half = draws.below(2 * p["blocks"] - 1)
    if not kept and half > 0:
        block = (block + (half + 1) // 2) % p["blocks"]
    elif (row & found).bit_count() & 1 == kept:
        found ^= row & -row
    return int(block * p["width"] + found)


def _subset(p: Plain, own: int, draws: Draws) -> int:
    values, size, kept = len(p["domain"]), p["size"], draws.tosses(p["heads"])[0]
    chosen: set[int] | None = None
    while chosen is None:
        chosen = _floyd(draws.words(size + 8), values, size - kept, own)
    if kept:
        chosen.add(own)
    width = _bits_for(values)
    if size * width < values:
        return sum(each << at * width for at, each in enumerate(sorted(chosen)))
    return sum(1 << each for each in chosen)


def _floyd(words: Iterator[int], values: int, drawn: int, own: int) -> set[int] | None:
    """So many of the values but one, all sets alike; None where the words do not suffice."""
    chosen: set[int] = set()
    for last in range(values - 1 - drawn, values - 1):
        word = next((word for word in words if word >= _WORD % (last + 1)), None)
        if word is None:
            return None
        other = word % (last + 1)
        other += other >= own
        chosen.add(last + (last >= own) if other in chosen else other)
    return chosen


def _projective(p: Plain, own: int, draws: Draws) -> int:
    order, size, kept = p["order"], p["coordinates"], draws.tosses(p["heads"])[0]
    vectors = order ** (size - 1)
    inside, outside = 1 + draws.below(vectors - 1), draws.below(vectors)  # both, always
    free = inside if kept else outside
    starts = [(order**after - 1) // (order - 1) for after in range(size + 1)]
    after = max(each for each in range(size) if starts[each] <= own)
    first, normal, left = size - 1 - after, [0] * size, own - starts[after]
    normal[first] = 1
    for place in range(size - 1, first, -1):
        left, normal[place] = divmod(left, order)
    made = [0] * size
    for place in range(size - 1, -1, -1):
        if place != first:
            free, made[place] = divmod(free, order)
    made[first] = (int(not kept) - sum(map(int.__mul__, normal, made))) % order
    lead = next(at for at, each in enumerate(made) if each)
    scale = pow(made[lead], -1, order)
    tail = [each * scale % order for each in made[lead + 1 :]]
    return int(_digits(tail, order) + starts[size - 1 - lead])


def _fragments(p: Plain, value: Value, draws: Draws) -> int:
    if not isinstance(value, str):
        raise ClientError("a value must be a text")
    alphabet, piece = p["alphabet"], p["piece"]
    padded = value[: p["length"]].replace("\0", alphabet[-1]).ljust(p["length"], alphabet[-1])
    letters = [alphabet.find(each) for each in padded]
    if min(letters) < 0:
        raise ClientError("a value has letters that are not in the alphabet")
    starts, base = range(0, len(letters), piece), len(alphabet) ** piece
    pieces = [_digits(letters[at : at + piece], len(alphabet)) for at in starts]
    group = max(1, 63 // _bits_for(base))
    text = 0
    for start in range(0, len(pieces), group):
        text = mix(text ^ _digits(pieces[start : start + group], base))
    place = draws.below(len(pieces))
    tagged = column(p["tagging"], 0, p["tags"], text) * base + pieces[place]
    first, second = p["words"]["report_bits"], p["fragments"]["report_bits"]
    words = _count_mean(p["words"], text, draws)
    tail = _count_mean(p["fragments"], mix(tagged), draws)
    return int(words | tail << first | place << first + second)


def _digits(digits: list[int], base: int) -> int:
    return reduce(lambda done, each: done * base + each, digits, 0)


def _rappor(p: Plain, value: Value, draws: Draws, recall: Recall | None) -> int:
    number, bits = digest(value), p["bits"]
    if recall is None:
        cohort = draws.below(p["cohorts"])
        kept = _permanent(p, number, cohort, draws)
    else:
        drawn = recall(p, b"cohort", lambda own: _bytes(own.below(p["cohorts"]), 32), "0")
        cohort = int.from_bytes(drawn, "little")
        if p["lasting"] is None:  # a filter that was not changed must not be kept
            recall(p, b"", lambda _: b"", p["price"])
            kept = _filter(p, number, cohort)
        else:
            case = b"value" + number.to_bytes(8, "little")

            def draw(own: Draws) -> bytes:
                return _mirrored(_bytes(_permanent(p, number, cohort, own), bits))

            kept = _numbers(_mirrored(recall(p, case, draw, p["lasting"])), bits)[0]
    fresh = enumerate(_numbers(draws.raw(4 * bits), 4))
    sent = [each < p["heads"][kept >> at & 1] for at, each in fresh]
    return cohort | _number(sent) << _bits_for(p["cohorts"])


def _filter(p: Plain, number: int, cohort: int) -> int:
    rows = range(cohort * p["hashes"], (cohort + 1) * p["hashes"])
    places = {column(f"rappor {p['key']}", row, p["bits"], number) for row in rows}
    return sum(1 << place for place in places)


def _permanent(p: Plain, number: int, cohort: int, draws: Draws) -> int:
    return _filter(p, number, cohort) ^ _number(draws.tosses(p["lies"], p["bits"]))


def _mirrored(data: bytes) -> bytes:
    """Bits as they are kept: the first one is the highest of its byte; and back again."""
    return bytes(int(f"{byte:08b}"[::-1], 2) for byte in data)


def _rappor_words(p: Plain, value: Value, draws: Draws, recall: Recall | None) -> int:
    if not isinstance(value, str):
        raise ClientError("a value must be a text")
    pairs = list(combinations(range(p["length"] // p["gram"]), 2))
    if recall is None:
        pair = draws.below(len(pairs))
    else:
        drawn = recall(p, b"positions", lambda own: _bytes(own.below(len(pairs)), 32), "0")
        pair = int.from_bytes(drawn, "little")
    known = "".join(takewhile(p["alphabet"].__contains__, value[: p["length"]]))
    known = known.ljust(p["length"], "\0")
    first, second = (known[at * p["gram"] : (at + 1) * p["gram"]] for at in pairs[pair])
    grams = _rappor(p["grams"], f"{pair}:{first}{second}", draws, recall)
    words = _rappor(p["words"], value, draws, recall)
    head = _bits_for(len(pairs))
    return pair | grams << head | words << head + int(p["grams"]["report_bits"])


def _bucket_bits(p: Plain, value: Value, draws: Draws, recall: Recall | None) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < p["buckets"]:
        raise ClientError("a value must be a bucket number of the protocol")
    count = p["bits"]

    def drawn_bits(own: Draws, there: list[bool]) -> list[bool]:
        return [
            each == truly for each, truly in zip(there, own.tosses(p["heads"], count), strict=True)
        ]

    if recall is None:
        queried = _deck(p, draws)
        answers = drawn_bits(draws, [each == value for each in queried])
    else:
        kept = recall(
            p, b"buckets", lambda own: b"".join(_bytes(each, 32) for each in _deck(p, own)), "0"
        )
        queried = _numbers(kept, 4)
        there = [each == value for each in queried]
        case = queried.index(value) if value in queried else count

        def draw(own: Draws) -> bytes:
            return _mirrored(_bytes(_number(drawn_bits(own, there)), count))

        answer = _numbers(
            _mirrored(recall(p, b"case" + _bytes(case, 32), draw, p["price"])), count
        )[0]
        answers = [bool(answer >> at & 1) for at in range(count)]
    width = _bits_for(p["buckets"])
    pairs = (place | bit << width for place, bit in zip(queried, answers, strict=True))
    return sum(each << at * (width + 1) for at, each in enumerate(pairs))


def _deck(p: Plain, draws: Draws) -> list[int]:
    """Different buckets: the beginning of a Fisher-Yates shuffle, in rising order."""
    deck = list(range(p["buckets"]))
    for at in range(p["bits"]):
        other = at + draws.below(p["buckets"] - at)
        deck[at], deck[other] = deck[other], deck[at]
    return sorted(deck[: p["bits"]])


def _one_bit(p: Plain, value: Value, draws: Draws, recall: Recall | None) -> int:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or isnan(value):
        raise ClientError("a value must be a number")
    low, high = float(p["lower"]), float(p["upper"])
    part = round((min(max(float(value), low), high) - low) / (high - low) * 2**32)

    def drawn_bit(own: Draws, share: int, of: int) -> bool:
        return (own.below(of) < share) == own.tosses(p["heads"])[0]

    if recall is None:
        return int(drawn_bit(draws, part, 2**32))
    kept = recall(p, b"alpha", lambda own: own.below(2**32).to_bytes(8, "little"), "0")
    level = (part * p["levels"] + int.from_bytes(kept, "little")) >> 32
    case, levels = b"level" + _bytes(level, 32), p["levels"]
    return recall(p, case, lambda own: bytes([drawn_bit(own, level, levels)]), p["price"])[0]


def _prefix_tree(p: Plain, value: Value, draws: Draws) -> int:
    bits, whole = p["bits"], p["lengths"][-1]
    if bits:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**bits:
            raise ClientError("a value must be a whole number of the bits of the protocol")
    elif not isinstance(value, str) or len(value) > whole or set(value) - set(p["alphabet"]):
        raise ClientError("a value must be a text over the alphabet of the protocol")
    level = draws.below(len(p["lengths"]))
    length = p["lengths"][level]
    prefix: Value = value >> (bits - length) if isinstance(value, int) else value[:length]
    return level | _encoded(p["oracles"][level], prefix, draws, None) << 8


def _encoded(p: Plain, value: Value, draws: Draws, recall: Recall | None) -> int:
    """One report, as a number."""
    name = p["protocol"]
    if name in _REMEMBERING:
        return _REMEMBERING[name](p, value, draws, recall)
    if name in _DIGESTED:
        return _DIGESTED[name](p, digest(value), draws)
    if name in ("sfp", "pem"):
        return (_fragments if name == "sfp" else _prefix_tree)(p, value, draws)
    return _PLACED[name](p, _place(p, value), draws)


_REMEMBERING: dict[str, Callable[[Plain, Value, Draws, Recall | None], int]] = {
    "rappor": _rappor,
    "rappor-words": _rappor_words,
    "dbitflip": _bucket_bits,
    "one-bit-mean": _one_bit,
}
_DIGESTED: dict[str, Callable[[Plain, int, Draws], int]] = {
    "cms": _count_mean,
    "hcms": _hadamard_count_mean,
    "olh": _local_hashing,
    "cardinality": lambda p, number, draws: _unary(
        p, column(f"{p['key']}/values", 0, p["buckets"], number), p["buckets"], draws
    ),
}
_PLACED: dict[str, Callable[[Plain, int, Draws], int]] = {
    "grr": lambda p, place, draws: _kary(len(p["domain"]), p["heads"], place, draws),
    "oue": lambda p, place, draws: _unary(p, place, len(p["domain"]), draws),
    "sue": lambda p, place, draws: _unary(p, place, len(p["domain"]), draws),
    "hr": _hadamard_response,
    "ss": _subset,
    "pgr": _projective,
}


class Client:
    """The side of one device.

    Args:
        parameters: as `celosia collect client PROTOCOL.toml -o parameters.json` writes them.
        memory: keeps answers and the budget of this device.
        raw: draws random bytes; anything but the operating system's is for tests only.
    """

    def __init__(
        self, parameters: Plain, *, memory: Memory | None = None, raw: Raw = os.urandom
    ) -> None:
        if parameters.get("form") != "celosia client 1":
            raise ClientError("these are no client parameters")
        self.parameters = parameters
        self.memory = memory
        self._draws = Draws(raw)

    def report(self, value: Value) -> bytes:
        """One private report of a value: all that may leave the device."""
        p = self.parameters
        if self.memory is None:
            number = _encoded(p, value, self._draws, None)
        else:
            with self.memory.transaction() as recall:
                if p["protocol"] not in _REMEMBERING:
                    recall(p, b"", lambda _: b"", p["price"])
                number = _encoded(p, value, self._draws, recall)
        return _bytes(number, p["report_bits"])

    def batch(self, reports: Iterable[bytes]) -> bytes:
        """Reports as they travel: 24 bytes, then one report after the other."""
        listed = list(reports)
        size = -(-self.parameters["report_bits"] // 8)
        if any(len(each) != size for each in listed):
            raise ClientError("a report has another length than those of the protocol")
        fingerprint = bytes.fromhex(self.parameters["fingerprint"])
        head = b"CLR1" + _bytes(size, 32) + fingerprint + len(listed).to_bytes(8, "little")
        return head + b"".join(listed)

    def send(
        self,
        address: str,
        reports: Iterable[bytes],
        *,
        token: str = "",
        mark: str = "",
        tries: int = 5,
    ) -> None:
        """Send reports to a collector.

        Where it has no room (429, 503) or does not answer, they are sent again with the same mark,
        after a random pause that doubles each time: a batch is never counted twice. With one of
        `tries` nothing is sent again; keep reports and mark for later where this raises an error.
        """
        from time import sleep
        from urllib.error import HTTPError  # loaded only where it is used
        from urllib.request import Request, urlopen

        headers = {"Idempotency-Key": mark or os.urandom(16).hex()}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        wanted = Request(f"{address}/v1/reports", self.batch(reports), headers)  # noqa: S310
        for tried in count(1):
            wait = 5.0
            try:
                urlopen(wanted, timeout=30).close()  # noqa: S310 - the address is the caller's own
                return
            except HTTPError as error:
                if error.code not in (429, 503) or tried >= tries:
                    raise
                with suppress(ValueError):
                    wait = float(error.headers.get("Retry-After", ""))
                error.close()
            except OSError:  # not reached, or cut off
                if tried >= tries:
                    raise
            sleep(wait * 2 ** (tried - 1) * (1 + os.urandom(1)[0] / 255))


class Memory:
    """What a device keeps on its disk, in the form of `celosia.collect.Memory`.

    An answer is drawn once and kept, and paid from a budget for the life of the device; both are
    on the disk before a report is returned. Two processes wait for one another.

    Args:
        path: an SQLite file; it is made, for its owner only, where there is none.
        budget: epsilon for the life of the device; needed for a new file, such as "8" or "1/2".
    """

    def __init__(self, path: str | os.PathLike[str], *, budget: str | int | None = None) -> None:
        self.path = os.fspath(path)
        self._budget = None if budget is None else Fraction(budget)
        if self._budget is not None and not os.path.exists(self.path):
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        with self._opened():
            pass

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, bytes, Fraction, Fraction]]:
        import sqlite3  # loaded only where it is used

        database = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        try:
            database.execute("PRAGMA synchronous = EXTRA")
            database.execute("BEGIN IMMEDIATE")
            if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                self._begin(database)
            row = database.execute("SELECT secret, form, place, budget, spent FROM device")
            row = row.fetchone()
            if row[0] is None or row[1] != 1:
                raise ClientError("the file is no memory of a device, or its secret is elsewhere")
            if row[2] != str(os.stat(self.path).st_ino):
                raise ClientError("the memory is a copy: two copies would spend the budget twice")
            if self._budget is not None and Fraction(row[3]) != self._budget:
                raise ClientError("the memory has another budget")
            yield database, row[0], Fraction(row[3]), Fraction(row[4])
            database.execute("COMMIT")
        finally:
            database.close()  # what was not committed is undone

    def _begin(self, database: Any) -> None:
        if self._budget is None:
            raise ClientError("a new memory needs a budget")
        secret = os.urandom(32)
        proof = hashlib.blake2b(b"", digest_size=16, key=secret, person=b"celosia proof").digest()
        database.execute(
            """CREATE TABLE device (only INTEGER PRIMARY KEY CHECK (only = 1),
               form INTEGER NOT NULL, secret BLOB, proof BLOB NOT NULL, place TEXT NOT NULL,
               budget TEXT NOT NULL, spent TEXT NOT NULL)"""
        )
        answers = "CREATE TABLE answers (tag BLOB PRIMARY KEY, answer BLOB NOT NULL) WITHOUT ROWID"
        database.execute(answers)
        row = (secret, proof, str(os.stat(self.path).st_ino), str(self._budget))
        database.execute("INSERT INTO device VALUES (1, 1, ?, ?, ?, ?, '0')", row)

    @contextmanager
    def transaction(self) -> Iterator[Recall]:
        """Answers of one report: all of them are kept and paid, or none."""
        with self._opened() as (database, secret, budget, spent):
            paid = spent

            def recall(p: Plain, case: bytes, draw: Drawing, price: str) -> bytes:
                nonlocal paid
                fingerprint = bytes.fromhex(p["fingerprint"])
                tag = hashlib.blake2b(
                    fingerprint + case, digest_size=16, key=secret, person=b"celosia case"
                ).digest()
                found = database.execute("SELECT answer FROM answers WHERE tag = ?", (tag,))
                for kept in found:
                    return bytes(kept[0])
                paid += Fraction(price)
                if paid > budget:
                    raise BudgetSpent("the budget of the device does not allow a new answer")
                answer = draw(_kept_draws(secret, tag))
                if case:  # a case without a name is paid each time, and nothing is kept of it
                    database.execute("INSERT INTO answers VALUES (?, ?)", (tag, answer))
                return answer

            yield recall
            database.execute("UPDATE device SET spent = ?", (str(paid),))

    @property
    def spent(self) -> Fraction:
        """Epsilon of all answers that were drawn."""
        with self._opened() as (_database, _secret, _budget, spent):
            return spent
