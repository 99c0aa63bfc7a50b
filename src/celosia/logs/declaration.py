"""What the columns of a log mean, as a small TOML file.

[log]
person = "user"          # whose record it is: the privacy unit
time = "when"
text = "query"           # or item, for baskets
url = "clicked"
ip = "ip"
agent = "ua"
session = "sid"
referrer = "referrer"
bytes = "bytes"
keep = ["status"]        # published as they are; all other columns are dropped
unit = "person"          # person | record
normalise = "words"      # none | case | words | sorted-words
damaged = "refuse"       # refuse | drop: records without a person, a text or readable bytes
hashes = "refuse"        # refuse | keep: columns of plain hashes among those of `keep`

[log.items]              # for sets
hierarchy = "items.csv"
sensitive = ["sensitive.txt"]
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, Self, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean
from celosia.logs.damage import DamagedRecords

Unit = Literal["person", "record"]
Normalisation = Literal["none", "case", "words", "sorted-words"]
Epoch = Literal["s", "ms"]
KeptHashes = Literal["refuse", "keep"]
Layout = Literal["table", "common", "combined", "jsonl", "baskets"]
"""How a file is laid out: a table (CSV, Parquet ...), an access log, JSON lines, baskets."""

ROLES = ("person", "time", "text", "url", "ip", "agent", "session", "referrer", "bytes")
"""The fields of a record that have a meaning of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDeclaration:
    """Which column is what, whose record a record is, and how queries are compared.

    Raises:
        InputError: CEL-U001 a setting is wrong.

    >>> LogDeclaration(person="user", text="query").columns
    {'person': 'user', 'text': 'query'}
    """

    person: str | None = None
    time: str | None = None
    text: str | None = None
    url: str | None = None
    ip: str | None = None
    agent: str | None = None
    session: str | None = None
    referrer: str | None = None
    bytes: str | None = None
    keep: tuple[str, ...] = ()
    """Columns that are published as they are; nothing protects them."""
    unit: Unit = "person"
    normalise: Normalisation = "words"
    layout: Layout | None = None
    zone: str | None = None
    """The time zone of times that say none."""
    epoch: Epoch | None = None
    """What numbers in the time column count: seconds or milliseconds since 1970."""
    damaged: DamagedRecords = "refuse"
    """Whether a log is refused that has lines of broken bytes, records without a person or a text,
    or addresses and times that cannot be read; dropped records and emptied values are counted."""
    hashes: KeptHashes = "refuse"
    """Whether a log is refused of which a column in `keep` has mostly plain hashes, soon undone."""
    hierarchy: str | None = None
    """A file with the hierarchy of the items."""
    sensitive: tuple[str, ...] = ()
    """Files with one sensitive item a line."""

    def __post_init__(self) -> None:
        for name in ROLES:
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value):
                raise _wrong(name, Message("logs.allowed.column"))
        for name in ("keep", "sensitive"):
            object.__setattr__(self, name, _names(name, getattr(self, name)))
        one_of = (
            ("unit", Unit),
            ("normalise", Normalisation),
            ("damaged", DamagedRecords),
            ("hashes", KeptHashes),
        )
        for name, kind in one_of:
            if getattr(self, name) not in get_args(kind):
                raise _wrong(name, Message("words.one_of", words=list(get_args(kind))))
        for name, kind in (("layout", Layout), ("epoch", Epoch)):
            if getattr(self, name) not in (None, *get_args(kind)):
                raise _wrong(name, Message("words.one_of", words=list(get_args(kind))))
        if self.zone is not None:
            check_zone(self.zone)
        # The person of an access log is often its address.
        used = [each for role, each in self.columns.items() if role != "person"] + [*self.keep]
        twice = sorted({name for name in used if used.count(name) > 1})
        if twice:
            raise InputError("CEL-U001.twice", columns=twice)

    @property
    def columns(self) -> dict[str, str]:
        """The column of each role that is declared."""
        return {name: value for name in ROLES if (value := getattr(self, name)) is not None}

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a declaration; files that it names are looked for beside it.

        Raises:
            InputError: CEL-U001 a setting is wrong; CEL-U002 no file of this kind.
        """
        file = Path(path)
        try:
            given = tomllib.loads(file.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            raise InputError("CEL-U002", path=str(file)) from None
        try:
            found = cls.from_dict(given)
        except InputError as error:
            raise error.within(file.name) from None
        folder = file.parent
        return replace(
            found,
            hierarchy=None if found.hierarchy is None else str(folder / found.hierarchy),
            sensitive=tuple(str(folder / each) for each in found.sensitive),
        )

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The declaration in the tables of a TOML file."""
        log = given.get("log")
        if set(given) != {"log"} or not isinstance(log, Mapping):
            raise InputError("CEL-U001.no_table")
        values = dict(log)
        items = values.pop("items", {})
        if not isinstance(items, Mapping):
            raise _wrong("items", Message("logs.allowed.table"))
        unknown = sorted(set(items) - {"hierarchy", "sensitive"})
        own = [each.name for each in fields(cls) if each.name not in ("hierarchy", "sensitive")]
        unknown += sorted(set(values) - set(own))
        if unknown:
            hint = did_you_mean(unknown[0], [*own, "items"])
            raise InputError("CEL-U001.unknown", name=unknown[0], hint=hint, known=[*own, "items"])
        return cls(**values, **items)

    def toml(self, *, comments: Mapping[str, str] | None = None) -> str:
        """The declaration as a file, with a comment after the settings that have one."""
        notes = comments or {}
        lines = ["[log]"]
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in ("hierarchy", "sensitive") or value in (None, ()):
                continue
            shown = list(value) if isinstance(value, tuple) else value
            note = f"  # {notes[each.name]}" if each.name in notes else ""
            lines.append(f"{each.name} = {json.dumps(shown, ensure_ascii=False)}{note}")
        if self.hierarchy is not None or self.sensitive:
            lines += ["", "[log.items]"]
        if self.hierarchy is not None:
            lines.append(f"hierarchy = {json.dumps(self.hierarchy, ensure_ascii=False)}")
        if self.sensitive:
            lines.append(f"sensitive = {json.dumps(list(self.sensitive), ensure_ascii=False)}")
        return "\n".join(lines) + "\n"


def check_zone(name: object) -> ZoneInfo:
    """A time zone by its name.

    Raises:
        InputError: CEL-U001 there is none.
    """
    try:
        return ZoneInfo(str(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise _wrong("zone", Message("logs.allowed.zone")) from None


def _names(name: str, given: object) -> tuple[str, ...]:
    several = (given,) if isinstance(given, str) else given
    if not isinstance(several, list | tuple) or not all(
        isinstance(each, str) and each for each in several
    ):
        raise _wrong(name, Message("logs.allowed.names"))
    return tuple(several)


def _wrong(name: str, allowed: str) -> InputError:
    return InputError("CEL-U001.value", name=name, allowed=allowed)
