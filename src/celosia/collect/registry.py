"""Protocols by name, and the protocol file: what devices and their server share.

A protocol file is TOML: the protocol, its epsilon, the key of the collection, and what else the
protocol wants; where that is a protocol itself, it is a table. Fractions that no decimal can tell
are written as texts ("1/3"). The fingerprint may stand there for devices that are not written in
Python; it is then compared.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

from celosia.collect.protocol import Protocol
from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.messages import Message
from celosia.core.numbers import exact, whole
from celosia.core.wording import did_you_mean

PROTOCOLS = {
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
}
"""Where the class of each protocol is, below `celosia.collect`; loaded when it is asked for."""

_FRACTION = re.compile(r"[0-9]{1,40}(/[0-9]{1,40})?|[0-9]{0,20}\.[0-9]{1,40}")
LARGEST_FILE = 64 * 2**20
"""Bytes of a protocol file; the domain of a protocol may be a long list."""


def protocol_class(name: str) -> type[Protocol]:
    """The class of a protocol.

    Raises:
        InputError: CEL-R070 there is no protocol of this name.
    """
    place = PROTOCOLS.get(name) if isinstance(name, str) else None
    if place is None:
        raise InputError(
            "CEL-R070",
            name=name,
            hint=did_you_mean(name, PROTOCOLS),
            protocols=", ".join(PROTOCOLS),
        )
    module, _, found = place.rpartition(".")
    kind: type[Protocol] = getattr(import_module(f"celosia.collect.{module}"), found)
    return kind


def protocol_from(parameters: Mapping[str, Any]) -> Protocol:
    """The protocol that `Protocol.parameters` has told, or that a person has written down.

    Raises:
        InputError: CEL-R070 no such protocol, CEL-R072 a parameter is missing, unknown or of
            another kind, CEL-R073 the fingerprint is that of another protocol; or what the
            protocol itself refuses.
    """
    return _create(parameters, inside=False)


def _create(parameters: Mapping[str, Any], *, inside: bool) -> Protocol:
    """As `protocol_from`; one that is a parameter itself (`inside`) has no such parameters."""
    kind = protocol_class(parameters.get("protocol", ""))
    known = {each.name: each for each in fields(kind) if each.init}
    given = {
        name: value for name, value in parameters.items() if name not in ("protocol", "fingerprint")
    }
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError("CEL-R072.unknown", protocol=kind.name, name=name, hint=hint)
    for name, each in known.items():
        if name not in given and each.default is MISSING and each.default_factory is MISSING:
            raise InputError("CEL-R072.missing", protocol=kind.name, name=name)
    values = {name: _read(value, known[name], inside=inside) for name, value in given.items()}
    try:
        made = kind(**values)
    except (TypeError, ValueError, OverflowError):  # a list where a number should be, and the like
        raise InputError("CEL-R072.other_kind", protocol=kind.name) from None
    expected = parameters.get("fingerprint")
    if expected is not None and expected != made.fingerprint.hex():
        raise InputError("CEL-R073")
    return made


def load_protocol(path: str | Path) -> Protocol:
    """The protocol that a file declares.

    Raises:
        InputError: CEL-R071 the file cannot be read, or is no TOML; or as `protocol_from`.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise _unreadable(path, Message("collect.reason.too_large"))
        return protocol_from(tomllib.loads(data.decode("utf-8")))
    except OSError as error:
        raise _unreadable(path, reason_of(error)) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        is_toml = isinstance(error, tomllib.TOMLDecodeError)
        fault = str(error) if is_toml else Message("collect.reason.no_text")
        raise _unreadable(path, Message("collect.reason.not_toml", fault=fault)) from None


def parameters_of(protocol: Protocol) -> dict[str, Any]:
    """All that a protocol file says, as plain values for JSON; `protocol_from` reads it again."""
    return _described(protocol) | {"fingerprint": protocol.fingerprint.hex()}


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


def _read(value: Any, field: Field[Any], *, inside: bool) -> Any:
    """A plain value as the field wants it: fractions from texts, tuples from lists."""
    if isinstance(value, list):
        return tuple(_read(each, field, inside=True) for each in value)
    if isinstance(value, Mapping):
        if inside or "protocol" not in value:
            raise InputError("CEL-R072.table", name=field.name)
        return _create(value, inside=True)
    if not _is_real(field):
        return value
    if isinstance(value, str):
        if not _FRACTION.fullmatch(value) or value.endswith("/0"):
            raise InputError("CEL-R072.not_a_number", name=field.name)
        return Fraction(value)
    # Whole or not: `epsilon = 4` and `epsilon = 4.0` are one protocol.
    return Fraction(value) if whole(value) is not None else value


def _is_real(field: Field[Any]) -> bool:
    return "Fraction" in str(field.type) or "float" in str(field.type)


def _described(protocol: Protocol) -> dict[str, Any]:
    given = [each.name for each in fields(protocol) if each.init]
    return {"protocol": protocol.name} | {name: _plain(getattr(protocol, name)) for name in given}


def _plain(value: Any) -> Any:
    """A value for JSON and TOML; a fraction as a number where that number means exactly it."""
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, Protocol):
        return _described(value)
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    number = exact(value)
    if number is None:
        raise InputError("CEL-R072.not_writable")
    if number.denominator == 1:
        return int(number)
    near = float(number)
    return near if exact(near) == number else str(number)


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
