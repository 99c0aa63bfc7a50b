"""`celosia verify`: check a release against its certificate and its signature."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console
from celosia.cli.frame import JsonOutputs
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.core.signatures import Verification


def verify(
    data: Annotated[Path, "argument", "A released file, with its certificate beside it."],
    outputs: JsonOutputs,
    key: Annotated[
        Path | None, "--key FILE", "The public key of the house; without it any signer is shown."
    ] = None,
) -> None:
    """Check that a release is what its certificate says, and who signed the certificate.

    The exit code is 1 if the data was changed, the signature does not fit, or another key made it.

    **Examples**

    `celosia verify safe.csv --key house.key.pub`
    """
    from celosia.core import signatures

    found = signatures.verify(data, key)
    outputs.show(found.as_dict, lambda: _show(found))


def _show(found: Verification) -> None:
    console.show(say("cli.verify.data", promise=found.promise, created=found.created))
    if found.signed_by is None:
        console.show(say("cli.verify.unsigned"))
    elif found.is_known_key:
        console.show(say("cli.verify.signed", fingerprint=found.signed_by))
    else:
        console.show(say("cli.verify.unknown", fingerprint=found.signed_by))
