"""`celosia assess linkage`: link the records of a masked table back to the original."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console, options
from celosia.cli.assess import comparison_options
from celosia.core.messages import Message, say

if TYPE_CHECKING:
    from celosia.assess.accounts import MaskedAccount

EXAMPLES = """**Examples**

`celosia assess linkage people.csv masked.csv --column income --column age`

`celosia assess linkage people.csv masked.csv --identifier person --sensitive disease --json`

`celosia assess linkage people.csv masked.csv -c income -c age --nominal zip --json`

`celosia assess linkage people.csv masked.csv --regression 'income ~ age + sex'`
"""


def linkage(
    original: Annotated[Path, typer.Argument(help="The table before it was masked.")],
    masked: Annotated[Path, typer.Argument(help="The table as it was masked.")],
    columns: comparison_options.ComparedColumns = None,
    nominal: comparison_options.NominalColumns = None,
    sensitive: comparison_options.SensitiveColumns = None,
    regression: comparison_options.Regressions = None,
    identifier: Annotated[
        str | None,
        typer.Option(
            "--identifier",
            metavar="COLUMN",
            help="Column that aligns the rows. Default: both files have the same order.",
        ),
    ] = None,
    width: Annotated[
        float, typer.Option(help="Width of the interval around a masked value, as a share.")
    ] = 0.05,
    report: Annotated[
        Path | None, typer.Option(help="Write a report (HTML); do not publish it.")
    ] = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Link the records of a masked table back to the original, and measure its utility.

    An attacker who has the original links by distance, by rank and by how columns agree. Rows of
    both files are in the same order, or are aligned by an identifier that both hold. An empty cell
    is left out of a comparison. Reading options apply to both files.
    """
    from celosia.assess.account_report import PRIVATE, masked_document
    from celosia.assess.accounts import masked_account
    from celosia.assess.linkage import rows_by
    from celosia.core.progress import Step
    from celosia.frames import read

    options.check_outputs({"report": report}, inputs=(original, masked), overwrite=overwrite)
    models = comparison_options.regressions(regression)
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    with console.progress_bar(quiet=as_json) as progress:
        progress(Step(Message("cli.step.reading_files"), 0))
        before, after = read(original, **reading), read(masked, **reading)
        rows = None if identifier is None else rows_by(before, after, identifier)
        if identifier is not None and not columns:
            columns = [name for name in before.columns if name in after.columns]
            columns.remove(identifier)
        found = masked_account(
            before,
            after,
            columns or None,
            rows=rows,
            nominal=nominal or (),
            sensitive=sensitive or (),
            regressions=models,
            width=width,
            progress=progress,
        )
    if report is not None:
        options.write_text(report, masked_document(found).html(), overwrite)
    if as_json:
        console.show_json(found.as_dict())
        return
    _show(found)
    if report is not None:
        console.show(say("cli.assess.report", report=report))
        console.note(PRIVATE)
    console.show(str(found), strong=True)


linkage.__doc__ = f"{linkage.__doc__}\n\n{EXAMPLES}"


def _show(found: MaskedAccount) -> None:
    rows = [
        [each.measure, f"{each.share:.2%}", f"{each.certain:,}", f"{each.tied:,}"]
        for each in (found.distance, found.rank)
    ]
    console.show_table(
        say("cli.assess.masked_records_linked_correctly", value=1 / found.originals),
        [
            say("cli.column.linkage"),
            say("cli.column.right"),
            say("cli.column.certain"),
            say("cli.column.tied"),
        ],
        rows,
    )
    if found.probabilistic is not None:
        console.show(str(found.probabilistic))
    if found.intervals is not None:
        console.show(str(found.intervals))
    for each in found.attributes:
        console.show(str(each))
    for model in found.utility.regressions:
        console.show(str(model))
    if found.utility.moments is not None:
        console.show(str(found.utility.moments))
