"""The account of published traces: attacks before and after, utility, and maps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step
from celosia.core.randomness import Source
from celosia.traces.attacks import AttackedTraces, TraceAttack
from celosia.traces.attacks.registry import USUAL
from celosia.traces.drawing import before_and_after
from celosia.traces.metrics import TraceUtility, compare
from celosia.traces.points import Traces
from celosia.traces.samples import Samples

MOST_COMPARED = 3_000_000
"""Points up to which a release is attacked and compared; `celosia trace attack` takes its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceAccount:
    """The comparison of published traces with their original; for the curator alone."""

    utility: TraceUtility | None = None
    attacks: tuple[TraceAttack, ...] = ()
    before: tuple[TraceAttack, ...] = ()
    """The same attacks on the original under numbers in place of names."""
    maps: tuple[Any, Any] | None = field(default=None, repr=False)

    def figures(self) -> dict[str, Any]:
        """What a certificate may hold: shares of people, and utility."""
        found: dict[str, Any] = {
            each.name: {"share": each.share, "chance": each.chance, "smallest": each.smallest}
            for each in self.attacks
        }
        return found | ({} if self.utility is None else {"utility": self.utility.as_dict()})


def account(
    original: Traces, release: Samples, *, period: str, rng: Source, progress: Progress
) -> TraceAccount:
    """Attack a release, and compare it with its original."""
    if max(original.size, release.size) > MOST_COMPARED:
        return TraceAccount()
    progress(Step(Message("traces.stage.assess"), 0))
    attacked = AttackedTraces(original=original, release=release, period=period)
    naive = AttackedTraces(original=original, period=period)
    return TraceAccount(
        utility=compare(original, release),
        attacks=tuple(each.run(attacked, rng=rng) for each in USUAL),
        before=tuple(each.run(naive, rng=rng) for each in USUAL),
        maps=before_and_after(original, release),
    )
