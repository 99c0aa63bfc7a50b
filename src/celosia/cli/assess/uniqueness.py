"""`celosia assess uniqueness`: how many people are unique in the population."""

from __future__ import annotations

from typing import Annotated

from celosia.cli import console, options
from celosia.cli.frame import JsonOutputs
from celosia.core.messages import say


def uniqueness(
    table: options.Input,
    keys: options.KeyOptions,
    reading: options.Reading,
    outputs: JsonOutputs,
    sampling_fraction: Annotated[
        float, "Share of the population that is in the table, such as 0.1."
    ],
) -> None:
    """Estimate how many people of the population are unique, from a sample of it.

    **Examples**

    `celosia assess uniqueness people.csv --schema people.toml --sampling-fraction 0.1`

    `celosia assess uniqueness people.csv -q age -q zip --sampling-fraction 0.02 --json`
    """
    from celosia.assess.risk import population_uniques
    from celosia.assess.risk.profile import count_classes

    names = keys.names()
    with outputs.working(None) as progress:
        classes = count_classes(reading.read_chunks(table, progress), names)
        found = population_uniques(classes.sizes, sampling_fraction)
    outputs.show(
        found.as_dict,
        lambda: console.show_table(
            say("cli.assess.people_who_unique_population"),
            console.columns("model", "people:,.0f"),
            [
                [name, say("cli.assess.no_fit") if people is None else people]
                for name, people in found.estimates.items()
            ],
        ),
        found,
    )
