"""`celosia trace info` and `methods`: describe points without places, and list the methods."""

from __future__ import annotations

from typing import Any

from celosia.cli import console
from celosia.cli.frame import JsonOutputs
from celosia.cli.trace.input_options import Seed, TraceFile, TraceInput
from celosia.core.messages import Message, say

RESOLUTIONS = ((200, 1), (1000, 1), (1000, 6), (2000, 6), (5000, 24))
"""Metres and hours of the unicity table."""


def info(points: TraceFile, declared: TraceInput, outputs: JsonOutputs, seed: Seed = None) -> None:
    """Describe points: counts, gaps, and how few known points single a person out. No places.

    **Examples**

    `celosia trace info pings.csv --declare trace.toml`

    `celosia trace info pings.csv --declare trace.toml --json`
    """
    from celosia.core.randomness import source
    from celosia.traces.attacks import unicity_curve
    from celosia.traces.summary import summary

    with outputs.working() as progress:
        traces = declared.read(points, progress)
        found = summary(traces)
        rng = source(seed)
        curves = [
            (cell, hours, unicity_curve(traces, cell=cell, hours=hours, rng=rng))
            for cell, hours in RESOLUTIONS
        ]

    def facts() -> dict[str, Any]:
        return found | {
            "warnings": list(traces.warnings),
            "unicity": [
                {"cell": cell, "hours": hours, "shares": shares} for cell, hours, shares in curves
            ],
        }

    def lines() -> None:
        rows = [
            [str(Message(f"traces.summary.{name}")), console.number(value, ",.6g")]
            for name, value in found.items()
        ]
        console.show_table(say("traces.cli.points"), ["", say("cli.column.value")], rows)
        console.show_table(
            say("traces.cli.unicity"),
            [say("traces.cli.resolution"), *(str(number) for number in range(1, 6))],
            [
                [f"{cell} m, {hours} h", *(console.number(share, ".1%") for share in shares)]
                for cell, hours, shares in curves
            ],
        )
        for warning in traces.warnings:
            console.note(say("cli.query.warning", warning=warning))

    four = curves[1][2][3]
    outputs.show(facts, lines, say("traces.cli.four_points", share=four, traces=traces))


def methods(outputs: JsonOutputs) -> None:
    """List the trace methods with their parameters.

    **Examples**

    `celosia trace methods`

    `celosia trace methods --json`
    """
    from celosia.cli.methods import show_methods
    from celosia.traces.registry import methods as known

    show_methods(outputs, known(), lambda _: {})
