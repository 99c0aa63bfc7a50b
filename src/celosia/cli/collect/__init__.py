"""`celosia collect`: reports that are private before they leave the device.

Each module has one command; a new one is registered with one line below.
"""

from __future__ import annotations

import typer

from celosia.cli.collect import (
    absorb,
    choose,
    client,
    estimate,
    merge,
    privatise,
    rappor,
    secure,
    serve,
    shuffle,
    simulate,
    sweep,
)
from celosia.cli.frame import add_commands

app = typer.Typer(
    no_args_is_help=True,
    help="""Collect statistics from devices with local differential privacy.

    Devices and the server share a protocol file (TOML).

    **Examples**

    `celosia collect choose --users 1e6 --domain 1000 --epsilon 2 --bytes 8`

    `celosia collect simulate --data exponential:50000 --protocol hcms --epsilon 4`

    `celosia collect sweep --protocol cms --epsilon 1,2,4 --vary hashes=16,1024 --report sweep.html`

    `celosia collect privatise emoji.toml today.csv --column emoji -o reports.clr`

    `celosia collect client emoji.toml -o emoji.mjs`

    `celosia collect serve emoji.toml --folder state`

    `celosia collect shuffle emoji.toml --folder pool --to https://collector.example`

    `celosia collect guarantee emoji.toml --reports 100000`

    `celosia collect aggregator votes.toml --as helper --folder helper --verify-key both.key
    --peer-token peer.token --collector-token collector.token`

    `celosia collect absorb emoji.toml reports.clr --folder state`

    `celosia collect estimate emoji.toml --folder state --candidate smile --candidate cry`

    `celosia collect estimate words.toml --folder state`
    """,
)
add_commands(
    app,
    choose.choose,
    simulate.simulate,
    sweep.sweep,
    privatise.privatise,
    client.client,
    client.conformance,
    serve.serve,
    shuffle.shuffle,
    shuffle.guarantee,
    absorb.absorb,
    merge.merge,
    estimate.estimate,
    rappor.rappor,
    secure.share,
    secure.verify,
    secure.aggregate,
    secure.combine,
    secure.upload,
    secure.aggregator,
)

__all__ = ["app"]
