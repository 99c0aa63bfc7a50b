"""What a study found, ordered for charts: one measure over all its runs, published and ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from celosia import lab
from celosia.lab.findings import cell_text
from celosia.studio import stored_json

SHIPPED = Path(__file__).with_name("computed.zip")
"""The results of the lab, as `docs/compute_statistics.py` writes them."""
WIDE = 1000
"""The greatest and the least bar of a chart, from which on its axis is logarithmic."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of a study over the runs that have it."""

    name: str
    runs: tuple[str, ...]
    published: tuple[Any, ...]
    """What was published of it, or where nothing was, what is expected."""
    computed: tuple[Any, ...]
    matches: tuple[bool, ...]
    is_published: bool
    """Whether all of the first were published."""

    @property
    def is_number(self) -> bool:
        """Whether it can be drawn; labels and intervals are listed only."""
        return all(_is_number(each) for each in (*self.published, *self.computed))

    @property
    def is_wide(self) -> bool:
        """Whether its values are so far apart that only their powers of ten can be drawn."""
        values = (*self.published, *self.computed)
        return self.is_number and min(values) > 0 and max(values) > WIDE * min(values)

    @property
    def matched(self) -> int:
        """How many of its cells agree."""
        return sum(self.matches)


def measures(rows: Iterable[dict[str, Any]]) -> list[Measure]:
    """The measures of a study from its rows, in the order in which they first appear.

    >>> row = {"run": "k=2", "cell": "classes", "published": 3, "expected": None, "computed": 3}
    >>> [found] = measures([row | {"matches": True}, row | {"run": "k=3", "matches": True}])
    >>> found.name, found.runs, found.matched
    ('classes', ('k=2', 'k=3'), 2)
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["matches"] is None:
            continue  # nothing was compared
        found.setdefault(row["cell"], []).append(row)
    return [
        Measure(
            name,
            tuple(each["run"] for each in some),
            tuple(_stated(each) for each in some),
            tuple(each["computed"] for each in some),
            tuple(each["matches"] for each in some),
            all(each["expected"] is None for each in some),
        )
        for name, some in found.items()
    ]


def unchecked_runs(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The runs in which nothing was compared: they do not count as matching.

    >>> unchecked_runs([{"run": "here", "matches": True}, {"run": "absent", "matches": None}])
    ['absent']
    """
    checked: dict[str, bool] = {}
    for row in rows:
        checked[row["run"]] = checked.get(row["run"], False) or row["matches"] is not None
    return [run for run, is_checked in checked.items() if not is_checked]


def _stated(row: dict[str, Any]) -> Any:
    return row["published"] if row["expected"] is None else row["expected"]


def shown(value: Any) -> Any:
    """The name of a run or of a measure, or a value in words, in the language of the page.

    Numbers stay as they are, and so do formulas and what is data: labels, groups, codes of errors.

    >>> shown("PCMS k=16, m=16"), shown(0.5)
    ('PCMS k=16, m=16', 0.5)
    """
    return cell_text(value) if isinstance(value, str) else value


def families() -> dict[str, list[lab.Study]]:
    """The studies by family; the first of each is the whole of it."""
    found: dict[str, list[lab.Study]] = {}
    for study in lab.studies():
        found.setdefault(study.name.split("/", maxsplit=1)[0], []).append(study)
    return found


@dataclass(frozen=True, slots=True)
class ModelPoint:
    """One published run of a model: its parameter, the loss of its release, and its risk."""

    run: str
    loss: float
    risk: float


COMPARED = ("tables/k-anonymity", "tables/l-diversity", "tables/t-closeness")
"""The studies of one census and one schema, so that their models compare."""
RISKS = ("lab.tables.average_risk", "lab.tables.maximum_risk", "lab.tables.at_risk")


def compared(study: dict[str, Any], risk: str) -> list[ModelPoint]:
    """The runs of a study by loss and one measure of risk, both in per cent, as computed.

    Runs that are impossible have neither, and are left out.
    """
    found: dict[str, dict[str, float]] = {}
    for row in study["rows"]:
        key = getattr(row["cell"], "key", "")
        if key in ("lab.tables.loss", risk) and _is_number(row["computed"]):
            found.setdefault(row["run"], {})[key] = row["computed"]
    return [
        ModelPoint(run, cells["lab.tables.loss"], cells[risk])
        for run, cells in found.items()
        if len(cells) == 2
    ]


@cache
def shipped(study: str) -> dict[str, Any] | None:
    """What was computed of a study when this version was made; None where it is left to you.

    A family is known where all its parts are.
    """
    if "/" not in study:
        parts = [shipped(each.name) for each in lab.studies() if each.name.startswith(f"{study}/")]
        known = [each for each in parts if each is not None]
        if not known or len(known) < len(parts):
            return None
        sums = {key: sum(each[key] for each in known) for key in ("checked", "matched")}
        return {"study": study, "rows": [row for each in known for row in each["rows"]], **sums}
    with ZipFile(SHIPPED) as files:
        name = file_name(study)
        if name not in files.namelist():
            return None
        found: dict[str, Any] = stored_json.loads(files.read(name).decode())
        return found


def file_name(study: str) -> str:
    """What the results of a study are called among the files of the studio.

    >>> file_name("tables/k-anonymity")
    'tables--k-anonymity.json'
    """
    return f"{study.replace('/', '--')}.json"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
