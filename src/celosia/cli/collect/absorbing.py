"""`celosia collect absorb`: reports from files into the folder of a collector."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli import console, options
from celosia.cli.collect.shared import Folder, ProtocolFile
from celosia.core.errors import InputError


def absorb(
    protocol: ProtocolFile,
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES...",
            help="Files of reports (.clr, .parquet, .arrow), or folders of them.",
            show_default=False,
        ),
    ],
    folder: Folder,
    source: Annotated[
        str, typer.Option(help="A name for where the files come from, if there are several.")
    ] = "",
    as_json: options.AsJson = False,
) -> None:
    """Count reports from files. What was counted before is not counted again.

    It can be stopped at any moment and run again.

    **Examples**

    `celosia collect absorb emoji.toml reports.clr --folder state`

    `celosia collect absorb emoji.toml 2026-11-15/ --folder state --source relay-1`
    """
    from celosia.telemetry.collector.collector import Collector
    from celosia.telemetry.collector.ingestion import absorb_files
    from celosia.telemetry.registry import load_protocol

    declared = load_protocol(protocol)
    with (
        console.progress_bar(quiet=as_json) as progress,
        Collector.open(folder, declared, progress=progress) as collector,
    ):
        found = absorb_files(collector, places, source=source, progress=progress)
        total = collector.users
    if found.refused:
        for each in found.refused:
            console.note(str(each))
        raise InputError(
            "CEL-R082",
            f"{len(found.refused):,} of {found.files:,} files were refused, in whole or in part.",
            why=f"{found.counted:,} reports of the others are counted, {found.known:,} had been.",
            fix="Mend those files and run the command again.",
            **found.as_dict(),
        )
    if as_json:
        console.show_json(found.as_dict() | {"total": total})
        return
    console.show(f"{found}; {total:,} in all", strong=True)
