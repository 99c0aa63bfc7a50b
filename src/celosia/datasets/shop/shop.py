"""A shop of any size to ask private questions of, with its policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Literal, get_args

import polars as pl

from celosia.core.errors import InputError
from celosia.core.files import check_writable, replacing
from celosia.core.messages import Message, did_you_mean, say
from celosia.core.numbers import real, whole
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Seeded
from celosia.datasets.shop.dbgen import dbgen_tables
from celosia.datasets.shop.generator import NATIONS, make_tables

TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
"""The tables, each after those it references."""
LEAST_SCALE, MOST_SCALE = 0.001, 10.0
Maker = Literal["celosia", "dbgen"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """The tables of a shop, how large it is and who drew them."""

    tables: Mapping[str, pl.DataFrame] = field(repr=False)
    scale: float
    """1 means 1.5 million orders and 6 million lines."""
    maker: Maker
    seed: int | None
    """None for dbgen, which draws the same tables each time."""

    def __str__(self) -> str:
        rows = self.tables["orders"].height
        if self.seed is None:
            return say("datasets.line.dbgen", scale=self.scale, orders=rows)
        return say("datasets.line.tpch", scale=self.scale, orders=rows, seed=self.seed)

    def as_dict(self) -> dict[str, Any]:
        """What it is as plain values, with the number of rows of each table."""
        rows = {name: table.height for name, table in self.tables.items()}
        return {"scale": self.scale, "maker": self.maker, "seed": self.seed, "rows": rows}

    def policy_text(self) -> str:
        """A policy file for the saved tables: customers are protected with all their orders."""
        rows = {name: table.height for name, table in self.tables.items()}
        names = ", ".join(f'"{name}"' for name, _ in NATIONS)
        text = files(__package__).joinpath("policy.toml").read_text("utf-8")
        return Template(text).substitute(rows, scale=f"{self.scale:g}", nations=names)

    def save(
        self, folder: str | Path, *, overwrite: bool = False, progress: Progress = silent
    ) -> Path:
        """Write one Parquet file for each table, and `policy.toml`, whose path is given back.

        Raises:
            InputError: CEL-I003 to CEL-I005, a file is there already or cannot be written.
        """
        place = Path(folder)
        place.mkdir(exist_ok=True)
        policy = place / "policy.toml"
        paths = {name: place / f"{name}.parquet" for name in self.tables}
        for path in (*paths.values(), policy):
            check_writable(path, overwrite=overwrite)
        for number, (name, path) in enumerate(paths.items()):
            progress(Step(Message("datasets.stage.write"), number, len(paths)))
            with replacing(path, overwrite=overwrite) as draft:
                self.tables[name].write_parquet(draft)
        # Last, so that a policy never stands beside half of its tables.
        with replacing(policy, overwrite=overwrite) as draft:
            draft.write_text(self.policy_text(), "utf-8")
        return policy


def tpch(
    scale: float = 0.01,
    *,
    seed: int = 1992,
    maker: Maker | None = None,
    progress: Progress = silent,
) -> Shop:
    """Customers, orders and their lines as in the TPC-H benchmark, without its comments and names.

    Use it for joins: keys, their frequencies, prices, dates and flags are those of the benchmark.
    A third of the customers never order; the busiest of scale factor 1 order some forty times.

    Args:
        scale: the scale factor, 0.001 to 10; 1 means 1.5 million orders, 6 million lines.
        seed: for our own generator; the same seed and scale give the same tables.
        maker: "dbgen", the benchmark's own generator in DuckDB's extension tpch, or "celosia",
            ours. Without it dbgen where its extension is installed, else ours.
        progress: called between the steps.

    Raises:
        InputError: CEL-D020 for `scale`, CEL-D021 for `seed`, CEL-D022 for `maker`.

    >>> shop = tpch(0.001, maker="celosia")
    >>> print(shop)
    TPC-H at scale factor 0.001: 1,500 orders, made by Celosía with seed 1992
    >>> shop.tables["orders"].columns[:3]
    ['orderkey', 'custkey', 'orderstatus']

    Reference: TPC Benchmark H, revision 3.0.1.
    """
    size = real(scale)
    if size is None or not LEAST_SCALE <= size <= MOST_SCALE:
        raise InputError("CEL-D020", least_scale=LEAST_SCALE, most_scale=MOST_SCALE)
    number = whole(seed)
    if number is None or number < 0:
        raise InputError("CEL-D021")
    if maker not in (None, *get_args(Maker)):
        raise InputError("CEL-D022.unknown", maker=maker, hint=did_you_mean(maker, get_args(Maker)))
    if maker != "celosia":
        tables = dbgen_tables(size, progress=progress)
        if tables is not None:
            return Shop(tables=tables, scale=size, maker="dbgen", seed=None)
        if maker == "dbgen":
            raise InputError("CEL-D022.not_installed")
    tables = make_tables(size, rng=Seeded(number), progress=progress)
    return Shop(tables=tables, scale=size, maker="celosia", seed=number)
