"""Names and classes that load on first use: a caller who takes one does not wait for all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeVar

Found = TypeVar("Found")


def on_first_use(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package that loads a module when a name of it is used.

    A module must not have the name of something that is taken from it: which of the two the package
    then shows would depend on what was loaded first.

    Args:
        package: its name, `__name__`.
        homes: for each module of the package, the names that are taken from it; none where the
            module itself is what is shown.
    """
    found = {name: module for module, names in homes.items() for name in names}
    shown = sorted([*found, *(module for module, names in homes.items() if not names)])

    def get(name: str) -> Any:
        if name in found:
            value = getattr(import_module(f"{package}.{found[name]}"), name)
            setattr(sys.modules[package], name, value)  # not asked for again
            return value
        if name in shown:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)

    return get, lambda: shown


class ClassesByName(Mapping[str, Found]):
    """Classes by their names, such as methods or protocols, each loaded when it is asked for."""

    def __init__(self, package: str, homes: Mapping[str, str]) -> None:
        """Take the package, and for each name the module below it and the class in that."""
        self._package = package
        self._homes = homes

    def __getitem__(self, name: str) -> Found:
        module, _, found = self._homes[name].rpartition(".")
        kind: Found = getattr(import_module(f"{self._package}.{module}"), found)
        return kind

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)
