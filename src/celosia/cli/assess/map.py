"""`celosia assess map`: the risk-utility map of many maskings of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from celosia.cli import console, options
from celosia.core.errors import InputError
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.assess.risk_utility import LossName, RiskName
    from celosia.tables.masking import MaskingMethod

EXAMPLES = """**Examples**

`celosia assess map people.csv -c age -c income --plot map.svg --report map.html`

`celosia assess map people.csv -c age -c income --method mdav:k=3,5,10 --method noise:amount=0.1`

`celosia assess map people.csv -c age -c income --risk interval --loss pmse --json`
"""


def map_maskings(
    table: options.Input,
    columns: Annotated[
        list[str],
        typer.Option(
            "--column", "-c", metavar="COLUMN", help="Column to mask, and to link records by."
        ),
    ],
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="NAME:PARAMETER=VALUES",
            help="Method to try (list: celosia mask --methods). Default: the usual ones for "
            "numbers.",
        ),
    ] = None,
    risk: Annotated[
        str,
        typer.Option(help="Risk measure: distance, rank, interval, or highest (distance or rank)."),
    ] = "distance",
    loss: Annotated[
        str,
        typer.Option(help="Loss measure: il1s, squares, pmse, correlations or 'total variation'."),
    ] = "il1s",
    plot: Annotated[Path | None, typer.Option(help="Write the map (SVG).")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (one HTML file, opens offline).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed for the random draws.")] = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Mask columns by many methods, and show the risk and the information loss of each.

    Each masking is measured on up to 10,000 records. Nothing is released: choose a masking, and
    apply it with `celosia mask`.
    """
    from celosia.assess.account_report import map_blocks
    from celosia.core.progress import Step
    from celosia.core.randomness import source
    from celosia.core.report import Document
    from celosia.frames import read
    from celosia.tables import masking

    places = {"plot": plot, "report": report}
    options.check_outputs(places, inputs=(table,), overwrite=overwrite)
    tried = None if not methods else _candidates(methods)
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    with console.progress_bar(quiet=as_json) as progress:
        progress(Step(Message("cli.step.reading_file"), 0))
        found = masking.map_methods(
            read(table, **reading),
            columns,
            tried,
            risk=cast("RiskName", risk),
            loss=cast("LossName", loss),
            rng=source(seed),
            progress=progress,
        )
    if plot is not None:
        options.write_text(plot, str(found.plot()), overwrite)
    if report is not None:
        page = Document(
            say("cli.assess.maskings_title"),
            say("cli.assess.maskings_columns", columns=columns),
            map_blocks(found),
        )
        options.write_text(report, page.html(), overwrite)
    if as_json:
        console.show_json(found.as_dict())
        return
    console.show_table(
        say("cli.assess.every_masking_risk_loss", risk=risk, loss=loss),
        [
            say("cli.column.masking"),
            say("cli.column.risk"),
            say("cli.column.loss"),
            say("cli.column.best"),
        ],
        [
            [
                each.name,
                console.number(each.risk, ".2%"),
                console.number(each.loss, ".4f"),
                "*" if each.is_best else "",
            ]
            for each in found.points
        ],
    )
    for what, path in (("plot", plot), ("report", report)):
        if path is not None:
            console.show(f"{what}: {path}")
    console.show(str(found), strong=True)


map_maskings.__doc__ = f"{map_maskings.__doc__}\n\n{EXAMPLES}"


def _candidates(texts: list[str]) -> dict[str, MaskingMethod]:
    from celosia.tables.masking import variants

    found: dict[str, MaskingMethod] = {}
    for text in texts:
        name, _, rest = text.partition(":")
        parameters: dict[str, list[Any]] = {}
        for part in filter(None, rest.split(";")):
            key, equals, values = part.partition("=")
            if not (equals and key.strip() and values.strip()):
                raise InputError("CEL-V021", text=text)
            parameters[key.strip()] = [options.value(each) for each in values.split(",")]
        found |= variants(name.strip(), parameters)
    return found
