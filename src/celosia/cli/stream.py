"""`celosia stream`: mask records as they arrive."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

from celosia.cli import console, options
from celosia.cli.frame import JsonOutputs
from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.tables.masking.stream import StreamSummary

PIPE = "-"
"""The name of the standard input."""


def stream(
    outputs: JsonOutputs,
    table: Annotated[str, "argument TABLE", "A CSV file with a header, or - for a pipe."],
    recipe: Annotated[
        Path, "--recipe -r", "The recipe: roles, and steps that mask a row by itself (TOML)."
    ],
    reference: Annotated[
        Path, "FILE", "A table with the same columns: types, categories, deviations."
    ],
    state: Annotated[Path, "FILE", "What survives a restart; keep it secret."],
    output: Annotated[Path, "--output -o", "A CSV file; a restart continues it."],
    person: Annotated[str | None, "COLUMN", "Whose record it is."] = None,
    most: Annotated[int | None, "N", "Records of one person that are released in all."] = None,
    batch: Annotated[
        int | None, "N", "Records written together: 1 for a pipe, 1,000 for a file."
    ] = None,
    seed: options.Seed = None,
) -> None:
    """Mask records as they arrive; a restart goes on where it stopped.

    Noise, PRAM, rounding, coding and recoding can do so: they mask a row without the others. The
    same command continues after a Ctrl-C or a power cut: no record is half-written, none comes
    twice. The order of a stream cannot be shuffled. Where PRAM randomises every released column, a
    record has an epsilon, and a person with at most N records N times as much. A certificate
    lies beside the output.

    **Examples**

    `celosia stream rows.csv --recipe r.toml --reference known.csv --state s.stream -o masked.csv`

    `celosia stream - --recipe r.toml --reference known.csv --state s.stream -o masked.csv`
    """
    from celosia.tables.masking.recipe import Recipe, read_for_methods
    from celosia.tables.masking.stream import StreamOptions, mask_stream

    chosen = Recipe.load(recipe)
    is_pipe = table == PIPE
    asked = StreamOptions(
        person=person, most=most, batch=batch or (1 if is_pipe else 1000), seed=seed
    )
    steps = [step.method for step in chosen.steps]
    known = read_for_methods(reference, steps, types=chosen.schema.types())
    with outputs.working(None) as progress, _lines(table) as lines:
        found = mask_stream(
            lines,
            output,
            chosen,
            reference=known,
            state=state,
            options=asked,
            is_repeated=not is_pipe,
            progress=progress,
        )
    outputs.show(found.as_dict, lambda: _show(found), found)


@contextmanager
def _lines(table: str) -> Iterator[IO[str]]:
    if table == PIPE:
        yield sys.stdin
        return
    if not Path(table).is_file():
        raise InputError("CEL-V345.file", path=table)
    with Path(table).open(encoding="utf-8-sig", newline="") as file:
        yield file


def _show(found: StreamSummary) -> None:
    console.show_guarantee(found.guarantee)
    for gap in found.guarantee.leaves_open:
        console.note(gap)
