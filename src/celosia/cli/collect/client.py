"""`celosia collect client` and `conformance`: what devices run, and what checks it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from celosia.cli.collect.shared import ProtocolFile
from celosia.cli.frame import FileOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say


def client(
    protocol: ProtocolFile,
    outputs: FileOutputs,
    output: Annotated[
        Path, "--output -o", "The client: .py, .mjs or .js; .json for the parameters alone."
    ],
) -> None:
    """Write a client that devices run: one file without dependencies, with the public parameters.

    With a JavaScript client its types are written too, for TypeScript.

    **Examples**

    `celosia collect client emoji.toml -o emoji.mjs`  (browsers and Node)

    `celosia collect client emoji.toml -o emoji.py`

    `celosia collect client emoji.toml -o emoji.json`  (for a client in another language)
    """
    from celosia.collect.clients.files import ENDINGS, client_text, types_text
    from celosia.collect.registry import load_protocol

    if output.suffix not in ENDINGS:
        raise InputError("CEL-R082.client", output=output, endings=", ".join(ENDINGS))
    types = {".mjs": ".d.mts", ".js": ".d.ts"}.get(output.suffix)
    types_file = output.with_suffix(types) if types else None
    outputs.check(inputs=(protocol,), client=output, types=types_file)
    declared = load_protocol(protocol)
    text = client_text(declared, output.suffix)
    outputs.write_text(output, lambda: text)
    outputs.write_text(types_file, types_text)
    size = len(text.encode())
    outputs.show(
        lambda: {
            "output": str(output),
            "types": str(types_file) if types_file else None,
            "protocol": declared.method_name,
            "fingerprint": declared.fingerprint.hex(),
            "bytes": size,
        },
        None,
        say("cli.collect.client_written", output=output, name=declared.method_name),
    )


def conformance(
    outputs: FileOutputs,
    output: Annotated[Path, "--output -o", "The file (JSON)."],
) -> None:
    """Write the conformance file, with which a client in any language is checked byte by byte.

    **Examples**

    `celosia collect conformance -o conformance.json`
    """
    import json

    from celosia.collect.clients.files import CONFORMANCE, shipped

    outputs.check(conformance=output)
    text = shipped(CONFORMANCE)
    outputs.write_text(output, lambda: text)
    listed = json.loads(text)["protocols"]
    vectors = sum(len(each["vectors"]) for each in listed)
    outputs.show(
        lambda: {"output": str(output), "protocols": len(listed), "vectors": vectors},
        None,
        say("cli.collect.conformance_written", output=output, vectors=vectors),
    )
