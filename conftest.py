"""Settings of the whole suite; README.md and docs/ are tests too: their examples really run."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer.main
from hypothesis import settings
from tests.commands import shared
from tests.docs.examples import Page
from tests.effort import EFFORT, scale_examples

ROOT = Path(__file__).parent
pytest_plugins = ["tests.workers"]

# Kernels compile on first use, so time says nothing. The quick form tries the same examples every
# time, so that who changed nothing sees no failure; a deep run looks for new ones.
settings.register_profile("celosia", deadline=None, derandomize=EFFORT < 1, max_examples=100)
settings.load_profile("celosia")
typer.main.get_command = shared


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Page | None:
    """Take in README.md and docs/**/*.md."""
    if file_path.suffix != ".md":
        return None
    is_page = file_path == ROOT / "README.md" or file_path.is_relative_to(ROOT / "docs")
    return Page.from_parent(parent, path=file_path) if is_page else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try as many examples as the effort of this run allows."""
    scale_examples(item for item in items if isinstance(item, pytest.Item))
