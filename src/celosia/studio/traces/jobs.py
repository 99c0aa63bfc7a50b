"""Jobs of traces: bring points, publish them, attack and measure the release."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.core.progress import Step
from celosia.studio.release_facts import guarantee_facts, write_release
from celosia.studio.traces import model
from celosia.studio.uploads import Brought, uploaded
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

if TYPE_CHECKING:
    from celosia.core.randomness import Source
    from celosia.traces import Declaration, Traces
    from celosia.traces.attacks import TraceAttack
    from celosia.traces.declaration import DamagedPoints

SEED = 1
"""Of the points that an attacker happens to know: a page comes out the same again."""


def prepare(progress: JobProgress, *, folder: str, brought: Brought) -> dict[str, Any]:
    """Put a sample or an uploaded file in place as `points.csv`, with its declaration beside it."""
    from celosia.core.randomness import Seeded
    from celosia.datasets import city, city_declaration
    from celosia.traces.drawing import map_svg, shares
    from celosia.traces.summary import summary

    work = Work.at(folder)
    if brought.sample is not None:
        progress(Step("Making the sample", 0))
        people, days = model.PEOPLE[brought.sample]
        city(people, days).frame.write_csv(work.path("points.csv"))
        work.path("trace.toml").write_text(city_declaration(), "utf-8")
    else:
        progress(Step("Reading the file", 0))
        with uploaded(work.path(brought.file), brought.shown) as path:
            _bring(path, work, "drop" if brought.lenient else "refuse")
    traces = _stored(work)
    progress(Step("Counting known points", 0))
    drawn = shares(traces.person.astype("int64"), traces.x, traces.y, traces.plane)
    about = {
        **brought.state(),
        "points": traces.size,
        "people": traces.people,
        "summary": summary(traces),
        "warnings": list(traces.warnings),
        "measured": traces.declaration.is_measured,
        "unicity": _unicity(traces, Seeded(SEED)),
        "map": str(map_svg([("", drawn)])),
        "choice": {"method": "glove", "parameters": {"k": 5}},
        "seed": None,
    }
    work.save("traces", about)
    return about


def _bring(path: Path, work: Work, damaged: DamagedPoints) -> None:
    """The points of an upload as a table, and a declaration with a measured region."""
    from celosia.traces.drafts import draft, table_of

    frame = table_of(path)
    work.path("trace.toml").write_text(draft(frame, damaged=damaged), "utf-8")
    frame.write_csv(work.path("points.csv"))


def _stored(work: Work) -> Traces:
    from celosia.traces import read

    return read(work.path("points.csv"), _declared(work))


def _declared(work: Work) -> Declaration:
    from celosia.traces import Declaration

    return Declaration.load(work.path("trace.toml"))


def _unicity(traces: Traces, rng: Source) -> dict[str, list[float]]:
    """The share of persons that 1 to 5 points single out, by metres and hours."""
    from celosia.traces.attacks import unicity_curve

    return {
        f"{cell}/{hours}": unicity_curve(traces, cell=cell, hours=hours, rng=rng)
        for cell in model.CELLS
        for hours in model.HOURS
    }


def run(
    progress: JobProgress, *, folder: str, choice: Mapping[str, Any], seed: int | None = None
) -> dict[str, Any]:
    """Publish the traces of a work; files and `result.json` are written to its folder."""
    from celosia.core.randomness import source
    from celosia.traces import method_from, publish
    from celosia.traces.drawing import map_svg
    from celosia.traces.keys import write_key

    work = Work.at(folder)
    progress(Step("Reading the file", 0))
    traces = _stored(work)
    method = method_from(choice["method"], choice["parameters"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the release carries them
        release = publish(traces, method, rng=source(seed), progress=progress)
    assert release.samples is not None, "just made"
    with write_key(release.samples, traces, work.path("key.csv"), overwrite=True):
        write_release(release, work.path("published.csv"))
    found = release.account
    result = guarantee_facts(release.guarantee) | {
        "choice": {**choice},
        "seed": seed,
        "size": {"samples": release.data.height, "points": traces.size},
        "facts": dict(release.outcome.facts),
        "left_out": dict(release.left_out),
        "attacks": [
            {"before": _attack(before), "after": _attack(after)}
            for before, after in zip(found.before, found.attacks, strict=True)
        ],
        "utility": {} if found.utility is None else found.utility.as_dict(),
        # Without titles: the page says in its own language which is which.
        "maps": None if found.maps is None else str(map_svg([("", each) for each in found.maps])),
    }
    work.save("result", result)
    return result


def _attack(found: TraceAttack) -> dict[str, Any]:
    return {
        "name": found.name,
        "assumption": found.assumption,
        "mitigation": found.mitigation,
        "share": found.share,
        "chance": found.chance,
        "targets": found.targets,
    }
