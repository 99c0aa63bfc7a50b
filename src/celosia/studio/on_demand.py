"""Files that are made when somebody asks for them: reports as PDF, the archive of a release."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from celosia.studio import release_facts
from celosia.studio.language import _
from celosia.studio.publish import jobs as publishing
from celosia.studio.runtime import studio
from celosia.studio.visitors import Visitor, Work
from celosia.studio.worker import Task, task

OFTEN = 0.05
"""Seconds between two looks at the job that makes a file."""


def maker(work: Work, name: str) -> Task[Any] | None:
    """What makes a file of a work; None where nothing does."""
    folder = str(work.folder)
    if Path(name).suffix == ".pdf" and _kept(work, name).is_file():
        return task(release_facts.write_pdf, folder=folder, name=name)
    if name == publishing.ARCHIVE and work.path("release.csv").is_file():
        return task(publishing.pack, folder=folder)
    return None


def _kept(work: Work, name: str) -> Path:
    return work.path(f"{Path(name).stem}{release_facts.REPORT_VALUE}")


def is_there(work: Work, name: str) -> bool:
    """Whether a file of a work is there, or would be made."""
    return work.path(name).is_file() or maker(work, name) is not None


async def find(visitor: Visitor, work: Work, name: str) -> Path:
    """A file of a work, which is made first where it is not there yet.

    Raises:
        FileNotFoundError: there is no such file, and nothing makes it.
        CelosiaError: it could not be made; CEL-W022 too many jobs of the visitor wait already.
    """
    path = work.path(name)
    if path.is_file():
        return path
    wanted = maker(work, name)
    if wanted is None:
        raise FileNotFoundError
    job = studio().jobs.submit(visitor.token, _("Writing the files"), wanted, listed=False)
    while not job.over:
        await asyncio.sleep(OFTEN)
    if job.error is not None:
        raise job.error
    return path
