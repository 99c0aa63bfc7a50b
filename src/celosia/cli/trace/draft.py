"""`celosia trace init`: write a draft of a declaration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from celosia.cli import console, options
from celosia.cli.frame import FileOutputs
from celosia.cli.trace.input_options import TraceFile
from celosia.core.messages import say


def init(
    points: TraceFile,
    outputs: FileOutputs,
    output: Annotated[
        Path | None, "--output -o", "File for the draft (TOML). Default: it is shown."
    ] = None,
    region: Annotated[
        str | None,
        "[S,W,N,E]",
        "The region in degrees: south, west, north, east. Declare it; do not measure it.",
    ] = None,
    zone: Annotated[str | None, "The time zone, such as Europe/Madrid. Default: UTC."] = None,
) -> None:
    """Write a draft of a declaration: columns by their names, zone and region.

    Without --region the draft holds a measured one, which private releases refuse.

    **Examples**

    `celosia trace init pings.csv -o trace.toml`

    `celosia trace init pings.csv --region "[39.8,-3.3,40.2,-2.7]" --zone Europe/Madrid`
    """
    from celosia.traces.drafts import draft, table_of
    from celosia.traces.plane import Region

    outputs.check(inputs=(points,), draft=output)
    declared = None if region is None else Region.of(options.value(region))
    with outputs.working():
        text = draft(table_of(points), region=declared, zone=zone)
    outputs.write_text(output, lambda: text)
    if output is None and not outputs.as_json:
        for line in text.splitlines():
            console.show(line)
        return
    outputs.show(
        lambda: {"declaration": text, "output": None if output is None else str(output)},
        None,
        say("traces.cli.drafted", path=output),
    )
