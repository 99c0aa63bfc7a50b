"""The pages, one module for each; each registers itself when it is loaded."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages


def load() -> None:
    """Register all pages."""
    import os
    import traceback  # TEMPORARY while pages are written side by side

    for found in walk_packages(__path__, prefix=f"{__name__}."):
        try:
            import_module(found.name)
        except Exception:
            if not os.environ.get("CELOSIA_STUDIO_DEBUG"):
                raise
            print("page left out:", found.name, traceback.format_exc()[-300:])
