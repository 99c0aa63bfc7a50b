"""Collecting: reports, servers and estimates of local privacy, beside pure-ldp on the same values.

pure-ldp 1.2.0 does not run beside current libraries, so it gets an environment of its own in the
cache folder, with the old versions that it was written for; that takes the package index once.
Without it only our own times are told. Both sides make real reports from one array of whole numbers
(Zipf's law, epsilon 2), with a pseudo-random generator, as pure-ldp has nothing else; devices draw
from the operating system, which is timed too. Ours are packed. Times are of the processor, the
least of some rounds after one that compiles; memory is what a fresh process holds at most, less
what it held before.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench._peers import peer
from bench.memory import forget_peak, peak
from celosia.collect.count_mean.count_mean import CountMean
from celosia.collect.count_mean.hadamard_count_mean import HadamardCountMean
from celosia.collect.fragments.fragment_puzzle import FragmentPuzzle
from celosia.collect.oracles.local_hashing import LocalHashing
from celosia.core.randomness import Seeded, Source, System
from celosia.datasets.telemetry import anglicisms

PINS = (
    *("pure-ldp==1.2.0", "numpy==1.23.5", "scipy==1.13.1", "pandas==2.1.4"),
    *("scikit-learn==1.4.2", "statsmodels==0.14.4", "matplotlib==3.8.0", "xxhash==3.8.2"),
)
EPSILON, HASHES, WIDTH, DIFFERENT = 2, 1024, 1024, 1000
"""As in `_pure_ldp`."""
PEER_PAIRS = 2000
"""Users of local hashing whom pure-ldp is asked about: it takes a microsecond for each pair."""

BATCH = 2**14
"""Reports that are made, counted and forgotten together."""

Values = NDArray[np.int64]


def run(*, rows: int = 1_000_000) -> dict[str, dict[str, Any]]:
    """Processor seconds, ratios, and the most memory held."""
    found = _Found({}, {}, {}, {})
    python = peer("pure-ldp-1.2.0", PINS)
    for task, users in (("cms", rows // 10), ("cms held", rows // 10), ("hcms", rows)):
        _sketch(task, users, python, found)
    _hashing(rows // 10, python, found)
    label = f"HCMS, {10 * rows:,} users, 100,000 values, 2,048 by 1,024"
    large, values = ("hcms", 2048, 100_000), _values(10 * rows, 100_000)
    found.taken[label] = _measured(lambda: _collected(*large, values, Seeded(1)))[0]
    found.memory[label] = _fresh(*large, 10 * rows)
    _dictionary(rows, found)
    return {
        "processor seconds": {name: round(each, 3) for name, each in found.taken.items()},
        "ratios": {name: round(each, 3) for name, each in found.ratios.items()},
        "megabytes": {name: round(each / 2**20, 1) for name, each in found.memory.items()},
        "RMSE of the estimates": {name: round(each, 1) for name, each in found.errors.items()},
    }


@dataclass(frozen=True, slots=True)
class _Found:
    taken: dict[str, float]
    ratios: dict[str, float]
    memory: dict[str, float]
    errors: dict[str, float]


def _sketch(task: str, users: int, python: Path | None, found: _Found) -> None:
    """A sketch end to end, ours and theirs."""
    values = _values(users, DIFFERENT)
    name = task.split(maxsplit=1)[0].upper()
    label = f"{name}, {users:,} users" + (", all reports held" if "held" in task else "")
    shape = (task, HASHES, DIFFERENT)
    mine, estimates = _measured(lambda: _collected(*shape, values, Seeded(1)))
    found.taken[label] = mine
    real = _measured(lambda: _collected(*shape, values, System()))[0]
    found.taken[f"{label}, entropy of the system"] = real
    found.memory[label] = _fresh(*shape, users)
    found.errors[label] = _rmse(estimates, values)
    if python is not None:
        peer, most, estimates = _ask(python, task, values)
        found.taken[f"{label}, pure-ldp"] = peer
        found.memory[f"{label}, pure-ldp"] = most
        found.errors[f"{label}, pure-ldp"] = _rmse(estimates, values)
        found.ratios[f"{label}, pure-ldp / ours, time"] = peer / mine
        found.ratios[f"{label}, pure-ldp / ours, time, entropy of the system"] = peer / real
        found.ratios[f"{label}, ours / pure-ldp, memory"] = found.memory[label] / most


def _values(users: int, different: int) -> Values:
    """Zipf's law with exponent 1.1 over so many values."""
    shares = np.arange(1, different + 1) ** -1.1
    edges = np.cumsum(shares / shares.sum())
    drawn = Seeded(2026).integers(2**53, users) * 2.0**-53
    return np.minimum(np.searchsorted(edges, drawn, side="right"), different - 1)


