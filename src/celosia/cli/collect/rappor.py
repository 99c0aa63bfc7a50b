"""`celosia collect rappor`: decode files of Google's RAPPOR."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from celosia.cli.collect.estimate import show_estimates
from celosia.cli.frame import FileOutputs


def rappor(
    outputs: FileOutputs,
    params: Annotated[Path, "argument PARAMS", "The parameters (CSV)."],
    counts: Annotated[Path, "argument COUNTS", "The counts of bits (CSV)."],
    candidates: Annotated[Path, "argument MAP", "The map of candidates (CSV)."],
    significance: Annotated[float, "The chance of a false discovery."] = 0.05,
    output: Annotated[Path | None, "--output -o", "Write all that was found to a CSV file."] = None,
) -> None:
    """Find the common candidates in counts that were collected with Google's RAPPOR.

    The three files are those of its tools: params.csv (k, h, m, p, q, f), counts.csv and map.csv.

    **Examples**

    `celosia collect rappor params.csv counts.csv map.csv`
    """
    from celosia.collect.rappor.google import decode_google_rappor
    from celosia.core.files import replacing

    outputs.check(inputs=(params, counts, candidates), estimates=output)
    with outputs.working(None) as progress:
        found = decode_google_rappor(
            params, counts, candidates, confidence=1 - significance, progress=progress
        )
    if output is not None:
        with replacing(output, overwrite=outputs.overwrite) as draft:
            found.kept.frame(0.95).write_csv(draft)
    outputs.show(found.as_dict, lambda: show_estimates(found.kept, 0.95, output), found)
