"""Documents: detection without a language model, new files and the verification pass.

The bars are a megabyte of text a second and core with patterns, checks, lists and context, 20 times
Presidio with the same kinds switched on, and ten seconds for a hundred pages of DOCX or PDF with
verification. Times are of the processor, not of the clock, and the best of three.

Speed depends on how much there is to find. The generated notes have an identifier in every 37
characters; `prose` is the licences of the installed packages, with one in 340.

Presidio is run in an environment of its own in the user's cache, with a blank pipeline (no language
model), at a least score of 0.4. It installs what the package index has of it; it is left out where
that is not to be had.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from importlib.metadata import distributions
from pathlib import Path
from time import process_time
from typing import Any

from bench._peers import peer
from celosia.assess.recognisers import Match
from celosia.assess.recognisers import find as find_identifiers
from celosia.core.errors import PrivacyWarning
from celosia.datasets.notes import notes
from celosia.texts import Collection, find, publish, read
from celosia.texts.detection import dates
from celosia.texts.detection.batches import batches, join
from celosia.texts.detection.tokens import words_of

PAGES = 100
RUNS = 3
"""The quickest counts, of Presidio as well: other work on a machine slows the processor, too."""
TOGETHER = 2.0
"""Seconds that our runs take together at least: a short run is easily disturbed."""
PROSE = 1_000_000
"""Characters of licences."""
PINS = ("presidio-analyzer==2.2.366",)
KINDS = ("account", "contact", "device", "id", "url")
"""What Presidio looks for too. Dates count apart: it looks for far fewer forms of them."""


def run(*, rows: int = 1000) -> dict[str, dict[str, Any]]:
    """Megabytes a second and seconds; `rows` is the number of notes."""
    warnings.simplefilter("ignore", PrivacyWarning)
    made = [each.text for each in notes(rows, seed=1).collection]
    texts = {"generated notes": made, "prose": _licences()}
    find(notes(20).collection)
    rates: dict[str, float] = {}
    ratios: dict[str, float] = {}
    for name, chosen in texts.items():
        size = sum(map(len, chosen)) / 1e6
        collection = Collection.of(chosen)
        rates[f"patterns and check digits, {name}"] = size / _timed(
            lambda chosen=chosen: [find_identifiers(each) for each in chosen]
        )
        rates[f"all detectors, {name}"] = size / _timed(
            lambda collection=collection: find(collection)
        )
        for what, dated in (("the kinds of Presidio", False), ("those and dates", True)):
            ours = size / _timed(lambda chosen=chosen, dated=dated: _found(chosen, dated=dated))
            rates[f"{what}, {name}"] = ours
            theirs = _presidio(chosen, size, dated=dated)
            if theirs is not None:
                rates[f"Presidio, {what}, {name}"] = theirs
                ratios[f"ours / Presidio, {what}, {name} (bar 20)"] = round(ours / theirs, 1)
    recognisers = _recognisers()
    seconds = {
        f"{PAGES} pages of {kind}, with verification": _pages(kind) for kind in ("docx", "pdf")
    }
    return {
        **({"recognisers": recognisers} if recognisers else {}),
        "MB a second": {name: round(value, 3) for name, value in rates.items()},
        "processor seconds": {name: round(value, 2) for name, value in seconds.items()},
        "ratios": {
            **ratios,
            **{
                f"{name} / 1 MB a second": round(value, 3)
                for name, value in rates.items()
                if name.startswith("all")
            },
            **{f"{name} / 10 s": round(value / 10, 3) for name, value in seconds.items()},
        },
    }


def _licences() -> list[str]:
    """Text that nobody wrote for this benchmark."""
    found: list[str] = []
    size = 0
    for package in sorted(distributions(), key=lambda each: each.name):
        for path in package.files or ():
            if "license" in path.name.lower() and path.suffix in ("", ".txt", ".md"):
                text = Path(str(path.locate())).read_text("utf-8", "replace")
                found.append(text)
                size += len(text)
        if size > PROSE:
            break
    return found


def _found(texts: list[str], *, dated: bool) -> list[Match]:
    """The kinds that Presidio looks for, too, many texts at a time as `find` takes them."""
    if not dated:
        return [match for each in texts for match in find_identifiers(each, kinds=KINDS)]
    found: list[Match] = []
    for batch in batches([words_of(each) for each in texts]):
        words = join(batch)[1]
        found += find_identifiers(words.places, kinds=KINDS)
        found += dates.find(words)
    return found


def _presidio(texts: list[str], size: float, *, dated: bool) -> float | None:
    """The megabytes a second of Presidio."""
    python = peer("presidio-2.2.366", PINS)
    if python is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.json"
        path.write_text(json.dumps(texts), "utf-8")
        script = Path(__file__).with_name("_presidio.py")
        more = ["DATE_TIME"] if dated else []
        command = [str(python), str(script), str(path), str(RUNS), *more]
        done = subprocess.run(command, capture_output=True, check=True)
    return size / float(json.loads(done.stdout.splitlines()[-1])["seconds"])


def _recognisers() -> dict[str, Any]:
    """What the optional recognisers find with the packages of the peer beside ours."""
    python = peer("presidio-2.2.366", PINS)
    if python is None:
        return {}
    (packages,) = (python.parent.parent / "lib").glob("python*/site-packages")
    script = Path(__file__).with_name("_recognisers.py")
    command = [sys.executable, str(script), str(packages)]
    done = subprocess.run(command, capture_output=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return {
        name: value if isinstance(value, str) else " ".join(value) for name, value in found.items()
    }


def _timed(work: Any) -> float:
    """The best of some runs, which together take as long as those of Presidio or so."""
    times: list[float] = []
    while len(times) < RUNS or sum(times) < TOGETHER:
        started = process_time()
        work()
        times.append(process_time() - started)
    return min(times)


def _pages(kind: Any) -> float:
    """A hundred documents of a page each: read, searched, replaced, written and verified."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notes"
        notes(PAGES, seed=2).write(path, format=kind)
        return _timed(lambda: publish(find(read(path))))
