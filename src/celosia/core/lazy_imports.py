"""Names and classes that load on first use: a caller who takes one does not wait for all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

Found = TypeVar("Found")


def on_first_use(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package that loads a module when a name of it is used.

    Names and their modules are those that its `if TYPE_CHECKING:` imports: type checkers and this
    function read the same lines, so that they are written once. A module must not have the name of
    something that is taken from it: which of the two the package then shows would depend on what
    was loaded first.

    Args:
        package: its name, `__name__`.
    """

    @cache
    def homes() -> dict[str, str]:
        return _checked_imports(package)

    def get(name: str) -> Any:
        if name.startswith("__") or name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        module = homes()[name]
        if module == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)  # not asked for again
        return value

    return get, lambda: sorted(homes())


def _checked_imports(package: str) -> dict[str, str]:
    """Names that a package imports for type checkers only, with the module of each."""
    import ast  # a program that takes modules by their own names never needs it

    loader: Any = sys.modules[package].__loader__  # of files or of an archive
    tree = ast.parse(loader.get_source(package) or "")
    return {
        alias.name: str(each.module)
        for block in tree.body
        if isinstance(block, ast.If)
        and isinstance(block.test, ast.Name)
        and block.test.id == "TYPE_CHECKING"
        for each in block.body
        if isinstance(each, ast.ImportFrom)
        for alias in each.names
    }


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
