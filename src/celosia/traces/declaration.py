"""The declaration of traces: which columns hold what, the zone, the region and the privacy unit."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean
from celosia.core.methods import Parameter, checked
from celosia.traces.plane import Plane, Region
from celosia.traces.zones import check_zone

Unit = Literal["person", "person-day", "trip", "point"]
Outside = Literal["refuse", "drop", "clamp"]
Epoch = Literal["s", "ms"]
DamagedPoints = Literal["refuse", "drop"]
"""What happens to points of a person at a second of which the person has one: a file with such
points is refused, or all but the first are dropped and counted."""

SECTION = "trace"
PRIVATE = ("sensitive", "areas", "place_hierarchy")
"""What stays with the curator: sensitive places, and where files lie."""

_NUMBERS = {
    "step": Parameter(name="step", kind="number", least=0.1, most=10_000, start=10),
    "trip_gap": Parameter(name="trip_gap", kind="number", above=0, start=30),
    "stop_radius": Parameter(name="stop_radius", kind="number", above=0, start=200),
    "stop_minutes": Parameter(name="stop_minutes", kind="number", above=0, start=20),
}
_WORDS = {
    "unit": get_args(Unit),
    "outside": get_args(Outside),
    "epoch": get_args(Epoch),
    "damaged": get_args(DamagedPoints),
}


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """What the columns of a file of points mean, and what is protected.

    Raises:
        InputError: CEL-J001 a name or a word is wrong; CEL-J002 the region; CEL-I060 a number.

    >>> Declaration(region=[40.3, -3.9, 40.6, -3.5], zone="Europe/Madrid").unit
    'person'
    """

    person: str = "person"
    time: str = "time"
    latitude: str = "latitude"
    longitude: str = "longitude"
    place: str | None = None
    zone: str = ""
    """The time zone in which hours and days are meant; needed where times have no offset."""
    region: Any = None
    """South, west, north, east in degrees. None where it was not declared: then nothing can be
    published, and a draft may be measured."""
    unit: Unit = "person"
    epoch: Epoch | None = None
    step: float = 10.0
    """Side of a lattice cell, in metres."""
    outside: Outside = "refuse"
    damaged: DamagedPoints = "refuse"
    """Whether points are refused whose person has another one at the same second, or all but the
    first of these dropped and counted."""
    trip_gap: float = 30.0
    """Minutes without a point after which a new trip begins."""
    stop_radius: float = 200.0
    stop_minutes: float = 20.0
    areas: str | None = None
    """A GeoJSON file of polygons: administrative areas."""
    area_name: str = "name"
    """The property of a polygon that names it."""
    area_parents: tuple[str, ...] = ()
    """Properties that name the larger areas that it lies in, from small to large."""
    place_hierarchy: str | None = None
    """A CSV file with the hierarchy of the named places."""
    sensitive: tuple[tuple[float, float, float], ...] = ()
    """Sensitive places: latitude, longitude and radius in metres."""
    has_zone: bool = field(default=False, init=False)
    """Whether the zone was declared; else hours are those of Greenwich."""
    is_measured: bool = False
    """Whether the region was read off the data: then no private release may use it."""

    def __post_init__(self) -> None:
        for name in ("person", "time", "latitude", "longitude", "area_name"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                raise InputError("CEL-J001.name", key=name)
        object.__setattr__(self, "has_zone", bool(self.zone))
        object.__setattr__(self, "zone", check_zone(self.zone or "UTC"))
        for name, words in _WORDS.items():
            value = getattr(self, name)
            if value not in words and not (name == "epoch" and value is None):
                hint = did_you_mean(str(value), words)
                raise InputError("CEL-J001.word", key=name, words=list(words), hint=hint)
        for name, declared in _NUMBERS.items():
            object.__setattr__(self, name, checked(SECTION, declared, getattr(self, name)))
        if self.region is not None:
            object.__setattr__(self, "region", Region.of(self.region))
        try:
            places = tuple((float(a), float(b), float(c)) for a, b, c in self.sensitive)
            object.__setattr__(self, "area_parents", tuple(map(str, self.area_parents)))
        except (TypeError, ValueError):
            raise InputError("CEL-J001.sensitive") from None
        object.__setattr__(self, "sensitive", places)

    @cached_property
    def plane(self) -> Plane:
        """The plane of the region.

        Raises:
            InputError: CEL-J002.missing no region is declared.
        """
        if self.region is None:
            raise InputError("CEL-J002.missing")
        return Plane(self.region, self.step)

    @classmethod
    def load(cls, path: str | Path, *, damaged: DamagedPoints | None = None) -> Declaration:
        """The declaration of a TOML file, its section `[trace]`; `damaged` holds over the file's.

        Raises:
            InputError: CEL-J001 the file cannot be read, or has a key that is not known.
        """
        file = Path(path)
        try:
            values = tomllib.loads(file.read_text("utf-8"))[SECTION]
        except (OSError, UnicodeDecodeError):
            raise InputError("CEL-J001.unreadable", path=file.name) from None
        except (tomllib.TOMLDecodeError, KeyError):
            raise InputError("CEL-J001.no_section", path=file.name) from None
        if damaged is not None and isinstance(values, dict):
            values = values | {"damaged": damaged}
        found = cls.from_dict(values)
        for name in ("areas", "place_hierarchy"):  # files beside the declaration
            value = getattr(found, name)
            if value is not None and not Path(value).is_absolute():
                object.__setattr__(found, name, str(file.parent / value))
        return found

    @classmethod
    def from_dict(cls, values: Any) -> Declaration:
        """The declaration of plain values."""
        if not isinstance(values, dict):
            raise InputError("CEL-J001.no_section", path=SECTION)
        known = [each.name for each in fields(cls) if each.init]
        for key in values:
            if key not in known:
                hint = did_you_mean(key, known)
                raise InputError("CEL-J001.unknown", key=key, hint=hint, known=known)
        given = dict(values)
        if isinstance(given.get("sensitive"), list):
            given["sensitive"] = tuple(map(tuple, given["sensitive"]))
        return cls(**given)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, defaults left out; sensitive places never leave the declaration."""
        found: dict[str, Any] = {}
        for each in fields(self):
            if not each.init:
                continue
            value = getattr(self, each.name)
            if value != each.default and each.name not in PRIVATE:
                found[each.name] = value.sides if isinstance(value, Region) else value
        return found
