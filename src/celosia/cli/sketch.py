"""`celosia sketch`: summaries of a column that can be merged, also with those of DataSketches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console
from celosia.cli.collect.privatise import column_values
from celosia.cli.frame import FileOutputs, JsonOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.core.methods import unknown_method

if TYPE_CHECKING:
    from celosia.sketches import Sketch

app = typer.Typer(
    no_args_is_help=True,
    help="""Summarise columns by sketches, merge them, and exchange them with DataSketches.

    A sketch protects nothing: its cells can reveal values. Treat it as the data itself.

    **Examples**

    `celosia sketch build visits.csv --column user --kind theta -o monday.sketch`

    `celosia sketch build visits.csv --column user --kind theta --datasketches -o monday.bin`

    `celosia sketch merge monday.bin tuesday.bin --operation intersection -o both.bin`

    `celosia sketch show both.bin`
    """,
)

KINDS = ("hyperloglog", "theta", "count-min")
OPERATIONS = ("union", "intersection", "difference")
Files = Annotated[
    list[Path], "argument SKETCHES...", "Files of sketches, of Celosía or of DataSketches."
]
Output = Annotated[Path, "--output -o", "The file of the sketch."]
Seed = Annotated[int, "The seed of the hash functions of DataSketches."]


def build(
    outputs: FileOutputs,
    table: Annotated[Path, "argument TABLE", "The table (CSV, Parquet)."],
    column: Annotated[str, "--column -c", "The column to summarise."],
    output: Output,
    kind: Annotated[
        str, "hyperloglog and theta count different values; count-min counts each value."
    ] = "hyperloglog",
    error: Annotated[
        float, "The relative error that the size is for; count-min: as a share of the total."
    ] = 0.02,
    confidence: Annotated[float, "The confidence with which the error holds."] = 0.95,
    datasketches: Annotated[bool, "Hash and write as DataSketches does."] = False,
    seed: Seed = 9001,
) -> None:
    """Summarise a column of a table by a sketch.

    **Examples**

    `celosia sketch build visits.csv --column user -o users.sketch`

    `celosia sketch build visits.csv --column page --kind count-min --datasketches -o pages.bin`
    """
    from celosia import sketches

    if kind not in KINDS:
        raise unknown_method(dict.fromkeys(KINDS), kind, "sketch")
    outputs.check(inputs=(table,), sketch=output)
    ours: dict[str, Any] = {
        "hyperloglog": sketches.HyperLogLog,
        "theta": sketches.ThetaSketch,
        "count-min": sketches.CountMin,
    }
    theirs: dict[str, Any] = {
        "hyperloglog": sketches.DataSketchesHyperLogLog,
        "theta": sketches.DataSketchesTheta,
        "count-min": sketches.DataSketchesCountMin,
    }
    seeded = {"seed": seed} if datasketches and kind != "hyperloglog" else {}
    size = ours[kind].size_for(error=error, confidence=confidence)
    made: Sketch = (theirs if datasketches else ours)[kind](**size, **seeded)
    made.update(column_values(table, column))
    _save(made, output, outputs)


def merge(
    outputs: FileOutputs,
    files: Files,
    output: Output,
    operation: Annotated[str, "union; theta also intersection and difference."] = "union",
    seed: Seed = 9001,
) -> None:
    """Merge sketches of one kind; or intersect or subtract Theta sketches, from left to right.

    **Examples**

    `celosia sketch merge monday.bin tuesday.bin -o both-days.bin`

    `celosia sketch merge monday.bin tuesday.bin --operation difference -o only-monday.bin`
    """
    from celosia.sketches import ThetaSketch

    if operation not in OPERATIONS:
        raise unknown_method(dict.fromkeys(OPERATIONS), operation, "operation")
    outputs.check(inputs=files, sketch=output)
    found = [_read(path, seed) for path in files]
    sizes = [each.most for each in found if isinstance(each, ThetaSketch)]
    if len(set(sizes)) > 1:  # bytes of DataSketches do not tell how many hashes are kept at most
        found = [_read(path, seed, most=max(sizes)) for path in files]
    made = found[0]
    for each in found[1:]:
        if operation == "union":
            made = made.merge(each)
        elif isinstance(made, ThetaSketch) and isinstance(each, ThetaSketch):
            made = made & each if operation == "intersection" else made - each
        else:
            raise InputError("CEL-K011.operation", operation=operation)
    _save(made, output, outputs)


def show(
    outputs: JsonOutputs,
    files: Files,
    value: Annotated[
        list[str] | None, "--value VALUE", "For count-min: how often this value was seen."
    ] = None,
    seed: Seed = 9001,
) -> None:
    """Show what sketches are and what they estimate.

    **Examples**

    `celosia sketch show monday.bin`

    `celosia sketch show pages.bin --value home --value search`
    """
    from celosia.sketches import CountMin

    found = {str(path): _read(path, seed) for path in files}
    facts = {path: each.as_dict() for path, each in found.items()}
    counts: dict[str, dict[str, int]] = {}
    if value:
        for path, each in found.items():
            if not isinstance(each, CountMin):
                raise InputError("CEL-K011.value", path=path)
            counts[path] = dict(zip(value, each.estimate(value).tolist(), strict=True))
            facts[path]["counts"] = counts[path]

    def lines() -> None:
        for path, each in found.items():
            console.show(f"{path}: {each}")
            for text, count in counts.get(path, {}).items():
                console.show(f"  {text}: {console.number(count)}")

    outputs.show(lambda: {"sketches": facts}, lines)


def _read(path: Path, seed: int, most: int | None = None) -> Sketch:
    """A sketch of either form: those of Celosía begin with a mark of theirs."""
    from celosia.sketches import Sketch, read_datasketches
    from celosia.sketches.sketch import MARK

    try:
        data = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error.errno)).lower()
        raise InputError("CEL-K011.unreadable", path=str(path), reason=reason) from None
    try:
        if data.startswith(MARK):
            return Sketch.from_bytes(data)
        return read_datasketches(data, seed=seed, most=most)
    except InputError as error:  # which of several files it is
        reason = error.what.rstrip(".")
        raise InputError("CEL-K011.not_a_sketch", path=str(path), reason=reason) from None


def _save(made: Sketch, output: Path, outputs: FileOutputs) -> None:
    """Write a sketch in the form of its hash functions, and tell what it knows."""
    from celosia.core.files import replacing
    from celosia.sketches import is_of_datasketches, write_datasketches

    theirs = is_of_datasketches(made)
    with replacing(output, overwrite=outputs.overwrite) as draft:
        draft.write_bytes(write_datasketches(made) if theirs else made.to_bytes())
    outputs.show(
        lambda: made.as_dict() | {"output": str(output), "datasketches": theirs},
        None,
        f"{output}: {made}",
        note=say("cli.sketch.protects_nothing"),
    )


app.command("build")(build)
app.command("merge")(merge)
app.command("show")(show)
