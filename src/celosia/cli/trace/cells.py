"""`celosia trace cells`: what devices report of positions, for `celosia collect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from celosia.cli import options
from celosia.cli.frame import FileOutputs
from celosia.cli.trace.input_options import Seed, TraceFile, TraceInput
from celosia.core.messages import say


def cells(
    points: TraceFile,
    declared: TraceInput,
    epsilon: options.Epsilon,
    outputs: FileOutputs,
    protocol: Annotated[Path, "File for the protocol that devices get (TOML)."],
    output: Annotated[
        Path, "--output -o", "File for one random cell or move of each person (CSV)."
    ],
    candidates: Annotated[
        Path | None,
        "File for the names of all cells or moves, which `celosia collect estimate` asks.",
    ] = None,
    size: Annotated[int, "Cells along a side of the region: at most 64, for moves 16."] = 8,
    moves: Annotated[
        bool, "--moves", "One random move between cells, start and end, instead."
    ] = False,
    max_steps: Annotated[int, "Of moves: the longest trip in cells."] = 12,
    seed: Seed = None,
) -> None:
    """Prepare positions for a collection with local differential privacy.

    The protocol is for devices and server. The cells are what devices would hold: not private yet,
    until `celosia collect privatise` makes reports of them.

    **Examples**

    `celosia trace cells pings.csv -d trace.toml -e 2 --protocol p.toml -o cells.csv`

    `celosia trace cells pings.csv -d trace.toml -e 2 --moves --protocol p.toml -o moves.csv`

    `celosia collect privatise p.toml cells.csv --column cell -o reports.clr`

    `celosia collect absorb p.toml reports.clr --folder state`

    `celosia collect estimate p.toml --folder state --candidates c.txt --post norm-sub`
    """
    import polars as pl

    from celosia.collect import save_protocol
    from celosia.core.files import replacing
    from celosia.core.randomness import source
    from celosia.traces.private import (
        cell_protocol,
        random_cells,
        random_transitions,
        transition_protocol,
    )

    outputs.check(
        inputs=(points, declared.declare), table=output, draft=protocol, candidates=candidates
    )
    with outputs.working() as progress:
        traces = declared.read(points, progress)
        rng = source(seed)
        if moves:
            shared = transition_protocol(epsilon=epsilon, size=size)
            held = random_transitions(traces, size=size, max_steps=max_steps, rng=rng)
        else:
            shared = cell_protocol(traces.plane, epsilon=epsilon, size=size)
            held = random_cells(traces, size=size, rng=rng)
        with replacing(output, overwrite=outputs.overwrite, secret=True) as draft:
            pl.DataFrame({"move" if moves else "cell": held}).write_csv(draft)
        if candidates is not None:
            with replacing(candidates, overwrite=outputs.overwrite) as draft:
                draft.write_text("".join(f"{name}\n" for name in shared.domain), "utf-8")
        save_protocol(shared, protocol, overwrite=outputs.overwrite)
    outputs.show(
        lambda: {"persons": len(held), "cells": size**2, "epsilon": epsilon},
        None,
        say("traces.cli.cells", persons=len(held), cells=size**2),
        table=output,
        draft=protocol,
        candidates=candidates,
    )
