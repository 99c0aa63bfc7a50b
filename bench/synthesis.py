"""Private synthetic tables beside MST and AIM of private-pgm at epsilon 1, over several seeds.

The first table is a census; `--table FILE` takes another (CSV), whose numbers are cut into bins
at their quantiles, and whose last column of two values is what a classifier predicts. Each figure
is the mean over seeds and its standard deviation; a run with `--seeds 5` makes five synthetic
tables by each method. `--private-pgm FOLDER` is a clone of private-pgm; what it needs gets an
environment of its own in the cache folder, which takes the package index once. Without it only our
own figures are told. Each method makes its table of a seed before the next seed begins, on one
thread; with `--kept FILE` each row is written there as it comes, and what is there is not made
again. Distances are total variation, averaged over all sets of one, two and three
columns; "other people" are as near as a fresh sample is. Accuracy is that of a logistic
regression, fitted to the synthetic rows and tried on other people. Times are of the processor. AIM
measures all marginals of three columns, with its own limits and `--iterations` steps a fit (1000
by default), for the first `--aim-seeds` seeds: it takes many minutes each, and is ended after
`--aim-seconds` of the processor.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import combinations
from math import prod
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bench._peers import peer
from celosia.core.randomness import Seeded
from celosia.datasets import census
from celosia.tables.private import AdaptiveMarginals, Marginals
from celosia.tables.private.method import DeclaredMethod

Codes = NDArray[np.int64]
EPSILON, DELTA, DEGREE = 1.0, 1e-9, 3
MODEL_SIZE = 80
"""Megabytes: the limit that AIM asks to be compared with."""
NEEDS = ("numpy", "scipy", "pandas<3", "networkx", "matplotlib")
NEWER_NEEDS = ("attrs", "jax==0.6.2", "jaxlib==0.6.2", "optax<0.2.6", "chex")
"""Of the states of private-pgm from November 2024 on."""
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
CATEGORIES, BINS = 40, 24
"""A column of numbers with more values than the first is cut into as many bins as the second."""
HELD_BACK = 5
"""Of so many rows of a file one is for other people, and one to try the classifier on."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A table as codes, and other people of the same population."""

    data: Codes
    others: Codes
    tested: Codes
    sizes: list[int]


def run(
    *,
    rows: int = 30_162,
    seeds: int = 5,
    table: str | None = None,
    private_pgm: str | None = None,
    iterations: int = 1000,
    aim_seeds: int | None = None,
    aim_seconds: int | None = None,
    kept: str | None = None,
) -> dict[str, dict[str, Any]]:
    """Distances, accuracies and seconds: mean and deviation over seeds."""
    sample = _census(rows) if table is None else _file(table)
    wanted = [
        (name, seed)
        for seed in range(1, seeds + 1)
        for name in (*OURS, *(PEERS if private_pgm is not None else ()))
        if name != AIM or seed <= (aim_seeds or seeds)
    ]
    given = {"iterations": iterations}
    known = _Kept(kept, {"table": table, "rows": len(sample.data), "steps": iterations})
    found: dict[str, list[dict[str, float]]] = {}
    found["other people"] = [_figures(sample, sample.others)]
    for name, seed in wanted:
        figures = known.find(name, seed)
        if figures is None:
            made: tuple[Codes, float] | None
            if name in OURS:
                started = process_time()
                made = _make(OURS[name], sample, seed), process_time() - started
            else:
                limit = aim_seconds if name == AIM else None
                made = _ask(
                    str(private_pgm), name[-3:], sample, {**given, "seed": seed, "limit": limit}
                )
            figures = {NOT_ENDED: float(aim_seconds or 0)}
            if made is not None:
                figures = {**_figures(sample, made[0]), SECONDS: made[1]}
            known.add(name, seed, figures)
        found.setdefault(name, []).append(figures)
    found["the table itself"] = [{ACCURACY: accuracy(sample.data, sample.tested, sample.sizes)}]
    kinds = list(dict.fromkeys(kind for each in found.values() for one in each for kind in one))
    result = {
        kind: {
            name: _spread([one[kind] for one in each if kind in one], kind)
            for name, each in found.items()
            if any(kind in one for one in each)
        }
        for kind in kinds
    }
    if private_pgm is None:
        result["not compared"] = {"private-pgm (--private-pgm FOLDER)": "absent"}
    return result


OURS: dict[str, type[DeclaredMethod]] = {
    method.method_name: method for method in (AdaptiveMarginals, Marginals)
}
AIM = "private-pgm aim"
PEERS = ("private-pgm mst", AIM)
ACCURACY = "accuracy of a classifier"
SECONDS = "processor seconds"
NOT_ENDED = "did not end in so many seconds"


class _Kept:
    """The rows of a run: on the error stream as they come, and in a file if there is one."""

    def __init__(self, file: str | None, settings: dict[str, Any]) -> None:
        self.file = None if file is None else Path(file)
        self.settings = settings
        is_there = self.file is not None and self.file.exists()
        lines = self.file.read_text().splitlines() if self.file and is_there else []
        self.rows = [json.loads(line) for line in lines]

    def find(self, name: str, seed: int) -> dict[str, float] | None:
        """What an earlier run with these settings has found."""
        wanted = {**self.settings, "method": name, "seed": seed}
        return next(
            (row["figures"] for row in self.rows if wanted.items() <= row.items()),
            None,
        )

    def add(self, name: str, seed: int, figures: dict[str, float]) -> None:
        """Tell and keep one row."""
        row = {**self.settings, "method": name, "seed": seed, "figures": figures}
        print(json.dumps(row), file=sys.stderr, flush=True)
        if self.file is not None:
            with self.file.open("a") as file:
                print(json.dumps(row), file=file)


