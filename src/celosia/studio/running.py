"""The studio that runs in this process: its settings, its visitors and their jobs."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from threading import Event, Thread

from celosia.core.errors import InputError
from celosia.studio.jobs import Jobs
from celosia.studio.settings import Settings
from celosia.studio.visitors import Visitors

BETWEEN = 30.0
"""Seconds between two looks for visitors who have gone."""


class Studio:
    """What all pages share; a context manager that removes every visitor's work at its end."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = Path(tempfile.mkdtemp(prefix="celosia-studio-"))  # for our eyes only
        self.jobs = Jobs(
            workers=settings.workers,
            most=settings.most_jobs,
            seconds=settings.job_seconds,
            memory=settings.job_memory,
        )
        self.visitors = Visitors(self.folder, idle=settings.idle, leaving=self.jobs.forget)
        self._closing = Event()
        Thread(target=self._sweep, daemon=True).start()

    def _sweep(self) -> None:
        while not self._closing.wait(min(BETWEEN, self.settings.idle / 4)):
            self.visitors.expire()

    def close(self) -> None:
        """End all jobs and remove all work."""
        self._closing.set()
        self.jobs.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Studio:
        _running.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _running.remove(self)
        self.close()


_running: list[Studio] = []


def studio() -> Studio:
    """The studio that runs.

    Raises:
        InputError: CEL-W030, none does.
    """
    if not _running:
        raise InputError(
            "CEL-W030",
            "no studio is running in this process.",
            why="Pages need one for their visitors and jobs.",
            fix="Start one with celosia studio.",
        )
    return _running[-1]
