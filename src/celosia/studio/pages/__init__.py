"""The pages, one module for each; each registers itself when it is loaded."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages


def load() -> None:
    """Register all pages."""
    for found in walk_packages(__path__, prefix=f"{__name__}."):
        import_module(found.name)
