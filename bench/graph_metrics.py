"""Clustering and PageRank on a power-law graph, beside networkit on the same edges.

networkit gets an environment of its own in the cache folder; that takes the package index once.
Without it only our own times are told. Both use every core; a time is that of the clock, the least
of three after the graph is loaded, and ours include building rows of neighbours anew each time. A
ratio is our time over theirs in the same run: below 1 is faster. The answers are compared too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from bench.memory import peak
from celosia.core.randomness import Seeded
from celosia.graphs.examples import karate
from celosia.graphs.generators import power_law
from celosia.graphs.graph import Graph
from celosia.graphs.metrics import clustering, communities, coreness, pagerank

PEER = "networkit==11.2.2"
ROUNDS = 3


def run(*, rows: int = 10_000_000) -> dict[str, dict[str, Any]]:
    """Seconds and ratios for a graph of `rows` edges and a tenth as many vertices."""
    graph = power_law(rows // 10, rows, 2.5, Seeded(2026))
    for warm in (clustering, pagerank, coreness):
        warm(karate())
    communities(karate(), rng=Seeded(1))
    tasks: dict[str, Callable[[Graph], Any]] = {
        "clustering": lambda given: clustering(given).local,
        "pagerank": pagerank,
        "cores": coreness,
        "communities": lambda given: communities(given, rng=Seeded(1)).of_vertex,
    }
    seconds: dict[str, float] = {}
    answers: dict[str, Any] = {}
    for name, task in tasks.items():
        taken = []
        for _ in range(ROUNDS if name in ("clustering", "pagerank") else 1):
            fresh = replace(graph)  # nothing cached
            started = perf_counter()
            answers[name] = task(fresh)
            taken.append(perf_counter() - started)
        seconds[name] = min(taken)
    found: dict[str, dict[str, Any]] = {"memory": {"peak, MB": round(peak() / 1e6)}}
    ratios: dict[str, Any] = {}
    python = _peer()
    for name, theirs in ({} if python is None else _ask(python, graph)).items():
        seconds[f"{name}, networkit"] = min(theirs["seconds"])
        ratios[f"{name}, ours / networkit"] = seconds[name] / seconds[f"{name}, networkit"]
        apart = abs(float(answers[name].mean()) / theirs["mean"] - 1)
        ratios[f"{name}, means apart by"] = f"{apart:.1e}"
    rounded = {name: round(each, 3) for name, each in seconds.items()}
    return {
        "seconds": rounded,
        "ratios": {
            name: each if isinstance(each, str) else round(each, 3) for name, each in ratios.items()
        },
        **found,
    }


def _peer() -> Path | None:
    """The Python of an environment with networkit, made now if there is none yet."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = cache / "celosia-bench" / PEER.replace("==", "-")
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        make = [[sys.executable, "-m", "venv", str(home)]]
        make.append([str(python), "-m", "pip", "install", "--quiet", PEER])
        for command in make:
            if subprocess.run(command, capture_output=True, check=False).returncode:
                return None
        (home / "ready").touch()
    return python


def _ask(python: Path, graph: Graph) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.npy"
        np.save(path, graph.edges)
        script = Path(__file__).with_name("_networkit.py")
        command = [str(python), str(script), str(path), str(graph.order), str(ROUNDS)]
        done = subprocess.run(command, capture_output=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
