"""Choices as they were before and after the present ones: undo and redo."""

from __future__ import annotations

from typing import Any

from celosia.studio.publish.form import PublishForm
from celosia.studio.visitors import Work

SAVED = "changes"
"""The name under which a work keeps them."""
MOST = 100
"""So many changes are kept; choices are small, and hold no data."""


def note(work: Work, before: PublishForm) -> None:
    """Remember the choices that are being changed; what was undone before is gone."""
    _save(work, [*_load(work)["before"], before.as_dict()], [])


def can_undo(work: Work) -> bool:
    """Whether there is something to undo."""
    return bool(_load(work)["before"])


def can_redo(work: Work) -> bool:
    """Whether there is something to do again."""
    return bool(_load(work)["after"])


def undo(work: Work) -> None:
    """The choices before the last change; nothing where there was none."""
    _step(work, back=True)


def redo(work: Work) -> None:
    """The choices that were undone last; nothing where there are none."""
    _step(work, back=False)


def _step(work: Work, *, back: bool) -> None:
    found = _load(work)
    source, target = ("before", "after") if back else ("after", "before")
    if not found[source]:
        return
    found[target].append(PublishForm.load(work).as_dict())
    PublishForm.from_dict(found[source].pop()).save(work)
    _save(work, found["before"], found["after"])


def _load(work: Work) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = work.load(SAVED, {"before": [], "after": []})
    return found


def _save(work: Work, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    work.save(SAVED, {"before": before[-MOST:], "after": after[-MOST:]})
