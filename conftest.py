"""Settings of the whole suite; README.md and docs/ are tests too: their examples really run."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
import typer.main
from hypothesis import settings
from tests.commands import shared
from tests.docs.examples import Page
from tests.effort import EFFORT, scale_examples

ROOT = Path(__file__).parent

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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep tests together that share what they set up."""
    from tests.distribution import ByUnit

    return ByUnit(config, log) if config.getoption("dist") == "load" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Try as many examples as the effort of this run allows, and begin with what takes long."""
    scale_examples(items)
    if hasattr(config, "workerinput"):
        from tests.distribution import order_of

        items.sort(key=order_of)


def pytest_collection_finish() -> None:
    """Spare the collector of garbage thousands of tests and modules that stay to the end."""
    gc.collect()
    gc.freeze()
