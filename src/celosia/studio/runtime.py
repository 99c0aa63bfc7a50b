"""The studio that runs in this process: its settings, its visitors and their jobs."""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import Event, Thread

from celosia.core import signatures
from celosia.core.errors import InputError
from celosia.core.resources import KeptFolder, WorkFolder
from celosia.studio.classroom.model import Classrooms
from celosia.studio.jobs import Jobs
from celosia.studio.settings import Settings
from celosia.studio.visitors import Visitors

BETWEEN = 30.0
"""Seconds between two looks for visitors who have gone."""
LEAST_MEMORY = 2_000_000_000
"""Bytes that a job has on any machine: libraries and their threads take some of them."""


class Studio:
    """What all pages share; a context manager that removes every visitor's work at its end.

    With a folder to keep it in, the work stays until it expires.

    Raises:
        InputError: CEL-W006 that folder cannot be used, CEL-I080 nor the key of the house.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        if settings.signing_key is not None:
            signatures.private_key(settings.signing_key)  # refused now, not when it is needed
        self._area = (  # for our eyes only
            WorkFolder("celosia-studio-") if settings.keep is None else KeptFolder(settings.keep)
        )
        self.folder = Path(self._area.name)
        self.jobs = Jobs(
            workers=settings.workers,
            most=settings.most_jobs,
            seconds=settings.job_seconds,
            memory=min(settings.job_memory, _fair_memory(settings.workers)),
            file=settings.most_area,
            has_room=self._has_room,
        )
        self.visitors = Visitors(
            self.folder,
            idle=settings.idle,
            clock=time.time,  # it goes on while no studio runs
            leaving=self.jobs.forget,
        )
        self.classrooms = Classrooms()
        self._closing = Event()
        Thread(target=self._sweep, daemon=True).start()

    def _has_room(self, token: str) -> bool:
        visitor = self.visitors.known(token)
        return visitor is None or visitor.size() < self.settings.most_area

    def _sweep(self) -> None:
        while not self._closing.wait(min(BETWEEN, self.settings.idle / 4)):
            self.visitors.expire()

    def close(self) -> None:
        """End all jobs and remove all work."""
        self._closing.set()
        self.jobs.close()
        self.visitors.expire()
        self._area.cleanup()

    def __enter__(self) -> Studio:
        _running.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _running.remove(self)
        self.close()


def _fair_memory(workers: int) -> int:
    """What a job may take so that all of them and the studio fit into this machine, in bytes."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not every system says
        return 1 << 62
    return max(LEAST_MEMORY, whole // (workers + 1))


_running: list[Studio] = []


def studio() -> Studio:
    """The studio that runs."""
    if not _running:
        raise InputError("CEL-W030")
    return _running[-1]


def signing_key() -> str | None:
    """The file with the key of the house, for a job; None where certificates are not signed."""
    key = studio().settings.signing_key
    return None if key is None else str(key)
