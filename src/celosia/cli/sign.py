"""`celosia sign`: sign the certificate of a release with the key of the house."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from celosia.cli import console
from celosia.cli.frame import JsonOutputs
from celosia.core.messages import say


def sign(
    outputs: JsonOutputs,
    data: Annotated[
        Path | None, "argument", "A released file, with its certificate beside it."
    ] = None,
    key: Annotated[Path, "--key FILE", "The private key of the house (PEM)."] = Path("house.key"),
    new_key: Annotated[bool, "--new-key", "Make the key first, and its public half beside it."] = (
        False
    ),
) -> None:
    """Sign the certificate of a release with the Ed25519 key of your house.

    **Examples**

    `celosia sign --new-key --key house.key`  (once; give house.key.pub to those who check)

    `celosia sign safe.csv --key house.key`
    """
    from celosia.core import signatures

    facts: dict[str, str] = {}
    if new_key:
        facts["fingerprint"] = signatures.make_key(key)
    if data is not None:
        facts["signature"] = str(signatures.sign(data, key))

    def lines() -> None:
        if new_key:
            console.show(say("cli.sign.made", path=key, fingerprint=facts["fingerprint"]))
        if data is not None:
            console.show(say("cli.sign.signed", path=facts["signature"]))

    outputs.show(lambda: facts, lines)
