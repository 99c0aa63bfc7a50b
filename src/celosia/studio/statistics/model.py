"""What a study found, ordered for charts: one measure over all its runs, published and ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from celosia import lab
from celosia.lab.findings import cell_text

WIDE = 1000
"""The greatest and the least bar of a chart, from which on its axis is logarithmic."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of a study over the runs that have it."""

    name: str
    runs: tuple[str, ...]
    published: tuple[Any, ...]
    computed: tuple[Any, ...]
    matches: tuple[bool, ...]

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

    >>> row = {"run": "k=2", "cell": "classes", "published": 3, "computed": 3, "matches": True}
    >>> [found] = measures([row, row | {"run": "k=3"}])
    >>> found.name, found.runs, found.matched
    ('classes', ('k=2', 'k=3'), 2)
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["cell"], []).append(row)
    return [
        Measure(
            name,
            tuple(each["run"] for each in some),
            tuple(each["published"] for each in some),
            tuple(each["computed"] for each in some),
            tuple(each["matches"] for each in some),
        )
        for name, some in found.items()
    ]


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


def file_name(study: str) -> str:
    """What the results of a study are called among the files of the studio.

    >>> file_name("tables/k-anonymity")
    'tables--k-anonymity.json'
    """
    return f"{study.replace('/', '--')}.json"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
