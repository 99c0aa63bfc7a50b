"""`celosia assess uniqueness`: how many people are unique in the population."""

from __future__ import annotations

from typing import Annotated

import typer

from celosia.cli import console, options
from celosia.cli.assess.readers import report_progress
from celosia.core.messages import say

EXAMPLES = """**Examples**

`celosia assess uniqueness people.csv --schema people.toml --sampling-fraction 0.1`

`celosia assess uniqueness people.csv -q age -q zip --sampling-fraction 0.02 --json`
"""


def uniqueness(
    table: options.Input,
    sampling_fraction: Annotated[
        float, typer.Option(help="Share of the population that is in the table, such as 0.1.")
    ],
    schema: options.SchemaFile = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    as_json: options.AsJson = False,
) -> None:
    """Estimate how many people of the population are unique, from a sample of it."""
    from celosia.assess.risk import population_uniques
    from celosia.assess.risk.measure import count_classes
    from celosia.frames import read_chunks
    from celosia.tables import Role

    names = options.schema_from(schema, quasi_identifiers).named(Role.QUASI_IDENTIFIER)
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    with console.progress_bar(quiet=as_json) as progress:
        classes = count_classes(report_progress(read_chunks(table, **reading), progress), names)
        found = population_uniques(classes.sizes, sampling_fraction)
    if as_json:
        console.show_json(found.as_dict())
        return
    console.show_table(
        say("cli.assess.people_who_unique_population"),
        [say("cli.column.model"), say("cli.column.people")],
        [
            [name, say("cli.assess.no_fit") if people is None else console.number(people, ",.0f")]
            for name, people in found.estimates.items()
        ],
    )
    console.show(str(found), strong=True)


uniqueness.__doc__ = f"{uniqueness.__doc__}\n\n{EXAMPLES}"
