"""`celosia trace trips`: synthetic trips from moves that devices reported."""

from __future__ import annotations

from typing import Annotated

import typer

from celosia.cli import console
from celosia.cli.collect.shared import Folder, ProtocolFile
from celosia.cli.frame import ReleaseOutputs
from celosia.cli.trace.input_options import DeclarationFile, Seed
from celosia.core.messages import say


def trips(
    protocol: ProtocolFile,
    folder: Folder,
    declare: DeclarationFile,
    outputs: ReleaseOutputs,
    trips: Annotated[int, typer.Option(min=1, help="How many trips to draw.")] = 1000,
    max_steps: Annotated[int, typer.Option(min=1, help="The longest trip in cells.")] = 12,
    step_minutes: Annotated[
        float, typer.Option(min=0.1, help="Minutes between two points of a trip.")
    ] = 10.0,
    seed: Seed = None,
) -> None:
    """Draw synthetic trips from moves that were collected with local differential privacy.

    Nothing but the reports and the declared region is read.

    **Examples**

    `celosia trace cells pings.csv -d trace.toml -e 2 --moves --protocol p.toml -o moves.csv`

    `celosia collect privatise p.toml moves.csv --column move -o reports.clr`

    `celosia collect absorb p.toml reports.clr --folder state`

    `celosia trace trips p.toml --folder state -d trace.toml --trips 2000 -o new.csv`
    """
    from celosia.collect.collector.collector import Collector
    from celosia.collect.registry import load_protocol
    from celosia.core.randomness import source
    from celosia.traces import Declaration, private

    outputs.check(inputs=(protocol, declare))
    shared, declared = load_protocol(protocol), Declaration.load(declare)
    names = private.transition_names(private.size_of_moves(shared))
    with outputs.working() as progress:
        with Collector.open(folder, shared, make=False) as collector:
            found = private.transitions_from(collector.estimate(names), shared)
        made = private.synthetic_from(
            found,
            declared,
            trips=trips,
            max_steps=max_steps,
            step_minutes=step_minutes,
            rng=source(seed),
            progress=progress,
        )
        outputs.save(made)
    outputs.finish(
        made,
        lambda: console.show(
            say("traces.cli.trips", trips=trips, reports=found.reports, error=found.error)
        ),
    )
