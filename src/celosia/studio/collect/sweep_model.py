"""A sweep to run in the studio: the form, its bounds, and the same as text; it knows no toolkit."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from celosia import datasets
from celosia.collect import Sweep, SweepOptions
from celosia.collect import sweep as run_sweep
from celosia.collect.sweeps.charts import charts
from celosia.collect.sweeps.options import numbers_from_list, vary_from_texts
from celosia.collect.sweeps.report import point_table, point_text
from celosia.collect.sweeps.state import finished_runs
from celosia.core.errors import InputError
from celosia.core.progress import Progress, silent
from celosia.studio.collect.model import DATA, PROTOCOLS
from celosia.studio.visitors import Visitor, Work

SWEPT = (*PROTOCOLS, "sfp")
"""Protocols of the page."""
MOST_RUNS = 200
MOST_REPORTS = 5_000_000
"""Reports of all runs together."""
KIND = "sweep"
"""Of the works that hold a sweep."""
STATE = "sweep.runs"
"""The file of its finished runs: the command line goes on with the same file."""
_FORM = "form"
_ENDED = "ended"


@dataclass(slots=True, kw_only=True)
class SweepForm:
    """What is to be swept, as it is typed; a page changes it."""

    data: str = "exponential"
    protocol: list[str] = field(default_factory=lambda: ["cms", "hcms"])
    epsilon: str = "1, 2, 4"
    users: str = "1000, 10000, 50000"
    vary: str = "hashes=64,1024"
    """Parameters with their values, semicolons between them."""
    repeats: int = 1
    seed: int = 1

    def options(self) -> SweepOptions:
        """The grid.

        Raises:
            InputError: CEL-W080 more work than the studio does; or what a sweep refuses.
        """
        if self.data not in DATA or any(each not in SWEPT for each in self.protocol):
            raise InputError("CEL-W080.sweep", runs=MOST_RUNS, reports=MOST_REPORTS)
        asked = SweepOptions(
            protocol=tuple(self.protocol),
            epsilon=numbers_from_list(self.epsilon, "epsilon"),
            users=numbers_from_list(self.users, "users"),
            vary=vary_from_texts([each for each in self.vary.split(";") if each.strip()]),
            repeats=int(self.repeats),
            seed=self.seed,
        )
        points = asked.points({self.data: int(max(asked.users))})
        reports = asked.repeats * sum(each.users for each in points)
        if len(points) * asked.repeats > MOST_RUNS or reports > MOST_REPORTS:
            raise InputError("CEL-W080.sweep", runs=MOST_RUNS, reports=MOST_REPORTS)
        return asked

    @property
    def values(self) -> tuple[str, int, int]:
        """What the made-up values follow from: sweeps with the same ones share finished runs."""
        return self.data, int(max(self.options().users)), self.seed

    def run(self, progress: Progress = silent, *, state: Path | None = None) -> Sweep:
        """The sweep, on made-up values; it goes on with the finished runs of a state."""
        asked = self.options()
        name, rows, seed = self.values
        made = datasets.load(name, rows=rows, seed=seed)["value"]
        return run_sweep({name: made}, asked, state=state, progress=progress)

    def finished(self, state: Path) -> tuple[int, int]:
        """How many runs a state has already, and how many there are in all."""
        asked = self.options()
        points = asked.points({self.data: int(max(asked.users))})
        return finished_runs(state, points, asked.repeats), len(points) * asked.repeats

    @property
    def command(self) -> str:
        """The command that does the same."""
        words = ["celosia", "collect", "sweep", "--data", self.data]
        for each in self.protocol:
            words += ["--protocol", each]
        words += ["--epsilon", _tight(self.epsilon), "--users", _tight(self.users)]
        for each in filter(None, map(_tight, self.vary.split(";"))):
            words += ["--vary", each]
        words += ["--repeats", str(self.repeats), "--seed", str(self.seed)]
        return shlex.join([*words, "--state", STATE, "--report", "sweep.html"])

    @property
    def python(self) -> str:
        """The Python that does the same."""
        asked = self.options()
        return f"""from celosia import datasets
from celosia.collect import SweepOptions, sweep

values = datasets.load("{self.data}", rows={max(asked.users)}, seed={self.seed})["value"]
options = SweepOptions(
    protocol={asked.protocol},
    epsilon={asked.epsilon},
    users={asked.users},
    vary={dict(asked.vary)},
    repeats={asked.repeats},
    seed={asked.seed},
)
print(sweep({{"{self.data}": values}}, options, state="{STATE}"))
"""


def keep(visitor: Visitor, form: SweepForm) -> Work:
    """The work of a sweep: the one that has runs on the same values, or a new one.

    Raises:
        InputError: what `SweepForm.options` refuses.
    """
    wanted = form.values
    same = (each for each, kept in begun(visitor.works(KIND)) if kept.values == wanted)
    work = next(same, None) or visitor.new_work(KIND)
    work.save(_FORM, asdict(form))
    return work


def begun(works: Iterable[Work]) -> list[tuple[Work, SweepForm]]:
    """Works of sweeps with what each sweeps."""
    return [(each, kept_form(each)) for each in works if each.load(_FORM)]


def kept_form(work: Work) -> SweepForm:
    """What is swept in a work."""
    return SweepForm(**work.load(_FORM))


def run_in(work: Work, form: SweepForm, progress: Progress = silent) -> dict[str, Any]:
    """Run a sweep from where it was stopped; every finished run is kept at once."""
    found = shown(form.run(progress, state=work.path(STATE)))
    work.save(_ENDED, asdict(form))
    return found


def has_ended(work: Work, form: SweepForm) -> bool:
    """Whether a sweep came to its end: some of its points may have been refused."""
    return bool(work.load(_ENDED) == asdict(form))


def shown(found: Sweep) -> dict[str, Any]:
    """What the page shows of a sweep, as plain values in the language of the visitor."""
    heads, rows = point_table(found)
    return {
        "summary": str(found),
        "resumed": found.resumed,
        "charts": [
            {
                "title": str(each.title),
                "x": str(each.x_label),
                "y": str(each.y_label),
                "lines": [
                    (name, list(zip(each.places, line, strict=True))) for name, line in each.lines
                ],
                "log_x": each.log_x,
                "log_y": each.log_y,
            }
            for each in charts(found)
        ],
        "heads": heads,
        "rows": rows,
        "histograms": {name: list(listed) for name, listed in found.histograms.items()},
        "left_out": [f"{point_text(each.point)}: {each.reason}" for each in found.left_out],
        "csv": found.frame().write_csv(),
    }


def _tight(text: str) -> str:
    return "".join(text.split())
