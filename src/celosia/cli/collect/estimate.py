"""`celosia collect estimate`: how common values are, or what else the reports tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console
from celosia.cli.collect.shared import Folder, ProtocolFile
from celosia.cli.frame import FileOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    import polars as pl

    from celosia.collect.estimates import Estimates, Summary

SHOWN = 30
"""Rows on the screen; a file gets all of them."""
USUAL_SIGNIFICANCE = 0.05


def estimate(
    protocol: ProtocolFile,
    folder: Folder,
    outputs: FileOutputs,
    candidate: Annotated[list[str] | None, "VALUE", "A value to estimate; may be repeated."] = None,
    candidates: Annotated[Path | None, "FILE", "A text file, one value in each line."] = None,
    post: Annotated[
        str, "raw, clip, or norm-sub where the candidates are all values there are."
    ] = "raw",
    decode: Annotated[
        bool, "--decode", "Only significant candidates; RAPPOR then takes long lists."
    ] = False,
    significance: Annotated[
        float | None, f"The chance of a false discovery; {USUAL_SIGNIFICANCE} by default."
    ] = None,
    confidence: Annotated[float, "The confidence of the intervals."] = 0.95,
    numbers: Annotated[bool, "--numbers", "The candidates are whole numbers, not texts."] = False,
    output: Annotated[Path | None, "--output -o", "Write all estimates to a CSV file."] = None,
) -> None:
    """Estimate how many devices have each candidate, with errors and intervals.

    The candidates are a public list: it must not be made of the values on the devices.

    Without candidates, the common values are found where the protocol can (sfp, pem, rappor-words);
    one-bit-mean tells the mean, and cardinality how many different values there are.

    **Examples**

    `celosia collect estimate emoji.toml --folder state --candidate smile --candidate cry`

    `celosia collect estimate emoji.toml --folder state --candidates emoji.txt --post norm-sub`

    `celosia collect estimate words.toml --folder state --significance 0.01 -o words.csv`

    `celosia collect estimate rappor.toml --folder state --candidates sites.txt --decode`
    """
    from celosia.collect.collector.collector import Collector
    from celosia.collect.registry import load_protocol
    from celosia.core.files import replacing

    outputs.check(inputs=(protocol, candidates), estimates=output)
    chosen = _candidates(candidate or [], candidates, numbers=numbers)
    finds = chosen is None or decode
    if finds and post != "raw":
        raise InputError("CEL-R106.post")
    if not finds and significance is not None:
        raise InputError("CEL-R106.significance")
    with (
        Collector.open(folder, load_protocol(protocol), make=False) as collector,
        outputs.working(None) as progress,
    ):
        found: Estimates | Summary | None = collector.summary() if chosen is None else None
        if found is not None and (decode or significance is not None):
            raise InputError("CEL-R106.decode")
        if chosen is not None and not decode:
            found = collector.estimate(chosen, post=post)
        elif found is None:
            level = USUAL_SIGNIFICANCE if significance is None else significance
            found = collector.find(chosen, significance=level, progress=progress)
    if output is not None:
        with replacing(output, overwrite=outputs.overwrite) as draft:
            _frame(found, confidence).write_csv(draft)
    outputs.show(
        lambda: found.as_dict(confidence), lambda: show_estimates(found, confidence, output), found
    )


def show_estimates(found: Estimates | Summary, confidence: float, output: Path | None) -> None:
    """Print estimates with their intervals, or another summary."""
    from celosia.collect.estimates import Estimates

    if not isinstance(found, Estimates):
        facts = found.as_dict(confidence)
        console.show_table(
            say("cli.collect.summary"),
            console.columns("figure", "value"),
            [[word, _format_fact(facts[word])] for word in facts],
        )
        return
    frame = found.frame(confidence)
    console.show_table(
        say("cli.collect.estimates"),
        [
            *console.columns("value", "count:,.0f", "share:.2%", "error:,.0f"),
            console.Column(say("cli.column.from", confidence=confidence), ",.0f"),
            *console.columns("to:,.0f"),
        ],
        frame.head(SHOWN).rows(),
    )
    if output is not None:
        console.show(say("cli.collect.all_them", output=output))
    elif frame.height > SHOWN:
        console.note(say("cli.collect.more_give_o_file", height=frame.height - SHOWN))


def _frame(found: Estimates | Summary, confidence: float) -> pl.DataFrame:
    """A row for each value, or one row of another summary."""
    import polars as pl

    from celosia.collect.estimates import Estimates

    if isinstance(found, Estimates):
        return found.frame(confidence)
    return pl.DataFrame([found.as_dict(confidence)])


def _format_fact(fact: float | None) -> str:
    if fact is None:
        return "unknown"
    return f"{fact:,}" if isinstance(fact, int) else f"{fact:,.4g}"


def _candidates(given: list[str], path: Path | None, *, numbers: bool) -> list[str | int] | None:
    """The candidates; None where none are given."""
    if not given and path is None and not numbers:
        return None
    listed = list(given)
    if path is not None:
        try:
            listed += path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise InputError("CEL-R082.no_candidates", path=str(path)) from None
    try:
        chosen: list[str | int] = [int(each) for each in listed] if numbers else [*listed]
    except ValueError:
        chosen = []
    if not chosen:
        raise InputError("CEL-R082.candidates")
    return chosen