def _spread(found: list[float], kind: str) -> str:
    values = np.array(found)
    digits = 1 if "seconds" in kind else 4
    mean = f"{values.mean():.{digits}f}"
    return mean if values.size < 2 else f"{mean} ± {values.std(ddof=1):.{digits}f} ({values.size})"


def _figures(sample: Sample, made: Codes) -> dict[str, float]:
    found = {
        f"{count}-way distance": distance(sample.data, made, sample.sizes, count)
        for count in (1, 2, 3)
    }
    return found | {ACCURACY: accuracy(made, sample.tested, sample.sizes)}


def _make(method: type[DeclaredMethod], sample: Sample, seed: int) -> Codes:
    names = [str(place) for place in range(len(sample.sizes))]
    domains = {name: tuple(range(size)) for name, size in zip(names, sample.sizes, strict=True)}
    frame = pl.DataFrame(dict(zip(names, sample.data.T, strict=True)))
    made = method(epsilon=EPSILON, delta=DELTA, domains=domains)
    found = made.apply(frame, names, rng=Seeded(seed)).frame
    # An empty cell is one value more, which the table does not have.
    columns = [
        found[name].fill_null(size).to_numpy()
        for name, size in zip(names, sample.sizes, strict=True)
    ]
    return np.stack(columns, axis=1)


def _census(rows: int) -> Sample:
    people, others, last = census(rows), census(rows, seed=7), census(rows, seed=8)
    values = [
        pl.Series(range(17, 91)) if name == "age" else census()[name].unique().sort()
        for name in people.columns
    ]
    data, more, tested = (_codes(frame, values) for frame in (people, others, last))
    return Sample(data, more, tested, [len(each) for each in values])


def _file(path: str) -> Sample:
    """A table from a file: every column as codes, what is to be predicted last."""
    frame = pl.read_csv(path, infer_schema_length=None).drop_nulls()
    columns = {name: _cut(frame[name]) for name in frame.columns}
    goal = [name for name, codes in columns.items() if codes.max() == 1][-1]
    order = [name for name in columns if name != goal and columns[name].max() > 0] + [goal]
    data = np.stack([columns[name] for name in order], axis=1)
    part = np.arange(len(data)) % HELD_BACK
    sizes = [int(each) + 1 for each in data.max(axis=0)]
    return Sample(data[part > 1], data[part == 0], data[part == 1], sizes)


def _cut(series: pl.Series) -> Codes:
    values = series.to_numpy()
    if series.dtype.is_numeric() and series.n_unique() > CATEGORIES:
        edges = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)))[1:-1]
        values = np.searchsorted(edges, values, side="right")
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _codes(frame: pl.DataFrame, values: list[pl.Series]) -> Codes:
    columns = [
        frame[name].replace_strict(known, range(len(known)), default=0).to_numpy()
        for name, known in zip(frame.columns, values, strict=True)
    ]
    return np.stack(columns, axis=1).astype(np.int64)


def distance(one: Codes, two: Codes, sizes: list[int], count: int) -> float:
    """The mean total variation distance over all sets of so many columns."""
    found = []
    for axes in combinations(range(len(sizes)), count):
        shape = [sizes[axis] + 1 for axis in axes]
        shares = [
            np.bincount(np.ravel_multi_index(codes[:, axes].T, shape), minlength=prod(shape))
            / len(codes)
            for codes in (one, two)
        ]
        found.append(float(np.abs(shares[0] - shares[1]).sum()) / 2)
    return float(np.mean(found))


def accuracy(train: Codes, test: Codes, sizes: list[int]) -> float:
    """How often a logistic regression of the last column on all others is right."""
    train = train[train[:, -1] < sizes[-1]]
    inputs = _one_hot(train, sizes)
    weights = np.zeros(inputs.shape[1])
    for _ in range(8):  # Newton's method, with a ridge of one row a value
        chances = 1 / (1 + np.exp(-(inputs @ weights)))
        gradient = inputs.T @ (train[:, -1] - chances) - weights
        curvature = (inputs.T * (chances * (1 - chances))) @ inputs + np.eye(weights.size)
        weights += np.linalg.solve(curvature, gradient)
    return float(np.mean((_one_hot(test, sizes) @ weights > 0) == test[:, -1]))


def _one_hot(codes: Codes, sizes: list[int]) -> NDArray[np.float64]:
    parts = [np.eye(size + 1)[codes[:, place]] for place, size in enumerate(sizes[:-1])]
    return np.hstack([*parts, np.ones((len(codes), 1))])


def _ask(
    folder: str, name: str, sample: Sample, given: dict[str, Any]
) -> tuple[Codes, float] | None:
    """The rows and the seconds of one mechanism of private-pgm; None where it took too long."""
    newer = not (Path(folder) / "setup.py").exists()
    python = peer(
        "private-pgm-jax" if newer else "private-pgm", NEEDS + (NEWER_NEEDS if newer else ())
    )
    if python is None:
        raise SystemExit("what private-pgm needs cannot be installed")
    settings = given | {
        "sizes": sample.sizes,
        "epsilon": EPSILON,
        "delta": DELTA,
        "degree": DEGREE,
        "model size": MODEL_SIZE,
    }
    with tempfile.TemporaryDirectory() as place:
        codes, made = Path(place) / "given.npy", Path(place) / "made.npy"
        np.save(codes, sample.data)
        script = str(Path(__file__).with_name("_private_pgm.py"))
        texts = [script, folder, name, str(codes), json.dumps(settings), str(made)]
        told = subprocess.run(
            [str(python), *texts],
            check=False,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | ONE_THREAD,
        )
        if given["limit"] and told.returncode == -signal.SIGXCPU:
            return None
        told.check_returncode()
        return np.load(made), float(json.loads(told.stdout)["seconds"])
