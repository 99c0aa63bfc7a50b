"""A folder in the place of another, so that one of the two is always there."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from celosia.engines.spark.paths import abandoned, before_name, before_start, forget

_HERE, _EXCHANGE = -100, 2
"""Of Linux: paths are of the working folder; two names change places."""


def swap_folders(new: Path, target: Path) -> None:
    """Let two folders change their names: in one step where the system can do that.

    Elsewhere the old one is put aside first. A process killed between the two steps leaves it
    there, and `restore_folder` gives it its name again.

    Raises:
        OSError: neither has changed.
    """
    if _exchange(new, target):
        return
    before = target.with_name(before_name(target.name))
    try:
        os.rename(target, before)
        try:
            os.rename(new, target)
        except BaseException:
            os.rename(before, target)
            raise
        os.rename(before, new)  # as an exchange would have left it
    finally:
        forget(before.name)


def restore_folder(target: Path) -> None:
    """Give back its name to what was put aside by a run that was killed."""
    if not target.parent.is_dir():
        return
    start = before_start(target.name)
    left = [each.name for each in target.parent.iterdir() if each.name.startswith(start)]
    for name in abandoned(left):
        if target.exists():
            shutil.rmtree(target.with_name(name), ignore_errors=True)
        else:
            with suppress(OSError):
                os.rename(target.with_name(name), target)


def _exchange(one: Path, other: Path) -> bool:
    """Whether the system could do it in one step."""
    if sys.platform != "linux":
        return False
    try:
        exchange = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError):  # an old C library
        return False
    done = exchange(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)
    return bool(done == 0)
