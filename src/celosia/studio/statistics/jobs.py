"""The job of the statistics: a study of the lab, computed once for everybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from celosia import lab
from celosia.core.files import replacing
from celosia.studio import stored_json
from celosia.studio.statistics.model import file_name
from celosia.studio.worker import JobProgress


def run(progress: JobProgress, *, study: str, folder: str) -> dict[str, Any]:
    """Compute a study again; nothing in it is private, so its result is kept for all visitors."""
    found = lab.find(study).run(progress=progress).as_dict()
    place = Path(folder)
    place.mkdir(mode=0o700, exist_ok=True)
    with replacing(place / file_name(study)) as draft:
        draft.write_text(stored_json.dumps(found), "utf-8")
    return found
