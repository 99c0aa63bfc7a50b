"""Client files, ready to be shipped: the client of a language with the parameters of a protocol."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from celosia.collect.clients.parameters import client_parameters
from celosia.collect.protocol import Protocol

CONFORMANCE = "conformance.json"
JAVASCRIPT = "celosia_client.mjs"
TYPES = "celosia_client.d.ts"


def client_text(protocol: Protocol, ending: str) -> str:
    """The client file of a protocol: one of `ENDINGS` says in which language.

    >>> from celosia.collect import HadamardCountMean
    >>> text = client_text(HadamardCountMean(epsilon=2, key="emoji"), ".mjs")
    >>> text.splitlines()[-1]
    'export const client = (options) => new Client(parameters, options);'
    """
    return ENDINGS[ending](client_parameters(protocol))


def shipped(name: str) -> str:
    """The text of a file that comes with the clients."""
    return files("celosia.collect.clients").joinpath(name).read_text("utf-8")


def _json(parameters: dict[str, Any]) -> str:
    return json.dumps(parameters, ensure_ascii=False, indent=2) + "\n"


def _python(parameters: dict[str, Any]) -> str:
    return f'''{shipped("celosia_client.py")}

PARAMETERS: Plain = {parameters!r}


def client(*, memory: Memory | None = None) -> Client:
    """The client of this collection."""
    return Client(PARAMETERS, memory=memory)
'''


def _javascript(parameters: dict[str, Any]) -> str:
    return f"""{shipped(JAVASCRIPT)}
export const parameters = {json.dumps(parameters)};
export const client = (options) => new Client(parameters, options);
"""


def types_text() -> str:
    """The types of a JavaScript client file, for TypeScript."""
    return f"""{shipped(TYPES)}
export const parameters: Parameters;
export function client(options?: {{ memory?: Memory | null; raw?: Raw }}): Client;
"""


ENDINGS: Mapping[str, Callable[[dict[str, Any]], str]] = {
    ".json": _json,
    ".py": _python,
    ".mjs": _javascript,
    ".js": _javascript,
}
