"""The endpoint of a collector: processor time for a batch over HTTP, and for reports in files.

`celosia collect serve` runs in a process of its own, with a folder on a real disk. Several senders
keep their connections, as a proxy or relays do, and wait for each acknowledgement. The time is what
the process of the endpoint took, of user and system, so a busy machine changes it little.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from socket import socket
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from celosia.collect import load_protocol
from celosia.collect.collector.batches import Batch
from celosia.collect.collector.collector import Collector
from celosia.collect.collector.ingestion import absorb_files
from celosia.collect.protocol import Protocol
from celosia.core.randomness import Seeded

PROTOCOL = 'method = "hcms"\nepsilon = 4\nkey = "bench"\n'
SENDERS = 16
SIZES = (1, 1_000, 100_000)
"""Reports of a batch."""
MARKS = 50_000
"""Batches that are remembered, to see how much they take."""
DEVICES = 100_000_000
"""That send one report a day."""
PEAK = 3
"""The busiest second beside the average one."""


def run(*, rows: int = 2_000) -> dict[str, dict[str, Any]]:
    """Milliseconds, marks, and what a hundred million devices a day take.

    Args:
        rows: batches that are sent of each size; of the largest a hundredth.
    """
    found: dict[str, float] = {}
    plan: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "bench.toml").write_text(PROTOCOL)
        protocol = load_protocol(place / "bench.toml")
        client = protocol.client(rng=Seeded(1))
        for size in SIZES:
            data = client.privatise(["smile"] * size).to_bytes()
            batches = rows if size < SIZES[-1] else max(10, rows // 100)
            spent = _endpoint(place, data, batches, f"state-{size}")
            label = f"a batch of {size:,} reports, milliseconds"
            found[label] = round(1000 * spent / batches, 3)
            if size < SIZES[-1]:
                second = DEVICES / size / 86_400 * PEAK
                plan[f"{size:,} reports a batch: batches a second at the peak"] = round(second, 1)
                plan[f"{size:,} reports a batch: cores at the peak"] = round(
                    second * spent / batches, 3
                )
        found["a mark on disk, bytes"] = round(_mark_size(place / "marks", protocol), 1)
        many = place / "many.clr"
        many.write_bytes(client.privatise(["smile"] * 2_000_000).to_bytes())
        with Collector.open(place / "files", protocol) as collector:
            started = time.process_time()
            absorb_files(collector, [many])
            spent = time.process_time() - started
        found["files, millions of reports in a second"] = round(2 / spent, 2)
        plan["files: seconds of one core a day"] = round(DEVICES / 2e6 * spent, 1)
    return {"processor time": found, "a hundred million devices a day": plan}


def _mark_size(folder: Path, protocol: Protocol) -> float:
    """By how much a folder grows for a batch that is remembered."""
    data = protocol.client(rng=Seeded(1)).privatise(["smile"]).to_bytes()
    held = []
    for first in (0, MARKS):
        with Collector.open(folder, protocol) as collector:
            for start in range(first, first + MARKS, 1_000):
                collector.absorb_all(
                    [Batch(data=data, id=f"{at:016}") for at in range(start, start + 1_000)]
                )
        held.append(sum(path.stat().st_size for path in folder.iterdir()))
    return (held[1] - held[0]) / MARKS


def _endpoint(place: Path, data: bytes, batches: int, state: str) -> float:
    """Processor seconds of an endpoint for so many batches."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("celosia")), "collect", "serve", "bench.toml"]
    process = subprocess.Popen(
        [*command, "--folder", state, "--port", str(port)],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(port)
        _send(port, data, 10 * SENDERS, "warm")
        before = _spent(process.pid)
        _send(port, data, batches, "sent")
        return _spent(process.pid) - before
    finally:
        process.terminate()
        process.wait()


def _send(port: int, data: bytes, batches: int, name: str) -> None:
    def sender(number: int) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=600)
        for at in range(number, batches, SENDERS):
            headers = {"Idempotency-Key": f"{name}-of-the-benchmark-{at}"}
            connection.request("POST", "/v1/reports", data, headers)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            answer.read()
        connection.close()

    with ThreadPoolExecutor(SENDERS) as senders:
        list(senders.map(sender, range(SENDERS)))


def _wait(port: int) -> None:
    for _ in range(6000):
        try:
            urlopen(f"http://127.0.0.1:{port}/v1/health", timeout=600).close()
        except URLError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError


def _spent(process: int) -> float:
    """Seconds of the processor, of user and system."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
