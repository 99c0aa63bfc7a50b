"""Protocols by name, and the protocol file: what devices and their server share.

A protocol file is TOML: the protocol (`method`), its epsilon, the key of the collection, and what
else the protocol wants; where that is a protocol itself, it is a table. Fractions that no decimal
can tell are written as texts ("1/3"). The fingerprint may stand there for devices that are not
written in Python; it is then compared.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from celosia.collect.protocol import Protocol
from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.lazy_imports import ClassesByName
from celosia.core.messages import Message
from celosia.core.methods import method_from_dict, parameters, plain, unknown_method

PROTOCOLS: Mapping[str, type[Protocol]] = ClassesByName(
    "celosia.collect",
    {
        "cms": "count_mean.count_mean.CountMean",
        "hcms": "count_mean.hadamard_count_mean.HadamardCountMean",
        "sfp": "fragments.fragment_puzzle.FragmentPuzzle",
        "rappor": "rappor.rappor.Rappor",
        "dbitflip": "numbers.dbitflip.DBitFlip",
        "one-bit-mean": "numbers.one_bit_mean.OneBitMean",
        "grr": "oracles.kary_response.KaryResponse",
        "oue": "oracles.unary.OptimisedUnary",
        "sue": "oracles.unary.SymmetricUnary",
        "olh": "oracles.local_hashing.LocalHashing",
        "hr": "oracles.hadamard_response.HadamardResponse",
        "ss": "oracles.subset_selection.SubsetSelection",
        "pgr": "oracles.projective_geometry.ProjectiveGeometry",
        "pem": "discovery.heavy_hitters.PrefixTree",
        "rappor-words": "rappor.words.RapporWords",
        "cardinality": "discovery.cardinality.PrivateCardinality",
    },
)
"""The protocols by their names."""
LARGEST_FILE = 64 * 2**20
"""Bytes of a protocol file; the domain of a protocol may be a long list."""


def protocol_class(name: str) -> type[Protocol]:
    """The class of a protocol.

    Raises:
        InputError: CEL-I061 there is no protocol of this name.
    """
    if not isinstance(name, str) or name not in PROTOCOLS:
        raise unknown_method(PROTOCOLS, name, "protocol")
    return PROTOCOLS[name]


def protocol_from(description: Mapping[str, Any]) -> Protocol:
    """The protocol that a file, `parameters_of` or `as_dict` describes.

    >>> protocol_from({"method": "hcms", "epsilon": "1/3", "hashes": 64}).as_dict()
    {'method': 'hcms', 'epsilon': '1/3', 'hashes': 64}

    Raises:
        InputError: CEL-R073 the fingerprint is that of another protocol; or as
            `core.methods.method_from_dict` says; or what the protocol itself refuses.
    """
    given = {name: value for name, value in description.items() if name != "fingerprint"}
    made = method_from_dict(PROTOCOLS, given, what="protocol")
    expected = description.get("fingerprint")
    if expected is not None and expected != made.fingerprint.hex():
        raise InputError("CEL-R073")
    return made


def load_protocol(path: str | Path) -> Protocol:
    """The protocol that a file declares.

    Raises:
        InputError: CEL-R071 the file cannot be read, or is no TOML; or as `protocol_from`.
    """
    return protocol_from(read_declaration(path))


def read_declaration(path: str | Path) -> dict[str, Any]:
    """What a TOML file says.

    Raises:
        InputError: CEL-R071 the file cannot be read, or is no TOML.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise _unreadable(path, Message("collect.reason.too_large"))
        return tomllib.loads(data.decode("utf-8"))
    except OSError as error:
        raise _unreadable(path, reason_of(error)) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        is_toml = isinstance(error, tomllib.TOMLDecodeError)
        fault = str(error) if is_toml else Message("collect.reason.no_text")
        raise _unreadable(path, Message("collect.reason.not_toml", fault=fault)) from None


def parameters_of(protocol: Protocol) -> dict[str, Any]:
    """All that a protocol file says, as plain values for JSON; `protocol_from` reads it again."""
    if any(isinstance(each, bytes) for each in getattr(protocol, "domain", ())):
        raise InputError("CEL-R072")
    return described(protocol) | {"fingerprint": protocol.fingerprint.hex()}


def protocol_text(protocol: Protocol) -> str:
    """The protocol file of a protocol; reading it gives the same fingerprint."""
    lines = [
        "# What devices and their server share. Other parameters make another collection.",
        *(f"{name} = {_written(value)}" for name, value in parameters_of(protocol).items()),
    ]
    return "\n".join(lines) + "\n"


def save_protocol(protocol: Protocol, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the protocol file of a protocol, whole or not at all."""
    with replacing(Path(path), overwrite=overwrite) as draft:
        draft.write_text(protocol_text(protocol), "utf-8")


def described(protocol: Protocol) -> dict[str, Any]:
    """The name and all parameters, defaults too: not every device knows our defaults."""
    given = {each.name: getattr(protocol, each.name) for each in parameters(type(protocol))}
    return {"method": protocol.method_name} | {
        name: described(each) if isinstance(each, Protocol) else plain(each)
        for name, each in given.items()
    }


def _written(value: Any) -> str:
    """A plain value in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, dict):
        parts = [f"{name} = {_written(each)}" for name, each in value.items()]
        return f"{{ {', '.join(parts)} }}"
    return _quote(value) if isinstance(value, str) else repr(value)


def _quote(text: str) -> str:
    # A JSON string is a TOML one, but for U+007F, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def reason_of(error: OSError) -> str:
    """Why a file cannot be opened, in the words of the operating system."""
    return error.strerror.lower() if error.strerror else Message("collect.reason.not_opened")


def _unreadable(path: str | Path, reason: str) -> InputError:
    return InputError("CEL-R071", path=str(path), reason=reason)
