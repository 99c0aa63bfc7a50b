"""`celosia trace assess`: compare published traces with their original."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from celosia.cli import console
from celosia.cli.frame import ReportOutputs
from celosia.cli.trace.input_options import TraceFile, TraceInput
from celosia.core.messages import say


def assess(
    points: TraceFile,
    release: Annotated[Path, "argument", "The published file."],
    declared: TraceInput,
    outputs: ReportOutputs,
) -> None:
    """Compare published traces with their original: density, trips, radii, flows, range queries.

    **Examples**

    `celosia trace assess pings.csv safe.csv --declare trace.toml`

    `celosia trace assess pings.csv safe.csv --declare trace.toml --report use.html --json`
    """
    from celosia import frames
    from celosia.core.report import Document
    from celosia.traces import compare
    from celosia.traces.metrics.utility import WORDS
    from celosia.traces.samples import samples_from

    outputs.check(inputs=(points, release, declared.declare))
    with outputs.working() as progress:
        traces = declared.read(points, progress)
        samples = samples_from(frames.read(release), traces.plane)
        found = compare(traces, samples)
    outputs.write_report(lambda: Document(say("traces.cli.assess"), f"{traces}.", found.blocks()))

    def lines() -> None:
        console.show_table(
            say("traces.report.utility"),
            ["", say("cli.column.value")],
            [
                [str(WORDS[name]), console.number(value, ",.4g")]
                for name, value in found.figures.items()
            ],
        )

    share = found.figures["flow_overlap"]
    outputs.show(found.as_dict, lines, say("traces.cli.assessed", share=share))
