"""`celosia collect estimate`: how common candidates are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli import console, options
from celosia.cli.collect.shared import Folder, ProtocolFile
from celosia.core.errors import InputError

SHOWN = 30
"""Rows on the screen; a file gets all of them."""


def estimate(
    protocol: ProtocolFile,
    folder: Folder,
    candidate: Annotated[
        list[str] | None, typer.Option(metavar="VALUE", help="A value asked about; repeat it.")
    ] = None,
    candidates: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A text file, one value in each line.")
    ] = None,
    post: Annotated[
        str,
        typer.Option(help="raw, clip, or norm-sub where the candidates are all values there are."),
    ] = "raw",
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="The candidates are whole numbers, not texts.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write all estimates to a CSV file.")
    ] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Estimate how many devices have each candidate, with errors and intervals.

    The candidates are a public list: it must not be made of the values on the devices.

    **Examples**

    `celosia collect estimate emoji.toml --folder state --candidate smile --candidate cry`

    `celosia collect estimate emoji.toml --folder state --candidates emoji.txt --post norm-sub`
    """
    from celosia.core.files import replacing
    from celosia.telemetry.collector import Collector
    from celosia.telemetry.registry import load_protocol

    options.check_places({"the estimates": output}, inputs=[protocol, candidates], overwrite=force)
    asked = _asked(candidate or [], candidates, numbers=numbers)
    with Collector.open(folder, load_protocol(protocol), make=False) as collector:
        found = collector.estimate(asked, post=post)
    frame = found.frame(confidence)
    if output is not None:
        with replacing(output, overwrite=force) as draft:
            frame.write_csv(draft)
    if as_json:
        console.show_json(found.as_dict(confidence))
        return
    console.show_table(
        "Estimates",
        ["value", "count", "share", "error", f"{confidence:.0%} from", "to"],
        [
            [value, f"{count:,.0f}", f"{share:.2%}", f"{error:,.0f}", f"{low:,.0f}", f"{high:,.0f}"]
            for value, count, share, error, low, high in frame.head(SHOWN).iter_rows()
        ],
    )
    if output is not None:
        console.show(f"all of them: {output}")
    elif frame.height > SHOWN:
        console.note(f"{frame.height - SHOWN:,} more; give -o FILE for all of them.")
    console.show(str(found), strong=True)


def _asked(given: list[str], path: Path | None, *, numbers: bool) -> list[str | int]:
    listed = list(given)
    if path is not None:
        try:
            listed += path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise InputError(
                "CEL-R082",
                f"the candidates in {path} cannot be read.",
                fix="Give a text file (UTF-8) with one value in each line.",
                path=str(path),
            ) from None
    try:
        asked: list[str | int] = [int(each) for each in listed] if numbers else [*listed]
    except ValueError:
        asked = []
    if not asked:
        raise InputError(
            "CEL-R082",
            "there are no candidates, or with --numbers some that are no whole numbers.",
            why="Reports do not name values: one can only ask how common a known value is.",
            fix="Give --candidate VALUE, or --candidates FILE.",
        )
    return asked
