"""`celosia trace publish`: protect traces and write them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Literal

from celosia.cli import console
from celosia.cli.frame import ReleaseOutputs
from celosia.cli.trace.input_options import (
    Method,
    Seed,
    TraceFile,
    TraceInput,
    one_method,
)
from celosia.core.messages import say

Period = Literal["none", "trip", "day", "week", "whole"]
"""How long a pseudonym lasts."""


def publish(
    points: TraceFile,
    declared: TraceInput,
    outputs: ReleaseOutputs,
    glove: Annotated[
        int | None,
        "--glove K",
        "Glove: every published trace of boxes is shared by at least K persons.",
    ] = None,
    planar_laplace: Annotated[
        str | None,
        "--planar-laplace TIMESx@METRESm",
        "Geo-indistinguishability at a level, such as 4x@200m.",
    ] = None,
    repeat: Annotated[
        str | None, "With --planar-laplace: sticky (default), independent or predictive."
    ] = None,
    draws: Annotated[int | None, "With --planar-laplace: the most draws for one person."] = None,
    noise_key: Annotated[
        Path | None,
        "With --planar-laplace: a secret file, made if it is missing. A person's cell "
        "keeps its noise in all releases with the same file.",
    ] = None,
    method: Method = None,
    pseudonym: Annotated[
        Period | None, "How long a pseudonym lasts. Default: as the method needs it."
    ] = None,
    trim: Annotated[
        float, "Metres around the ends of each trip in which points are removed."
    ] = 0.0,
    key: Annotated[
        Path | None,
        "Write which person each trace is (CSV). Keep this file secret: it "
        "re-identifies every trace.",
    ] = None,
    no_assess: Annotated[bool, "--no-assess", "Do not attack or measure the release."] = False,
    seed: Seed = None,
) -> None:
    """Publish traces by one method, under random numbers in place of names.

    **Examples**

    `celosia trace publish pings.csv --declare trace.toml --glove 5 -o safe.csv --key key.csv`

    `celosia trace publish pings.csv --declare trace.toml --planar-laplace 4x@200m -o safe.csv`

    `celosia trace publish pings.csv -d trace.toml --planar-laplace 4x@200m --noise-key noise.key`

    `celosia trace publish pings.csv -d trace.toml --method generalisation:k=10 -o cells.csv`

    `celosia trace publish pings.csv -d trace.toml --method swap-locations:k=3 --pseudonym day`
    """
    from celosia.core.pseudonyms.keys import Key
    from celosia.core.randomness import source
    from celosia.traces import PublishOptions
    from celosia.traces import publish as run
    from celosia.traces.keys import write_key
    from celosia.traces.report import fact_rows, left_out_rows

    outputs.check(inputs=(points, declared.declare), key=key)
    noise = {
        "repeat": repeat,
        "draws": draws,
        "noise_key": None if noise_key is None else str(noise_key),
    }
    wanted = one_method(method, glove=glove, planar=planar_laplace, noise=noise)
    options = PublishOptions(pseudonym=pseudonym, trim=trim, assess=not no_assess)
    with outputs.working() as progress:
        traces = declared.read(points, progress)
        if noise_key is not None and not noise_key.exists():
            Key.new().save(noise_key)
        release = run(traces, wanted, options=options, rng=source(seed), progress=progress)
        with ExitStack() as files:  # the key takes its name only with the release
            if key is not None and release.samples is not None:
                files.enter_context(
                    write_key(release.samples, traces, key, overwrite=outputs.overwrite)
                )
            outputs.save(release)
    if key is not None:
        console.note(say("traces.cli.secret_key", key=key))

    def lines() -> None:
        rows = fact_rows(release.outcome.facts) + left_out_rows(release.left_out)
        console.show_table(
            say("traces.cli.done"), ["", say("cli.column.value")], [list(row) for row in rows]
        )
        if release.account.attacks:
            console.show_table(
                say("traces.report.risk"),
                [
                    say("cli.column.attack"),
                    say("traces.report.before"),
                    say("traces.report.after"),
                    say("traces.report.chance"),
                ],
                [
                    [
                        str(new.name),
                        console.number(old.share, ".1%"),
                        console.number(new.share, ".1%"),
                        console.number(new.chance, ".2%"),
                    ]
                    for old, new in zip(
                        release.account.before, release.account.attacks, strict=True
                    )
                ],
            )

    outputs.finish(release, lines, key=key)
