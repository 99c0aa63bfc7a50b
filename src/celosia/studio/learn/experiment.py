"""An experiment: a sample table, an algorithm and parameters, and what publishing it so gives."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from celosia.core.errors import InputError
from celosia.core.progress import Progress, silent
from celosia.studio.language import Figure, Words, _, figure, n_, number, percent
from celosia.studio.learn.parts import Facts

if TYPE_CHECKING:
    import polars as pl

    from celosia.tables import Model, Schema

CENSUS_ROWS = 1000
"""Enough for classes of every size, few enough for an answer in a second."""
TABLES = ("census", "patients")
ALGORITHMS = ("lattice", "local", "mondrian", "mondrian-relaxed")
"""`local` is the search over the lattice with local recoding of what would be suppressed."""
MOST = {"k": 200, "l": 10, "t": 1.0, "suppression": 1.0}
KINDS: dict[str, type[Any]] = {
    "table": str,
    "algorithm": str,
    "k": int,
    "l": int,
    "t": float,
    "suppression": float,
}
SHOWN = 24
"""Rows of the table before and after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """What a student chooses; the models of 0 are left out."""

    table: str = "census"
    algorithm: str = "lattice"
    k: int = 5
    l: int = 0  # noqa: E741 - the letter of the model
    t: float = 0.0
    suppression: float = 0.05

    def __post_init__(self) -> None:
        numbers = {name: getattr(self, name) for name in MOST}
        if (
            self.table not in TABLES
            or self.algorithm not in ALGORITHMS
            or not all(0 <= each <= MOST[name] for name, each in numbers.items())
            or not (self.k >= 1 or self.l or self.t)
        ):
            raise InputError("CEL-W041")

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """The experiment of an address or of a form; what it does not have is as at first.

        Raises:
            InputError: CEL-W041, a table, an algorithm or a number that is not offered.
        """
        try:
            return cls(**{name: kind(given[name]) for name, kind in KINDS.items() if name in given})
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError("CEL-W041") from error

    def as_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    def models(self) -> list[Model]:
        """The models that are asked for."""
        from celosia.tables import DistinctDiversity, KAnonymity, TCloseness

        found: list[Model] = [KAnonymity(self.k)] if self.k > 1 else []
        found += [DistinctDiversity(self.l)] if self.l > 1 else []
        return found + ([TCloseness(self.t)] if self.t else [])

    @property
    def options(self) -> dict[str, Any]:
        """What `publish` is told beside the models."""
        local = self.algorithm == "local"
        return {
            "suppression": self.suppression,
            "method": "lattice" if local else self.algorithm,
        } | ({"local": True} if local else {})

    @property
    def python(self) -> str:
        """The same in Python."""
        models = [f"KAnonymity({self.k})"] * (self.k > 1)
        models += [f"tables.DistinctDiversity({self.l})"] * (self.l > 1)
        models += [f"tables.TCloseness({self.t})"] * bool(self.t)
        how = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        load = {
            "census": "table = datasets.census(1000)\nschema = datasets.census_schema()",
            "patients": (
                "table = datasets.examples.patients()\n"
                "decades = tables.Intervals(bounds=((20, 30, 40, 60),))\n"
                "schema = tables.Schema.of(\n"
                '    quasi_identifiers={"zip": tables.Mask(), "age": decades}, '
                'sensitive=["disease"]\n)'
            ),
        }[self.table]
        return (
            f"from celosia import KAnonymity, datasets, publish, tables\n\n{load}\n"
            f"release = publish(table, schema, [{', '.join(models)}], {how})\n"
            "print(release.solution.loss, release.risk.maximum)\n"
        )

    def text(self) -> str:
        """What was chosen, in a line."""
        models = [f"k = {number(self.k)}"] * (self.k > 1) + [f"l = {number(self.l)}"] * (self.l > 1)
        models += [f"t = {number(self.t, 2)}"] * bool(self.t)
        return _(
            "{algorithm}; {models}; at most {share} suppressed",
            algorithm=ALGORITHM_NAMES[self.algorithm],
            models=", ".join(models) or _("no model"),
            share=percent(self.suppression, 0),
        )


ALGORITHM_NAMES = Words(
    {
        "lattice": "Optimal levels for whole columns (lattice search)",
        "local": "Optimal levels, then finer levels for the rest (local recoding)",
        "mondrian": "Cuts of the table into small boxes (Mondrian)",
        "mondrian-relaxed": "Cuts that also divide equal values (relaxed Mondrian)",
    }
)
"""The algorithms."""


TABLE_NAMES = Words(
    {
        "census": "Census: 1,000 invented people, eight quasi-identifiers",
        "patients": "Patients: nine people, postal code and age",
    }
)
"""The tables."""


def run(asked: Experiment, progress: Progress = silent) -> Facts:
    """Publish the table so; plain values, in no language.

    >>> found = run(Experiment(table="patients", k=3, suppression=0))
    >>> found["possible"], round(found["loss"], 3), found["smallest"]
    (True, 0.369, 3)
    """
    import warnings

    from celosia.core.errors import PrivacyError, PrivacyWarning
    from celosia.studio.learn.published_tables import classes_of
    from celosia.tables import publish

    frame, schema = _table(asked.table)
    begun = time.process_time()
    with warnings.catch_warnings():
        # Invented rows, in their order so that a reader can compare them: this is no real release.
        warnings.simplefilter("ignore", PrivacyWarning)
        try:
            made = publish(
                frame, schema, asked.models(), keep_order=True, progress=progress, **asked.options
            )
        except PrivacyError as error:
            return {"possible": False, "code": error.code}
    names = [column.name for column in made.solution.columns]
    return {
        "possible": True,
        "seconds": time.process_time() - begun,
        "records": frame.height,
        "loss": made.solution.loss,
        "suppressed": made.solution.suppressed,
        "maximum": made.risk.maximum,
        "average": made.risk.average,
        "smallest": made.risk.smallest,
        "classes": len({each for each in classes_of(made.data, names) if each >= 0}),
        "columns": frame.columns,
        "before": frame.head(SHOWN).rows(),
        "after": made.data.select(frame.columns).head(SHOWN).rows(),
        "shown": classes_of(made.data.head(SHOWN), names),
    }


def figures(found: Facts) -> list[Figure]:
    """The measures of a release that an experiment has made."""
    share = found["suppressed"] / found["records"]
    return [
        figure("Loss", percent(found["loss"]), "of what the values said; 0 % is the raw table"),
        figure(
            "Highest risk",
            percent(found["maximum"]),
            "of being re-identified: one in the smallest class",
        ),
        figure("Average risk", percent(found["average"]), "classes divided by records"),
        figure("Smallest class", number(found["smallest"]), "records that look alike"),
        (
            _("Suppressed"),
            number(found["suppressed"]),
            _("{share} of the records", share=percent(share)),
        ),
        (
            _("Classes"),
            number(found["classes"]),
            n_(
                "computed in {count} millisecond",
                "computed in {count} milliseconds",
                round(1000 * found["seconds"]),
            ),
        ),
    ]


def _table(name: str) -> tuple[pl.DataFrame, Schema]:
    from celosia import datasets
    from celosia.tables import Intervals, Mask, Schema

    if name == "census":
        return datasets.census(CENSUS_ROWS), datasets.census_schema()
    decades = Intervals(bounds=((20, 30, 40, 60),))
    return datasets.examples.patients(), Schema.of(
        quasi_identifiers={"zip": Mask(), "age": decades}, sensitive=["disease"]
    )
