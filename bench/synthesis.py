"""Private synthetic tables beside MST and AIM of private-pgm, on the census at epsilon 1.

`--private-pgm FOLDER` is a clone of private-pgm; what it needs gets an environment of its own in
the cache folder, which takes the package index once. Without it only our own figures are told.
Distances are total variation, averaged over all sets of one, two and three columns; "another
sample" is a second census of as many rows, as near as a fresh sample is. Accuracy is that of a
logistic regression of the salary class, fitted to the synthetic rows and tried on other people.
Times are of the processor. AIM measures all marginals of three columns, with its own limits; it
takes many minutes, and `--iterations 100` a tenth of that.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
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

Codes = NDArray[np.int64]
EPSILON, DELTA, DEGREE, SEED = 1.0, 1e-9, 3, 1
MODEL_SIZE = 80
"""Megabytes: the limit that AIM asks to be compared with."""
NEEDS = ("numpy", "scipy", "pandas<3", "networkx", "matplotlib")
NEWER_NEEDS = ("attrs", "jax==0.6.2", "jaxlib==0.6.2", "optax<0.2.6", "chex")
"""Of the states of private-pgm from November 2024 on."""


def run(
    *, rows: int = 30_162, private_pgm: str | None = None, iterations: int = 1000
) -> dict[str, dict[str, Any]]:
    """Distances, accuracies and seconds."""
    people, others, last = census(rows), census(rows, seed=7), census(rows, seed=8)
    values = [
        pl.Series(range(17, 91)) if name == "age" else census()[name].unique().sort()
        for name in people.columns
    ]
    sizes = [len(each) for each in values]
    data, more, tested = (_codes(frame, values) for frame in (people, others, last))
    made: dict[str, Codes] = {"another sample": more}
    seconds: dict[str, float] = {}
    names = [str(place) for place in range(len(sizes))]
    domains = {name: tuple(range(size)) for name, size in zip(names, sizes, strict=True)}
    frame = pl.DataFrame(dict(zip(names, data.T, strict=True)))
    for method in (
        AdaptiveMarginals(epsilon=EPSILON, delta=DELTA, degree=DEGREE, domains=domains),
        Marginals(epsilon=EPSILON, delta=DELTA, domains=domains),
    ):
        started = process_time()
        found = method.apply(frame, names, rng=Seeded(SEED)).frame
        seconds[method.method_name] = process_time() - started
        # An empty cell is one value more, which the table does not have.
        columns = [
            found[name].fill_null(size).to_numpy() for name, size in zip(names, sizes, strict=True)
        ]
        made[method.method_name] = np.stack(columns, axis=1)
    if private_pgm is not None:
        for name in ("mst", "aim"):
            label = f"private-pgm {name}"
            made[label], seconds[label] = _ask(private_pgm, name, data, sizes, iterations)
    result: dict[str, dict[str, Any]] = {
        f"{count}-way distance": {
            name: round(distance(data, codes, sizes, count), 4) for name, codes in made.items()
        }
        for count in (1, 2, 3)
    }
    made["the table itself"] = data
    result["accuracy of a classifier"] = {
        name: round(accuracy(codes, tested, sizes), 4) for name, codes in made.items()
    }
    result["processor seconds"] = {name: round(each, 2) for name, each in seconds.items()}
    if private_pgm is None:
        result["not compared"] = {"private-pgm (--private-pgm FOLDER)": "absent"}
    return result


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
    folder: str, name: str, data: Codes, sizes: list[int], iterations: int
) -> tuple[Codes, float]:
    newer = not (Path(folder) / "setup.py").exists()
    python = peer(
        "private-pgm-jax" if newer else "private-pgm", NEEDS + (NEWER_NEEDS if newer else ())
    )
    if python is None:
        raise SystemExit("what private-pgm needs cannot be installed")
    settings = {
        "sizes": sizes,
        "epsilon": EPSILON,
        "delta": DELTA,
        "degree": DEGREE,
        "model size": MODEL_SIZE,
        "iterations": iterations,
        "seed": SEED,
    }
    with tempfile.TemporaryDirectory() as place:
        given, made = Path(place) / "given.npy", Path(place) / "made.npy"
        np.save(given, data)
        script = Path(__file__).with_name("_private_pgm.py")
        command = [
            str(python),
            str(script),
            folder,
            name,
            str(given),
            json.dumps(settings),
            str(made),
        ]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return np.load(made), float(json.loads(told)["seconds"])
