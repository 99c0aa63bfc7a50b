"""What the pages of Learn show, computed in a worker."""

from __future__ import annotations

from typing import Any

from celosia.studio.worker import JobProgress


def lesson(progress: JobProgress, *, technique: str) -> dict[str, Any]:
    """Everything that the page of a technique shows, by the library itself."""
    from celosia.studio.learn.techniques import lesson_of, technique_of

    return lesson_of(technique_of(technique)).compute(progress)
