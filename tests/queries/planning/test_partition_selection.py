"""Groups whose keys are not declared: which of them are found."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.queries.vaults import POLICY, opened, shop

from celosia.core.randomness import Seeded
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.queries.planning.partition_selection import PartitionSelection

QUERY = "SELECT street, COUNT(*) AS n FROM person GROUP BY street"


def test_a_group_is_found_above_the_threshold_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(opened(shop(Random(1)), tmp_path, POLICY)) as vault:
        work = vault.explain(QUERY, epsilon=1, delta=1e-6).steps
    (step,) = (each for each in work if isinstance(each, PartitionSelection))
    threshold = step.mechanism.threshold
    no_noise = np.zeros(2, dtype=np.int64)
    monkeypatch.setattr(DiscreteLaplace, "draw", lambda law, size, rng: no_noise)
    rows = [("below", threshold), ("above", threshold + 1)]
    assert step.find(lambda query: rows, rng=Seeded(1)) == ((("above",),), (0,))
