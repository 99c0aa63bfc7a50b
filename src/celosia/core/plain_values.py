"""Results as plain values, for JSON: the fields of a dataclass under their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar


class PlainValues:
    """A dataclass that can be told as plain values: numbers, texts, lists and dictionaries.

    What `repr` leaves out, such as arrays and cells, is left out here too.

    >>> from dataclasses import dataclass, field
    >>> @dataclass(frozen=True, slots=True)
    ... class Share(PlainValues):
    ...     derived = ("share",)
    ...     found: tuple[int, ...]
    ...     of: int
    ...     secret: str = field(repr=False)
    ...     @property
    ...     def share(self) -> float:
    ...         return len(self.found) / self.of
    >>> Share((3, 5), 8, "x").as_dict()
    {'found': [3, 5], 'of': 8, 'share': 0.25}
    """

    __slots__ = ()
    derived: ClassVar[tuple[str, ...]] = ()
    """Properties that are told after the fields."""

    def as_dict(self) -> dict[str, Any]:
        this: Any = self
        names = [each.name for each in fields(this) if each.repr]
        return {name: plain_value(getattr(self, name)) for name in (*names, *self.derived)}


def plain_value(value: Any) -> Any:
    """The same with lists and dictionaries instead of tuples, mappings and dataclasses."""
    if isinstance(value, PlainValues):
        return value.as_dict()
    if isinstance(value, Mapping):
        return {key: plain_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(each) for each in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain_value(getattr(value, each.name)) for each in fields(value)}
    return value
