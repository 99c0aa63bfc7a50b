"""`celosia collect absorb`: reports from files into the folder of a collector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console
from celosia.cli.collect.shared import Folder, ProtocolFile
from celosia.cli.frame import JsonOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.collect.collector.collector import Collector
    from celosia.collect.collector.ingestion import IngestionSummary
    from celosia.collect.distributed.parts import GatheredCounts
    from celosia.core.progress import Progress


def absorb(
    protocol: ProtocolFile,
    outputs: JsonOutputs,
    places: Annotated[
        list[str],
        "argument FILES...",
        "Files of reports (.clr, .parquet, .arrow), or folders of them.",
    ],
    folder: Folder,
    source: Annotated[str, "A name for where the files come from, if there are several."] = "",
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="The number of processes.", show_default=False),
    ] = None,
    engine: Annotated[str | None, "Count on a cluster: spark."] = None,
    url: Annotated[str | None, "Of Spark: local[4], spark://host:7077, sc://host, $NAME."] = None,
) -> None:
    """Count reports from files. What was counted before is not counted again.

    It can be stopped at any moment and run again.

    With --processes or --engine, Parquet and Arrow files are counted in many places at once, all of
    them or none; the sums are the same.

    **Examples**

    `celosia collect absorb emoji.toml reports.clr --folder state`

    `celosia collect absorb emoji.toml 2026-11-15/ --folder state --source relay-1`

    `celosia collect absorb emoji.toml 2026-11-15/ --folder state --processes 4`

    `celosia collect absorb emoji.toml hdfs://name/reports --folder state --engine spark --url yarn`
    """
    from celosia.collect.collector.collector import Collector
    from celosia.collect.collector.ingestion import absorb_files
    from celosia.collect.registry import load_protocol

    _check(processes, engine, url)
    declared = load_protocol(protocol)
    with (
        outputs.working(None) as progress,
        Collector.open(folder, declared, progress=progress) as collector,
    ):
        found: IngestionSummary | GatheredCounts
        if engine is not None or processes is not None:
            found = _gather(collector, places, source, processes, url, progress)
        else:
            found = absorb_files(collector, places, source=source, progress=progress)
            _show_refusals(found)
        total = collector.users
    last = say("cli.collect.all", found=found, total=total)
    outputs.show(lambda: found.as_dict() | {"total": total}, None, last)


def _gather(
    collector: Collector,
    places: list[str],
    source: str,
    processes: int | None,
    url: str | None,
    progress: Progress,
) -> GatheredCounts:
    """Count in many places, then take in what is new, with one write."""
    from celosia.collect.distributed.parts import gather_in_processes
    from celosia.collect.distributed.spark import gather_on_spark

    declared, counted_marks = collector.protocol, collector.marks()
    if processes is not None:
        found = gather_in_processes(
            declared,
            places,
            processes=processes,
            source=source,
            counted_marks=counted_marks,
            progress=progress,
        )
    else:
        found = gather_on_spark(
            declared, places, url=url, source=source, counted_marks=counted_marks
        )
    if found.marks:
        collector.take_in(found.server, found.marks, source=source)
    return found


def _show_refusals(found: IngestionSummary) -> None:
    if found.refused:
        for each in found.refused:
            console.note(str(each))
        raise InputError(
            "CEL-R082.refused", **(found.as_dict() | {"number_refused": len(found.refused)})
        )


def _check(processes: int | None, engine: str | None, url: str | None) -> None:
    if engine not in (None, "spark"):
        raise InputError("CEL-E076.engine", engine=engine)
    if engine is not None and processes is not None:
        raise InputError("CEL-E076.both")
    if engine is None and url is not None:
        raise InputError("CEL-E076.url")
