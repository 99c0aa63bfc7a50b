"""Documents: detection without a language model, new files and the verification pass.

Presidio 2.2.366 is not run here: with a blank English pipeline and 18 recognisers it searched 0.031
and 0.042 MB a second in two runs on a loaded machine. The bars are a megabyte of text a second and
core, and ten seconds for a hundred pages of DOCX or PDF with verification. Times are of the
processor, not of the clock.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from time import process_time
from typing import Any

from celosia.assess.recognisers import find as find_identifiers
from celosia.core.errors import PrivacyWarning
from celosia.datasets.notes import notes
from celosia.texts import find, publish, read

PAGES = 100


def run(*, rows: int = 1000) -> dict[str, dict[str, Any]]:
    """Megabytes a second and seconds; `rows` is the number of notes."""
    warnings.simplefilter("ignore", PrivacyWarning)
    made = notes(rows, seed=1)
    size = made.collection.characters / 1e6
    find(notes(20).collection)
    rates = {
        "patterns and check digits": size
        / _timed(lambda: [find_identifiers(each.text) for each in made.collection]),
        "all detectors": size / _timed(lambda: find(made.collection)),
    }
    seconds = {
        f"{PAGES} pages of {kind}, with verification": _pages(kind) for kind in ("docx", "pdf")
    }
    return {
        "MB a second": {name: round(value, 3) for name, value in rates.items()},
        "processor seconds": {name: round(value, 2) for name, value in seconds.items()},
        "ratios": {
            **{f"{name} / 1 MB a second": round(value, 3) for name, value in rates.items()},
            **{f"{name} / 10 s": round(value / 10, 3) for name, value in seconds.items()},
        },
    }


def _timed(work: Any) -> float:
    started = process_time()
    work()
    return process_time() - started


def _pages(kind: Any) -> float:
    """A hundred documents of a page each: read, searched, replaced, written and verified."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notes"
        notes(PAGES, seed=2).write(path, format=kind)
        return _timed(lambda: publish(find(read(path))))
