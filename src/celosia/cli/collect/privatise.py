"""`celosia collect privatise`: values into reports, as a device does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from celosia.cli.collect.shared import DeviceTable, ProtocolFile, ValuesColumn
from celosia.cli.frame import FileOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say


def privatise(
    protocol: ProtocolFile,
    outputs: FileOutputs,
    table: DeviceTable,
    column: ValuesColumn,
    output: Annotated[Path, "--output -o", "Reports: .clr, .parquet or .arrow."],
    seed: Annotated[
        int | None, "For a simulation: anyone with the seed can remove the noise."
    ] = None,
) -> None:
    """Turn values into private reports, one for each row, as devices would.

    **Examples**

    `celosia collect privatise emoji.toml today.csv --column emoji -o reports.clr`
    """
    from celosia.collect.collector.tables import TABLES, write_table
    from celosia.collect.registry import load_protocol
    from celosia.core.files import replacing
    from celosia.core.randomness import source

    declared = load_protocol(protocol)
    if output.suffix not in {".clr", *TABLES}:
        raise InputError("CEL-R082.privatise", output=output, tables=", ".join(TABLES))
    outputs.check(inputs=(table, protocol), reports=output)
    values = column_values(table, column)
    client = declared.client(rng=source(seed))
    if output.suffix == ".clr":
        with (
            outputs.working(None) as progress,
            replacing(output, overwrite=outputs.overwrite) as draft,
            draft.open("wb") as file,
        ):
            for batch in client.batches(values, progress=progress):
                file.write(batch.to_bytes())
    else:
        write_table(client.privatise(values), output, overwrite=outputs.overwrite)
    size = -(-declared.report_bits // 8)
    outputs.show(
        lambda: {"output": str(output), "reports": len(values), "report_bytes": size, "seed": seed},
        None,
        say(
            "cli.collect.reports_bytes_each", number_of_values=len(values), size=size, output=output
        ),
        note=None if seed is None else say("cli.collect.simulation_made_seed_real"),
    )


def column_values(table: Path, column: str) -> Any:
    """A column as clients take it: an array of numbers, or a list of texts."""
    from celosia.core.messages import did_you_mean
    from celosia.frames import read

    frame = read(table)
    if column not in frame.columns:
        raise InputError(
            "CEL-R082.values", table=table, column=column, hint=did_you_mean(column, frame.columns)
        )
    found = frame[column]
    if found.null_count():
        raise InputError("CEL-R082.values_2", column=column, null_count=found.null_count())
    return found.to_numpy() if found.dtype.is_numeric() else found.cast(str).to_list()
