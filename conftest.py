"""Settings of the whole suite; README.md and docs/ are tests too: their examples really run."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
import typer.main
from hypothesis import settings
from tests.commands import shared
from tests.docs.examples import Page

ROOT = Path(__file__).parent

# Kernels compile on first use, so time says nothing. In CI the same examples are tried every time,
# and half as many where a test does not say how many: new ones are found elsewhere.
IN_CI = bool(os.environ.get("CI"))
settings.register_profile(
    "celosia", deadline=None, derandomize=IN_CI, max_examples=50 if IN_CI else 100
)
settings.load_profile("celosia")
typer.main.get_command = shared


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Page | None:
    """Take in README.md and docs/**/*.md."""
    if file_path.suffix != ".md":
        return None
    is_page = file_path == ROOT / "README.md" or file_path.is_relative_to(ROOT / "docs")
    return Page.from_parent(parent, path=file_path) if is_page else None


def pytest_collection_finish() -> None:
    """Spare the collector of garbage thousands of tests and modules that stay to the end."""
    gc.collect()
    gc.freeze()
