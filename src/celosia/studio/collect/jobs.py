"""The jobs of Collect: a collection played before one's eyes, and protocols side by side."""

from __future__ import annotations

from typing import Any

from celosia.collect import shuffle_guarantee
from celosia.core.progress import Step
from celosia.studio.collect import model, sweep_model
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress


def play(progress: JobProgress, *, form: model.CollectionForm) -> dict[str, Any]:
    """Play a collection; each look at the estimates is a part."""
    progress(Step("Making the devices", 0))
    collection = model.Collection(form)
    progress.part(
        {
            "values": [str(each) for each in collection.candidates],
            "truth": list(collection.truth),
            "bits": collection.protocol.report_bits,
            "lasting_epsilon": float(collection.protocol.lasting_epsilon),
            "shuffled": shuffle_guarantee(collection.protocol, reports=form.devices).as_dict(),
        }
    )
    state: dict[str, Any] = {}
    for played in collection.play():
        state = played.as_dict()
        progress.part(state)
        progress(Step("Devices report", played.devices, form.devices))
    return state


def one_report(progress: JobProgress, *, form: model.CollectionForm) -> list[list[int]]:
    """What one device might send, drawn twice for the same value."""
    collection = model.Collection(form)
    return [collection.one_report(form.seed + time) for time in range(2)]


def compare(progress: JobProgress, *, users: int, domain: int, epsilon: float) -> dict[str, Any]:
    """The error of every protocol at every epsilon, and which one to take."""
    progress(Step("Comparing the protocols", 0))
    return {
        "lines": model.compared(users=users, domain=domain),
        "ranked": model.recommended(users=users, domain=domain, epsilon=epsilon),
    }


def sweep(progress: JobProgress, *, folder: str, form: sweep_model.SweepForm) -> dict[str, Any]:
    """Every combination of a grid, simulated; what was finished before is not done again."""
    return sweep_model.run_in(Work.at(folder), form, progress)
