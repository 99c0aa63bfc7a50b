"""What workers do for a class and for the page of experiments."""

from __future__ import annotations

from typing import Any

from celosia.studio.worker import JobProgress


def experiment(progress: JobProgress, *, asked: dict[str, Any]) -> dict[str, Any]:
    """Publish a sample table as a student asks."""
    from celosia.studio.learn.experiment import Experiment, run

    return run(Experiment.read(asked), progress)


def release_to_break(progress: JobProgress, *, seed: int) -> dict[str, Any]:
    """Make a release that discloses one person."""
    from celosia.studio.classroom import tasks

    return tasks.release_to_break(seed)
