"""Microaggregation: MDAV on 100,000 records, a million in blocks, and its refinement."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.memory import forget_peak, peak
from bench.timing import once
from celosia.tables.masking.microaggregation import (
    information_loss,
    mdav_groups,
    optimal_groups,
    refined_groups,
)

_SDCMICRO = 45.0
"""Seconds of sdcMicro's mdav for 100,000 records of 5 columns, k = 3."""

_BLOCK = 50_000


def run(rows: int = 100_000) -> dict[str, dict[str, Any]]:
    """Seconds, losses and memory; the blocked run has ten times the rows."""
    rng = np.random.default_rng(1)
    warm = rng.normal(size=(2_000, 5))
    mdav_groups(warm, 3)
    refined_groups(warm, 3)
    optimal_groups(warm[:, 0], 5)
    table = rng.normal(size=(rows, 5))
    large = rng.normal(size=(10 * rows, 5))
    held: dict[str, Any] = {}
    whole = once(lambda: held.update(whole=mdav_groups(table, 3)))
    cut = once(lambda: held.update(cut=mdav_groups(table, 3, block=_BLOCK)))
    refined = once(lambda: held.update(refined=refined_groups(table, 3)))
    before = forget_peak()
    blocked = once(lambda: mdav_groups(large, 3, block=_BLOCK))
    extra = max(0, peak() - before)
    line = once(lambda: optimal_groups(large[:, 0], 5))
    loss = {name: information_loss(table, held[name]) for name in ("whole", "cut", "refined")}
    return {
        "facts": {"rows": rows, "rows in blocks": 10 * rows, "columns": 5, "k": 3},
        "seconds": {
            "mdav": round(whole, 2),
            f"mdav in blocks of {_BLOCK:,}": round(cut, 2),
            "mdav-refined": round(refined, 2),
            "ten times the rows in blocks": round(blocked, 2),
            "ten times the rows, one column, optimal": round(line, 2),
        },
        "loss in percent": {
            "mdav": round(loss["whole"], 4),
            "in blocks": round(loss["cut"], 4),
            "mdav-refined": round(loss["refined"], 4),
        },
        "memory MB": {"ten times the rows": large.nbytes >> 20, "beside it": extra >> 20},
        "ratios": {
            "sdcMicro's 45 s / mdav": round(_SDCMICRO / whole, 1),
            "15 s / ten times the rows in blocks": round(15 / blocked, 1),
            "mdav-refined / mdav": round(refined / whole, 1),
            "loss in blocks / whole": round(loss["cut"] / loss["whole"], 3),
            "loss refined / mdav": round(loss["refined"] / loss["whole"], 3),
        },
    }