def _collected(task: str, hashes: int, different: int, values: Values, rng: Source) -> Any:
    """End to end: reports of everybody, counted, and every value estimated."""
    kind = HadamardCountMean if task == "hcms" else CountMean
    protocol = kind(epsilon=EPSILON, hashes=hashes, width=WIDTH)
    server, client = protocol.server(), protocol.client(rng=rng)
    size = {"cms": BATCH, "cms held": values.size, "hcms": 64 * BATCH}[task]
    for batch in client.batches(values, size=size):
        server.absorb(batch)
    return server.estimate(range(different)).counts


def _hashing(users: int, python: Path | None, found: _Found) -> None:
    protocol, values = LocalHashing(epsilon=EPSILON), _values(users, DIFFERENT)
    server = protocol.server().absorb(protocol.client(rng=Seeded(1)).privatise(values))
    spent, _ = _measured(lambda: server.estimate(range(DIFFERENT)))
    found.taken[f"OLH, the server, {users:,} users by {DIFFERENT:,} values"] = spent
    label = "OLH, nanoseconds for each user and value"
    found.ratios[label] = 1e9 * spent / (users * DIFFERENT)
    if python is not None:
        few = values[:PEER_PAIRS]
        found.ratios[f"{label}, pure-ldp"] = (
            1e9 * _ask(python, "olh", few)[0] / few.size / DIFFERENT
        )


def _dictionary(rows: int, found: _Found) -> None:
    protocol = FragmentPuzzle(epsilon=8, fragment_epsilon=6)
    words = anglicisms(rows)["value"].to_list()
    server, label = protocol.server(), f"SFP, {rows:,} strings"

    def collect() -> None:
        for batch in protocol.client(rng=Seeded(1)).batches(words, size=BATCH):
            server.absorb(batch)

    found.taken[f"{label}, reports"] = _measured(collect, rounds=1)[0]
    spent, texts = _measured(server.dictionary)
    found.taken[f"{label}, dictionary of {len(texts.candidates)}"] = spent


def _measured(work: Callable[[], Any], *, rounds: int = 4) -> tuple[float, Any]:
    """The least processor time of some rounds, and what came out.

    The first of several rounds compiles, and is not timed.
    """
    times = []
    for _ in range(rounds):
        started = process_time()
        result = work()
        times.append(process_time() - started)
    return min(times[1:] or times), result


def _fresh(task: str, hashes: int, different: int, users: int) -> int:
    """The most bytes that a process of its own holds for a sketch, beyond its values."""
    asked = (task, hashes, different, users)
    program = f"from bench.collect import most_held; print(most_held(*{asked!r}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return int(done.stdout)


def most_held(task: str, hashes: int, different: int, users: int) -> int:
    """The most bytes that are held for a sketch, beyond the values and what is compiled."""
    values = _values(users, different)
    _collected(task, 8, 10, values[:1000], Seeded(1))  # compiles
    before = forget_peak()
    _collected(task, hashes, different, values, Seeded(1))
    return peak() - before


def _rmse(estimates: Any, values: Values) -> float:
    real = np.bincount(values, minlength=DIFFERENT)
    return float(np.sqrt(np.mean((np.asarray(estimates) - real) ** 2)))


def _ask(python: Path, task: str, values: Values) -> tuple[float, int, Any]:
    """A task of pure-ldp."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "values.npy"
        np.save(path, values)
        script = Path(__file__).with_name("_pure_ldp.py")
        command = [str(python), str(script), task, str(path)]
        done = subprocess.run(command, capture_output=True, check=True)
    found = json.loads(done.stdout)
    return found["seconds"], found["peak"], found["estimates"]
