"""`celosia demo`: the main job from end to end on generated data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console
from celosia.cli.frame import FileOutputs, check_outputs, show_warnings
from celosia.cli.publish import show_release
from celosia.core.messages import say

if TYPE_CHECKING:
    import polars as pl

    from celosia.tables import TableRelease

FOLDER = Path("celosia-demo")
"""Ours by its name: the demo may replace what it wrote there before."""

EXAMPLES = 2
"""Records shown of each table."""


def demo(
    outputs: FileOutputs,
    folder: Annotated[Path, "Output folder."] = FOLDER,
    k: Annotated[
        int, "--k", "k-anonymity: every record is one of at least K with equal quasi-identifiers."
    ] = 5,
) -> None:
    """Generate a census of invented people, publish it with k-anonymity, and write a report.

    **Example**

    `celosia demo --folder my-demo --k 10`
    """
    from celosia import KAnonymity, datasets, tables
    from celosia.core.files import replacing
    from celosia.frames import write

    model = KAnonymity(k)
    folder.mkdir(parents=True, exist_ok=True)
    names = ("census.csv", "census.toml", "safe.csv", "safe.csv.cert.json", "report.html")
    outputs = replace(outputs, overwrite=outputs.overwrite or folder == FOLDER)
    check_outputs({name: folder / name for name in names}, overwrite=outputs.overwrite)
    if not outputs.as_json:
        console.show(say("cli.demo.census_invented_people_distributed"))
    with outputs.working(None) as progress:
        census = datasets.census()
        release = tables.publish(
            census, datasets.census_schema(), model, suppression=0.05, progress=progress
        )
    with replacing(folder / "census.csv") as draft:
        write(census, draft)
    with replacing(folder / "census.toml") as draft:
        draft.write_text(datasets.schema_text(), "utf-8")
    release.save(folder / "safe.csv")
    release.report(folder / "report.html")
    shown = dict(zip(("release", "certificate", "report"), names[2:], strict=True))

    def lines() -> None:
        _show_records(census, release)
        show_release(release)
        show_warnings(release)
        console.show_files({name: folder / file for name, file in shown.items()})

    outputs.show(release.certificate, lines, release)
    if outputs.as_json:
        return
    console.note(
        say(
            "cli.demo.do_yourself_celosia_publish",
            table=quote(f"{folder}/census.csv"),
            schema=quote(f"{folder}/census.toml"),
            k=k,
        )
    )


def _show_records(census: pl.DataFrame, release: TableRelease) -> None:
    before, after = (table.head(EXAMPLES).rows() for table in (census, release.data))
    console.show_table(
        say("cli.demo.some_records_before_others"),
        [
            say("cli.column.column"),
            *[say("cli.column.before")] * EXAMPLES,
            *[say("cli.column.after")] * EXAMPLES,
        ],
        [
            [name, *(str(row[number]) for row in (*before, *after))]
            for number, name in enumerate(census.columns)
        ],
        numbers=False,
    )
