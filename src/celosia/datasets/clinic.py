"""Two invented tables that belong together: persons, and their visits to a clinic."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.core.numbers import whole

PERSONS, SEED, MOST_PERSONS = 5_000, 1, 10_000_000
WARDS = ("medicine", "surgery", "maternity", "paediatrics")
REGIONS = ("north", "centre", "south")

DECLARATION = """\
[tables.persons]
key = "person"
domains = { sex = ["Female", "Male"], region = ["north", "centre", "south"] }
bounds = { age = [0, 99] }
bins = 10

[tables.visits]
parent = "persons"
foreign_key = "person"
key = "visit"
most_rows = 6
given = ["age", "sex"]
domains = { ward = ["medicine", "surgery", "maternity", "paediatrics"] }
bounds = { days = [1, 20] }
bins = 20
"""
"""How the tables hang together, for `celosia synthesise --tables`."""


@dataclass(frozen=True, eq=False)
class Clinic:
    """Persons, and visits that name a person."""

    persons: pl.DataFrame = field(repr=False)
    visits: pl.DataFrame = field(repr=False)

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Both by their names."""
        return {"persons": self.persons, "visits": self.visits}

    def write(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write both tables as CSV files, and `clinic.toml`, which declares them.

        Raises:
            InputError: a file is there already, or cannot be written.
        """
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        for name, frame in self.tables.items():
            with replacing(target / f"{name}.csv", overwrite=overwrite) as draft:
                frame.write_csv(draft)
        with replacing(target / "clinic.toml", overwrite=overwrite) as draft:
            draft.write_text(DECLARATION, "utf-8")
        return target


def clinic(persons: int = PERSONS, *, seed: int = SEED) -> Clinic:
    """Persons with up to about a dozen visits: how many, where and for how long follows their age.

    Old people come more often; children are in paediatrics, women between 18 and 45 often in
    maternity; days depend on the ward and on age; people of the north come less often.

    Raises:
        InputError: CEL-D045 no such size.

    >>> made = clinic(100)
    >>> made.persons.columns, made.visits.columns
    (['person', 'sex', 'age', 'region'], ['visit', 'person', 'ward', 'days'])
    """
    count = whole(persons)
    if count is None or not 1 <= count <= MOST_PERSONS:
        raise InputError("CEL-D045", what="persons", least=1, most=MOST_PERSONS)
    rng = np.random.Generator(np.random.PCG64(seed))
    sex = rng.integers(0, 2, count)
    age = (rng.beta(1.3, 1.8, count) * 100).astype(np.int64)
    region = rng.choice(3, count, p=[0.25, 0.45, 0.3])
    visits = rng.poisson(np.clip(0.4 + age / 25 - 0.4 * (region == 0), 0.05, None))
    who = np.repeat(np.arange(count), visits)
    years, is_woman = age[who], sex[who] == 0
    draw = rng.random(who.size)
    ward = (draw < 0.2 + years / 250).astype(np.int64)  # surgery, or else medicine
    ward[is_woman & (years >= 18) & (years <= 45) & (rng.random(who.size) < 0.5)] = 2
    ward[years < 16] = 3
    mean = np.array([3.0, 5.0, 2.5, 2.0])[ward] + years / 30
    days = np.minimum(1 + rng.poisson(mean - 1), 20)
    return Clinic(
        pl.DataFrame(
            {
                "person": np.arange(1, count + 1),
                "sex": pl.Series(["Female", "Male"]).gather(sex),
                "age": age,
                "region": pl.Series(REGIONS).gather(region),
            }
        ),
        pl.DataFrame(
            {
                "visit": np.arange(1, who.size + 1),
                "person": who + 1,
                "ward": pl.Series(WARDS).gather(ward),
                "days": days,
            }
        ),
    )
