"""Linking two releases: the same person under two pseudonyms, found by where both have been."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source
from celosia.traces.attacks.method import AttackedTraces, TraceAttackMethod
from celosia.traces.attacks.result import TraceAttack
from celosia.traces.attacks.unicity import sample_codes
from celosia.traces.points import Traces
from celosia.traces.samples import Samples, segmented

MOST_TARGETS = 2000


def _profiles(samples: Samples, original: Traces, cell: float) -> tuple[NDArray[np.int64], ...]:
    codes = sample_codes(samples, original, cell=cell, hours=None)
    return samples.trace, codes


def link(
    first: Samples, second: Samples, original: Traces, *, cell: float = 1000.0
) -> NDArray[np.int64]:
    """For each trace of the first release, the trace of the second that visits the most alike.

    Cosine of the visits to cells, each weighted by how rare it is (log of inverse frequency); -1
    where nothing is in common.

    Reference: Gambs, Killijian, Núñez del Prado 2014, with profiles of cells.
    """
    from scipy.sparse import coo_array, diags_array

    trace, codes = _profiles(first, original, cell)
    other, others = _profiles(second, original, cell)
    distinct = np.unique(np.concatenate([codes, others]))

    def matrix(rows: NDArray[np.int64], keys: NDArray[np.int64], size: int) -> Any:
        columns = np.searchsorted(distinct, keys)
        counted = coo_array(
            (np.ones(rows.size), (rows, columns)), shape=(size, distinct.size)
        ).tocsr()
        counted.sum_duplicates()
        counted.data = np.log1p(counted.data)
        return counted

    one = matrix(trace, codes, first.traces)
    two = matrix(other, others, second.traces)
    seen = np.asarray((two > 0).sum(axis=0)).ravel()
    rare = np.log((1 + second.traces) / (1 + seen))
    one, two = one @ diags_array(rare), two @ diags_array(rare)
    for each in (one, two):
        norms = np.sqrt(np.asarray((each * each).sum(axis=1)).ravel())
        each.data /= np.maximum(np.repeat(norms, np.diff(each.indptr)), 1e-300)
    found = np.full(first.traces, -1, dtype=np.int64)
    for start in range(0, first.traces, 512):
        likeness = (one[start : start + 512] @ two.T).toarray()
        best = likeness.argmax(axis=1)
        found[start : start + 512] = np.where(likeness.max(axis=1) > 0, best, -1)
    return found


@dataclass(frozen=True, slots=True)
class ByLinking(TraceAttackMethod):
    """An attacker has the first half of the original's time, and links it with the release."""

    method_name: ClassVar[str] = "linking"

    cell: float = parameter(1000.0, above=0, unit="m", is_main=True)

    def run(
        self, attacked: AttackedTraces, *, rng: Source, progress: Progress = silent
    ) -> TraceAttack:
        original = attacked.original
        middle = int(np.median(original.time)) if original.size else 0
        known = segmented(original.select(original.time <= middle), "whole")
        release = segmented(original, "whole") if attacked.release is None else attacked.release
        later = release.moments > middle
        second = Samples(
            trace=release.trace[later],
            start=release.start[later],
            end=release.end[later],
            box=release.box[later],
            owner=release.owner,
        )
        guess = link(known, second, original, cell=self.cell)
        present = np.isin(np.arange(known.traces), np.unique(known.trace)) & np.isin(
            known.owner, np.unique(second.persons)
        )
        right = (guess >= 0) & (release.owner[guess] == known.owner)
        return TraceAttack(
            name=Message("traces.attack.linking", cell=self.cell),
            assumption=Message("traces.attack.linking_knows"),
            mitigation=Message("traces.attack.linking_prevent"),
            targets=int(present.sum()),
            found=int((right & present).sum()),
            chance=1 / max(release.traces, 1),
            left_out=int((~present).sum()),
        )
