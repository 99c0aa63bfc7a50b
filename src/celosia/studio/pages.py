"""All pages of the studio: the home page, and those of each door."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

PACKAGES = (
    "classroom",
    "collect",
    "graphs",
    "learn",
    "logs",
    "mask",
    "publish",
    "query",
    "statistics",
    "synthesise",
    "texts",
    "traces",
)
"""The doors; the pages of each are in its `pages`, a module or a package of modules."""


def load() -> None:
    """Register all pages: a module does so when it is loaded."""
    import_module("celosia.studio.home")
    for name in PACKAGES:
        pages = import_module(f"celosia.studio.{name}.pages")
        for found in walk_packages(getattr(pages, "__path__", ()), prefix=f"{pages.__name__}."):
            import_module(found.name)
