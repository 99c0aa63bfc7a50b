"""What each mechanism would name, tried on a simulated log of a declared size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Seeded
from celosia.logs.log import Log
from celosia.logs.private.data import Of, key_data
from celosia.logs.private.release import METHODS

PER_PERSON = (1, 5, 20, 50)
RUNS = 10


@dataclass(frozen=True, slots=True)
class PlanRow:
    """What one mechanism names for one bound, on average."""

    per_person: int
    method: str
    keys: float
    records: float
    """The share of the records whose key is named."""
    least_persons: int
    """How many persons a key needs to be named with a chance of a half."""


def plan(
    log: Log,
    *,
    epsilon: float,
    delta: float,
    per_person: Sequence[int] = PER_PERSON,
    of: Of = "queries",
    runs: int = RUNS,
    seed: int = 1,
    progress: Progress = silent,
) -> list[PlanRow]:
    """The means of several runs on a log that must not be private: a simulated one.

    Choosing a bound from the private log itself would tell something about it.
    """
    data = key_data(log, of)
    records = np.bincount(data.codes, minlength=data.size)
    rows = []
    for bound in per_person:
        for number, (name, kind) in enumerate(METHODS.items()):
            progress(Step(name, number, len(METHODS)))
            mechanism = kind(epsilon=epsilon, delta=delta, per_person=bound)
            found = []
            for run in range(runs):
                named = mechanism.release(data, rng=Seeded(seed * 1000 + run))
                is_named = data.labels.is_in(list(named)).to_numpy()
                found.append((len(named), records[is_named].sum() / max(1, len(data.codes))))
            keys, share = np.mean(found, axis=0)
            rows.append(PlanRow(bound, name, float(keys), float(share), mechanism.least_persons))
    return rows
