"""The conformance file: what a client of any language must reproduce, byte by byte.

For each protocol the file has client parameters and vectors: a value, the random bytes that the
client draws (in order, and no more of them), and its report. Vectors with a memory have the secret
of a device instead, several values one after the other, and what they cost. The last parts are
steps on the way (digests, columns) and a whole batch, for those who write a client.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from celosia.collect.clients.parameters import client_parameters
from celosia.collect.memory import KeptAnswers, Memory
from celosia.collect.protocol import Client, Protocol, RememberingClient
from celosia.collect.registry import protocol_from
from celosia.core.randomness import Source
from celosia.sketches.hashing import HashFamily, digest, digests

FORM = "celosia conformance 1"
BUDGET = 100
"""Epsilon of the memories of the file."""
DOMAIN = ("car", "bus", "bike", "tram", "walk", "metro", "ferry", "train", "taxi", "scooter", "ñ")
_CASES: tuple[tuple[dict[str, Any], tuple[Any, ...], tuple[Any, ...]], ...] = (
    ({"method": "cms", "epsilon": 4, "hashes": 64, "width": 100}, ("smile", 7, "ñandú"), (1.5,)),
    ({"method": "hcms", "epsilon": "1/3", "hashes": 100, "width": 256}, ("smile", -7, ""), (True,)),
    (
        {
            "method": "sfp",
            "epsilon": 6,
            "hashes": 32,
            "width": 64,
            "fragment_hashes": 16,
            "fragment_width": 64,
        },
        ("hello", "a", "longer than ten"),
        ("Über", 3),
    ),
    ({"method": "rappor", "bits": 32, "cohorts": 5}, ("smile", 12), (2.5,)),
    ({"method": "rappor", "f": 0, "bits": 16, "hashes": 1, "cohorts": 4}, ("smile",), ()),
    ({"method": "dbitflip", "epsilon": 1, "buckets": 26, "bits": 4}, (0, 25, 13), (26, "a")),
    (
        {"method": "one-bit-mean", "epsilon": 1, "lower": 0, "upper": 24, "levels": 4},
        (0, 24, 7.3, 100),
        ("a",),
    ),
    ({"method": "grr", "epsilon": 2, "domain": DOMAIN}, ("car", "ñ"), ("boat", 1)),
    ({"method": "grr", "epsilon": 1, "domain": (10, 20, 30)}, (10, 30), ("10",)),
    ({"method": "oue", "epsilon": 2, "domain": DOMAIN}, ("bus", "ñ"), ("boat",)),
    ({"method": "sue", "epsilon": 2, "domain": DOMAIN}, ("bus", "taxi"), ("boat",)),
    ({"method": "olh", "epsilon": 2}, ("smile", 2026), ()),
    ({"method": "olh", "epsilon": 2, "pool": 100}, ("smile", 2026), ()),
    ({"method": "hr", "epsilon": 2, "domain": DOMAIN}, ("car", "ñ", "tram", "taxi"), ("boat",)),
    ({"method": "ss", "epsilon": 1, "domain": DOMAIN}, ("car", "ñ", "walk"), ("boat",)),
    ({"method": "ss", "epsilon": 3, "domain": list(range(40))}, (0, 39), (40,)),
    ({"method": "pgr", "epsilon": 2, "domain": DOMAIN}, ("car", "ñ", "tram", "taxi"), ("boat",)),
    ({"method": "pem", "epsilon": 3, "bits": 20}, (0, 1048575, 123456), (1048576, "a")),
    (
        {"method": "pem", "epsilon": 3, "alphabet": "abc", "length": 5, "oracle": "hcms"},
        ("abc", "", "cabba"),
        ("abcabc", "d"),
    ),
    (
        {
            "method": "rappor-words",
            "words": {"method": "rappor", "bits": 32},
            "grams": {"method": "rappor", "bits": 24, "cohorts": 3},
            "alphabet": "abcdef",
            "length": 4,
        },
        ("cafe", "bad!", ""),
        (3,),
    ),
    ({"method": "cardinality", "epsilon": 2, "buckets": 32}, ("smile", 5), (None,)),
)
"""Each protocol as a file declares it, values, and values that it refuses."""


_ENDS = (b"\xff" * 20, b"\0" * 28)
"""The largest and the least words: some protocols must draw again after them."""


class RecordedDraws(Source):
    """Bytes that follow from a text, after some that are given, and a record of them."""

    simulation = True

    def __init__(self, text: str, first: bytes = b"") -> None:
        self._first = first
        self._stream = KeptAnswers(hashlib.blake2b(b"celosia conformance").digest(), text.encode())
        self.drawn = b""

    def raw(self, count: int) -> bytes:
        """The next bytes."""
        found, self._first = self._first[:count], self._first[count:]
        found += self._stream.raw(count - len(found))
        self.drawn += found
        return found


def conformance() -> dict[str, Any]:
    """The whole file as plain values; always the same."""
    return {
        "form": FORM,
        "protocols": [_case(*each) for each in _CASES],
        "memory": list(_memories()),
        "digests": [
            {"value": value, "digest": str(digest(value))}
            for value in ("", "celosía", "smile", "日本", 0, 1, 2026, -1, 2**53 - 1)
        ],
        "columns": list(_columns()),
        "batch": _batch(),
    }


def conformance_text() -> str:
    """The file as it is written."""
    return json.dumps(conformance(), ensure_ascii=False, indent=1) + "\n"


def _case(
    description: dict[str, Any], values: tuple[Any, ...], refused: tuple[Any, ...]
) -> dict[str, Any]:
    protocol = _protocol(description)
    return {
        "parameters": client_parameters(protocol),
        "vectors": [
            *(_vector(protocol, value, f"{value} {time}") for value in values for time in range(2)),
            *(_vector(protocol, values[0], "end", first) for first in _ENDS),
        ],
        "refused": list(refused),
    }


def _protocol(description: dict[str, Any]) -> Protocol:
    return protocol_from({"key": "conformance", **description})


def _vector(protocol: Protocol, value: Any, name: str, first: bytes = b"") -> dict[str, Any]:
    rng = RecordedDraws(f"{protocol.fingerprint.hex()} {name}", first)
    report = protocol.client(rng=rng).privatise([value])
    return {"value": value, "randomness": rng.drawn.hex(), "report": report.packed.tobytes().hex()}


def _memories() -> Iterator[dict[str, Any]]:
    for description, values, _ in _CASES:
        protocol = _protocol(description)
        if not isinstance(protocol.client(), RememberingClient):
            continue
        secret = hashlib.blake2b(protocol.fingerprint, digest_size=32).digest()
        with TemporaryDirectory() as folder:
            memory = Memory.open(Path(folder) / "memory", budget=BUDGET, secret=secret)
            client: Client = _remembering(protocol, memory)
            steps = []
            for at, value in enumerate((*values, values[0])):
                client.rng = rng = RecordedDraws(f"{protocol.fingerprint.hex()} memory {at}")
                report = client.privatise([value]).packed.tobytes().hex()
                randomness, spent = rng.drawn.hex(), str(memory.spent)
                steps.append(
                    {"value": value, "randomness": randomness, "report": report, "spent": spent}
                )
        yield {
            "parameters": client_parameters(protocol),
            "secret": secret.hex(),
            "budget": str(BUDGET),
            "vectors": steps,
        }


def _remembering(protocol: Protocol, memory: Memory) -> Client:
    client = protocol.client()
    assert isinstance(client, RememberingClient)
    client.memory = memory
    return client


def _columns() -> Iterator[dict[str, Any]]:
    for key, row, width in (("emoji", 0, 1024), ("emoji", 1023, 1000), ("rappor celosia", 7, 128)):
        family = HashFamily(key=key.encode(), rows=row + 1, width=width)
        for value in ("smile", 2026):
            found = int(family.columns_at(digests([value]), [row])[0])
            yield {"key": key, "row": row, "width": width, "value": value, "column": found}


def _batch() -> dict[str, Any]:
    protocol = _protocol(_CASES[1][0])
    rng = RecordedDraws("batch")
    reports = protocol.client(rng=rng).privatise(["smile"] * 3)
    return {
        "parameters": client_parameters(protocol),
        "reports": [each.tobytes().hex() for each in reports.packed],
        "batch": reports.to_bytes().hex(),
    }
