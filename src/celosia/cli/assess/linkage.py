"""`celosia assess linkage`: link the records of a masked table back to the original."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console, options
from celosia.cli.assess.comparison_options import ComparisonOptions, show_account, show_models
from celosia.cli.frame import PrivateReportOutputs
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.assess.accounts import MaskedAccount


def linkage(
    original: Annotated[Path, "argument", "The table before it was masked."],
    masked: Annotated[Path, "argument", "The table as it was masked."],
    compared: ComparisonOptions,
    reading: options.Reading,
    outputs: PrivateReportOutputs,
    identifier: Annotated[
        str | None,
        "--identifier COLUMN",
        "Column that aligns the rows. Default: both files have the same order.",
    ] = None,
    width: Annotated[float, "Width of the interval around a masked value, as a share."] = 0.05,
) -> None:
    """Link the records of a masked table back to the original, and measure its utility.

    An attacker who has the original links by distance, by rank and by how columns agree. Rows of
    both files are in the same order, or are aligned by an identifier that both hold. An empty cell
    is left out of a comparison. Reading options apply to both files.

    **Examples**

    `celosia assess linkage people.csv masked.csv --column income --column age`

    `celosia assess linkage people.csv masked.csv --identifier person --sensitive disease --json`

    `celosia assess linkage people.csv masked.csv -c income -c age --nominal zip --json`

    `celosia assess linkage people.csv masked.csv --regression 'income ~ age + sex'`
    """
    from celosia.assess.account_report import masked_document
    from celosia.assess.accounts import masked_account
    from celosia.assess.linkage import rows_by

    outputs.check(inputs=(original, masked))
    models = compared.models()
    with outputs.working("cli.step.reading_files") as progress:
        before, after = reading.read(original), reading.read(masked)
        rows = None if identifier is None else rows_by(before, after, identifier)
        columns = compared.columns
        if identifier is not None and not columns:
            columns = [name for name in before.columns if name in after.columns]
            columns.remove(identifier)
        found = masked_account(
            before,
            after,
            columns or None,
            rows=rows,
            nominal=compared.nominal or (),
            sensitive=compared.sensitive or (),
            regressions=models,
            width=width,
            progress=progress,
        )
    show_account(outputs, found, lambda: masked_document(found), lambda: _show(found))


def _show(found: MaskedAccount) -> None:
    console.show_table(
        say("cli.assess.masked_records_linked_correctly", value=1 / found.originals),
        console.columns("linkage", "right:.2%", "certain:,", "tied:,"),
        [
            [each.measure, each.share, each.certain, each.tied]
            for each in (found.distance, found.rank)
        ],
    )
    for line in (found.probabilistic, found.intervals, *found.attributes):
        if line is not None:
            console.show(str(line))
    show_models(found.utility)
