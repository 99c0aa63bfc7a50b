"""Figures of an endpoint for those who run it, in the text format of Prometheus.

They count batches and reports, and tell nothing of senders or of what reports say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(slots=True)
class Metrics:
    """What has happened since the endpoint began."""

    batches_counted: int = 0
    batches_repeated: int = 0
    batches_refused: int = 0
    batches_sent_away: int = 0
    """For want of room: answered with 429."""
    reports_counted: int = 0
    writes: int = 0
    write_failures: int = 0

    def text(self, **gauges: int) -> str:
        """All figures, and those of the moment beside them.

        >>> print(Metrics(writes=3).text(batches_waiting=2))  # doctest: +ELLIPSIS
        # TYPE celosia_collect_batches_counted_total counter
        celosia_collect_batches_counted_total 0
        ...
        # TYPE celosia_collect_batches_waiting gauge
        celosia_collect_batches_waiting 2
        <BLANKLINE>
        """
        counters = {f"{each.name}_total": getattr(self, each.name) for each in fields(self)}
        return prometheus_text(counters, gauges)


def prometheus_text(counters: Mapping[str, int], gauges: Mapping[str, int]) -> str:
    """Figures as Prometheus reads them."""
    lines = []
    for kind, figures in (("counter", counters), ("gauge", gauges)):
        for name, value in figures.items():
            lines.append(f"# TYPE celosia_collect_{name} {kind}")
            lines.append(f"celosia_collect_{name} {value}")
    return "\n".join(lines) + "\n"
