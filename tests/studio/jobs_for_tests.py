"""Jobs that do little; worker processes import them by name."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Step
from celosia.studio.worker import JobProgress


def add(progress: JobProgress, *, left: int, right: int) -> int:
    """Count to two, then add."""
    for done in range(3):
        progress(Step("Counting", done, 2))
    progress.part(left)
    progress.part(right)
    return left + right


def sleep(progress: JobProgress, *, seconds: float) -> str:
    """Take time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        progress(Step("Sleeping", 0))
        time.sleep(0.02)
    return "slept"


def refuse(progress: JobProgress) -> None:
    """Fail as our functions fail."""
    raise InputError("CEL-W022", most=3)


def break_down(progress: JobProgress) -> None:
    """Fail as a library fails, with a cell in its message."""
    raise ValueError("the cell was 4711")


def vanish(progress: JobProgress) -> None:
    """Take the whole process down."""
    os._exit(1)


def grow(progress: JobProgress, *, size: int) -> int:
    """Take memory."""
    return len(bytearray(size))


def write_bytes(progress: JobProgress, *, path: str, size: int) -> None:
    """Write a file of this size."""
    Path(path).write_bytes(b"x" * size)


def give_what_cannot_be_read(progress: JobProgress) -> Any:
    """A result that can be sent, and that fails where it is received."""
    return Unreadable()


class Unreadable:
    """Sent as a call that fails wherever it is made."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("no number",)


def say_language(progress: JobProgress) -> str:
    """What a report of this job would be written in."""
    return str(Message("studio.the_file"))
