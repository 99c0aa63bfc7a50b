"""`celosia assess map`: the risk-utility map of many maskings of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from celosia.cli import console, options
from celosia.cli.frame import ReportOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.assess.risk_utility import LossName, RiskName
    from celosia.tables.masking import MaskingMethod


def map_maskings(
    table: options.Input,
    reading: options.Reading,
    outputs: ReportOutputs,
    columns: Annotated[list[str], "--column -c COLUMN", "Column to mask, and to link records by."],
    methods: Annotated[
        list[str] | None,
        "--method NAME:PARAMETER=VALUES",
        "Method to try (list: celosia mask --methods). Default: the usual ones for numbers.",
    ] = None,
    risk: Annotated[
        str, "Risk measure: distance, rank, interval, or highest (distance or rank)."
    ] = "distance",
    loss: Annotated[
        str, "Loss measure: il1s, squares, pmse, correlations or 'total variation'."
    ] = "il1s",
    plot: Annotated[Path | None, "Write the map (SVG)."] = None,
    seed: Annotated[int | None, "Seed for the random draws."] = None,
) -> None:
    """Mask columns by many methods, and show the risk and the information loss of each.

    Each masking is measured on up to 10,000 records. Nothing is released: choose a masking, and
    apply it with `celosia mask`.

    **Examples**

    `celosia assess map people.csv -c age -c income --plot map.svg --report map.html`

    `celosia assess map people.csv -c age -c income --method mdav:k=3,5 --method noise:amount=0.1`

    `celosia assess map people.csv -c age -c income --risk interval --loss pmse --json`
    """
    from celosia.assess.account_report import map_blocks
    from celosia.core.randomness import source
    from celosia.core.report import Document
    from celosia.tables import masking

    outputs.check(inputs=(table,), plot=plot)
    tried = None if not methods else _candidates(methods)
    with outputs.working() as progress:
        found = masking.map_methods(
            reading.read(table),
            columns,
            tried,
            risk=cast("RiskName", risk),
            loss=cast("LossName", loss),
            rng=source(seed),
            progress=progress,
        )
    outputs.write_text(plot, found.plot)
    outputs.write_report(
        lambda: Document(
            say("cli.assess.maskings_title"),
            say("cli.assess.maskings_columns", columns=columns),
            map_blocks(found),
        )
    )
    outputs.show(
        found.as_dict,
        lambda: console.show_table(
            say("cli.assess.every_masking_risk_loss", risk=risk, loss=loss),
            console.columns("masking", "risk:.2%", "loss:.4f", "best"),
            [
                [each.name, each.risk, each.loss, "*" if each.is_best else ""]
                for each in found.points
            ],
        ),
        found,
        plot=plot,
    )


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
