"""All pages of the studio: the first page, that of a visitor's works, and those of each door."""

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
    "related",
    "statistics",
    "synthesise",
    "texts",
    "traces",
)
"""The doors; the pages of each are in its `pages`, a module or a package of modules."""


def load() -> None:
    """Register all pages: a module does so when it is loaded."""
    for name in ("home", "works"):
        import_module(f"celosia.studio.{name}")
    for name in PACKAGES:
        pages = import_module(f"celosia.studio.{name}.pages")
        for found in walk_packages(getattr(pages, "__path__", ()), prefix=f"{pages.__name__}."):
            import_module(found.name)
