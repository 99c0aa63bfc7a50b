"""Collecting: reports, servers and estimates of local privacy, beside pure-ldp on the same values.

pure-ldp 1.2.0 does not run beside current libraries, so it gets an environment of its own in the
cache folder, with the old versions that it was written for; that takes the package index once.
Without it only our own times are told. Both sides make real reports from one array of whole numbers
(Zipf's law, epsilon 2); ours are packed, with the operating system's randomness. Times are of the
processor, after a small run that compiles; memory is what is held at most, less what was held
before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.memory import forget_peak, peak
from celosia.core.randomness import Seeded
from celosia.datasets.telemetry import anglicisms
from celosia.telemetry.count_mean import CountMean
from celosia.telemetry.fragment_puzzle import FragmentPuzzle
from celosia.telemetry.hadamard_count_mean import HadamardCountMean
from celosia.telemetry.local_hashing import LocalHashing
from celosia.telemetry.protocol import Protocol

PINS = (
    *("pure-ldp==1.2.0", "numpy==1.23.5", "scipy==1.13.1", "pandas==2.1.4"),
    *("scikit-learn==1.4.2", "statsmodels==0.14.4", "matplotlib==3.8.0", "xxhash==3.8.2"),
)
EPSILON, HASHES, WIDTH, DIFFERENT = 2, 1024, 1024, 1000
"""As in `_pure_ldp`."""
PEER_PAIRS = 2000
"""Users of local hashing whom pure-ldp is asked about: it takes a microsecond for each pair."""

Values = NDArray[np.int64]


def run(*, rows: int = 1_000_000) -> dict[str, dict[str, Any]]:
    """Processor seconds, ratios, and the most memory held."""
    taken: dict[str, float] = {}
    ratios: dict[str, float] = {}
    memory: dict[str, float] = {}
    errors: dict[str, float] = {}
    python = _peer()
    sizes = {"CMS": rows // 10, "HCMS": rows}
    for name, kind, task in (("CMS", CountMean, "cms"), ("HCMS", HadamardCountMean, "hcms")):
        users, protocol = sizes[name], kind(epsilon=EPSILON, hashes=HASHES, width=WIDTH)
        values = _values(users, DIFFERENT)
        label = f"{name}, {users:,} users"
        for held in (False, True) if name == "CMS" else (False,):
            how = f"{label}, all reports held" if held else label
            mine = _measured(lambda p=protocol, v=values, h=held: _collected(p, v, DIFFERENT, h))  # type: ignore[misc]
            taken[how], memory[how] = mine[0], mine[1]
            errors[how] = _rmse(mine[2], values)
            if python is not None:
                peer = _ask(python, f"{task} held" if held else task, values)
                taken[f"{how}, pure-ldp"], memory[f"{how}, pure-ldp"] = peer[0], peer[1]
                errors[f"{how}, pure-ldp"] = _rmse(peer[2], values)
                ratios[f"{how}, pure-ldp / ours, time"] = peer[0] / mine[0]
                ratios[f"{how}, ours / pure-ldp, memory"] = mine[1] / peer[1]
    _hashing(rows // 10, python, taken, ratios)
    large = HadamardCountMean(epsilon=EPSILON, hashes=2048, width=WIDTH)
    label = f"HCMS, {10 * rows:,} users, 100,000 values, 2,048 by 1,024"
    values = _values(10 * rows, 100_000)
    taken[label], memory[label], _ = _measured(lambda: _collected(large, values, 100_000, False))
    _dictionary(rows, taken, memory)
    return {
        "processor seconds": {name: round(each, 3) for name, each in taken.items()},
        "ratios": {name: round(each, 3) for name, each in ratios.items()},
        "megabytes": {name: round(each / 2**20, 1) for name, each in memory.items()},
        "RMSE of the estimates": {name: round(each, 1) for name, each in errors.items()},
    }


def _values(users: int, different: int) -> Values:
    """Zipf's law with exponent 1.1 over so many values."""
    shares = np.arange(1, different + 1) ** -1.1
    edges = np.cumsum(shares / shares.sum())
    drawn = Seeded(2026).integers(2**53, users) * 2.0**-53
    return np.minimum(np.searchsorted(edges, drawn, side="right"), different - 1)


def _collected(protocol: Protocol, values: Values, different: int, held: bool) -> Any:
    """End to end: reports of everybody, counted, and every value estimated."""
    server, client = protocol.server(), protocol.client()
    if held:
        server.absorb(client.privatise(values))
    else:
        for batch in client.batches(values, size=2**14):
            server.absorb(batch)
    return server.estimate(range(different)).counts


def _hashing(
    users: int, python: Path | None, taken: dict[str, float], ratios: dict[str, float]
) -> None:
    protocol, values = LocalHashing(epsilon=EPSILON), _values(users, DIFFERENT)
    server = protocol.server().absorb(protocol.client().privatise(values))
    spent, _, _ = _measured(lambda: server.estimate(range(DIFFERENT)))
    each = 1e9 * spent / (users * DIFFERENT)
    taken[f"OLH, the server, {users:,} users by {DIFFERENT:,} values"] = spent
    ratios["OLH, nanoseconds for each user and value"] = each
    if python is not None:
        few = values[:PEER_PAIRS]
        peer = 1e9 * _ask(python, "olh", few)[0] / (few.size * DIFFERENT)
        ratios["OLH, nanoseconds for each user and value, pure-ldp"] = peer


def _dictionary(rows: int, taken: dict[str, float], memory: dict[str, float]) -> None:
    protocol = FragmentPuzzle(epsilon=8, fragment_epsilon=6)
    words = anglicisms(rows)["value"].to_list()
    server, label = protocol.server(), f"SFP, {rows:,} strings"

    def collect() -> None:
        for batch in protocol.client().batches(words, size=2**14):
            server.absorb(batch)

    taken[f"{label}, reports"], memory[f"{label}, reports"], _ = _measured(collect, rounds=1)
    spent, most, found = _measured(server.dictionary)
    taken[f"{label}, dictionary of {len(found.candidates)}"] = spent
    memory[f"{label}, dictionary"] = most


def _measured(work: Callable[[], Any], *, rounds: int = 3) -> tuple[float, int, Any]:
    """The least processor time of some rounds, the most memory held, and what came out.

    The first of several rounds compiles, and is not timed.
    """
    times = []
    for done in range(rounds):
        before, started = forget_peak(), process_time()
        result = work()
        times.append(process_time() - started)
        most = peak() - before
        if done < rounds - 1:
            del result
    return min(times[1:] or times), most, result


def _rmse(estimates: Any, values: Values) -> float:
    real = np.bincount(values, minlength=DIFFERENT)
    return float(np.sqrt(np.mean((np.asarray(estimates) - real) ** 2)))


def _peer() -> Path | None:
    """The Python of an environment with pure-ldp, made now if there is none yet."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = cache / "celosia-bench" / "pure-ldp-1.2.0"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        make = [[sys.executable, "-m", "venv", str(home)]]
        make.append([str(python), "-m", "pip", "install", "--quiet", *PINS])
        for command in make:
            if subprocess.run(command, capture_output=True, check=False).returncode:  # noqa: S603
                return None
        (home / "ready").touch()
    return python


def _ask(python: Path, task: str, values: Values) -> tuple[float, int, Any]:
    """A task of pure-ldp."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "values.npy"
        np.save(path, values)
        script = Path(__file__).with_name("_pure_ldp.py")
        command = [str(python), str(script), task, str(path)]
        done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603
    found = json.loads(done.stdout)
    return found["seconds"], found["peak"], found["estimates"]
