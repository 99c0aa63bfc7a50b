"""Records that arrive one after the other, masked by the recipe of a work; no toolkit."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from celosia.core.errors import InputError
from celosia.core.progress import Progress, silent
from celosia.studio.mask import model
from celosia.studio.release_facts import guarantee_facts

OUTPUT, STATE, CERTIFICATE = "stream.csv", "stream.state", "stream.csv.cert.json"
ARRIVING = 20
"""Records of the table that arrive together, to try it."""
MOST_SHOWN = 20
"""Released records that are shown, the last ones."""
MOST_TEXT = 1_000_000
"""Letters that may arrive at once."""


def arriving(folder: Path, first: int) -> str:
    """The next records of the table as CSV, as if they arrived now; from its beginning again."""
    frame = pl.read_parquet(folder / "data.parquet")
    at = first % max(frame.height, 1)
    return frame.slice(at, ARRIVING).write_csv()


def stream_steps(columns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Steps that mask a record by itself: PRAM of categories, noise on numbers.

    >>> stream_steps([{"name": "age", "numeric": True, "role": "quasi-identifier"}])
    [{'method': 'noise', 'columns': ['age'], 'parameters': {'amount': 0.1}}]
    """
    free = [each for each in columns if each["role"] != "identifier"]
    words = [each["name"] for each in free if not each["numeric"]]
    numbers = [each["name"] for each in free if each["numeric"]]
    found = [model.new_step("pram", columns) | {"columns": words}] if words else []
    noise = model.new_step("noise", columns) | {"columns": numbers}
    return [*found, *([noise] if numbers else [])]


def mask_arrived(
    folder: Path,
    columns: Sequence[Mapping[str, Any]],
    steps: Sequence[Mapping[str, Any]],
    text: str,
    *,
    person: str | None = None,
    most: int | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Mask the records that arrived, and append them to what was released before.

    Args:
        folder: of the work; its table is the reference, the state lies beside it.
        columns: the columns with their roles.
        steps: the recipe.
        text: the records as CSV, with a header.
        person: the column that says whose record it is.
        most: records of one person that are released in all.
        seed: makes it a simulation.
        progress: may raise `Cancelled`.

    Raises:
        InputError: CEL-W110 too much at once; CEL-V207 a method needs all rows; CEL-V345 records
            or the state do not fit the recipe.
    """
    from celosia.tables.masking import Recipe
    from celosia.tables.masking.stream import StreamOptions, mask_stream

    if len(text) > MOST_TEXT:
        raise InputError("CEL-W110", most=MOST_TEXT)
    model.check(columns, steps)
    recipe = Recipe.from_table(model.recipe_table(columns, steps))
    found = mask_stream(
        io.StringIO(text),
        folder / OUTPUT,
        recipe,
        reference=pl.read_parquet(folder / "data.parquet"),
        state=folder / STATE,
        options=StreamOptions(person=person, most=most, seed=seed),
        is_repeated=False,
        progress=progress,
    )
    heads, rows = _last_rows(folder / OUTPUT)
    return found.as_dict() | guarantee_facts(found.guarantee) | {"heads": heads, "rows": rows}


def begin_anew(folder: Path) -> None:
    """Forget the state and what was released: another stream begins."""
    for path in folder.glob("stream.*"):
        path.unlink()


def _last_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        heads = next(reader, [])
        rows: list[list[str]] = []
        while batch := list(islice(reader, 1000)):
            rows = [*rows, *batch][-MOST_SHOWN:]
    return heads, rows


def command(*, person: str | None, most: int | None, seed: int | None) -> str:
    """The same for a stream without an end."""
    limit = "" if person is None else f" --person {person} --most {most}"
    seeded = "" if seed is None else f" --seed {seed}"
    return (
        "celosia stream - --recipe recipe.toml --reference data.parquet "
        f"--state {STATE} -o {OUTPUT}{limit}{seeded}"
    )
