"""The tables of TPC-H without its texts, drawn by NumPy: the same keys, frequencies and ranges.

What joins and bounds depend on follows the benchmark exactly: a third of all customers never order
and a third order twice as often as the rest, orders have one to seven lines, parts four suppliers,
keys of orders have gaps, prices follow from keys, and flags from dates.

Reference: TPC Benchmark H, revision 3.0.1, section 4.2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source

Integers = NDArray[np.int64]

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
_NATIONS = (
    ("ALGERIA 0", "ARGENTINA 1", "BRAZIL 1", "CANADA 1", "EGYPT 4", "ETHIOPIA 0", "FRANCE 3"),
    ("GERMANY 3", "INDIA 2", "INDONESIA 2", "IRAN 4", "IRAQ 4", "JAPAN 2", "JORDAN 4", "KENYA 0"),
    ("MOROCCO 0", "MOZAMBIQUE 0", "PERU 1", "CHINA 2", "ROMANIA 3", "SAUDI ARABIA 4"),
    ("VIETNAM 2", "RUSSIA 3", "UNITED KINGDOM 3", "UNITED STATES 1"),
)
NATIONS = tuple((each[:-2], int(each[-1])) for line in _NATIONS for each in line)
"""Each nation with the key of its region."""
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")

FIRST_ORDER, LAST_ORDER = date(1992, 1, 1), date(1998, 8, 2)
TODAY = date(1995, 6, 17)
"""What is shipped or received after this day was still open when the data was made."""
MOST_LINES = 7
SUPPLIERS_OF_PART = 4


def make_tables(
    scale: float, *, rng: Source, progress: Progress = silent
) -> dict[str, pl.DataFrame]:
    """All eight tables at a scale factor; 1 means 1.5 million orders."""
    # At the largest scale, 10, keys and cents stay below 2**31: int64 cannot overflow.
    suppliers, customers, parts, orders = (
        round(each * scale) for each in (10_000, 150_000, 200_000, 1_500_000)
    )
    names = [name for name, _ in NATIONS]
    tables = {
        "region": pl.DataFrame({"regionkey": np.arange(5), "name": REGIONS}),
        "nation": pl.DataFrame(
            {
                "nationkey": np.arange(len(NATIONS)),
                "name": names,
                "regionkey": np.array([region for _, region in NATIONS]),
            }
        ),
        "supplier": pl.DataFrame(
            {
                "suppkey": np.arange(1, suppliers + 1),
                "nationkey": rng.integers(len(NATIONS), suppliers),
                "acctbal": _money(_between(rng, -99_999, 999_999, suppliers)),
            }
        ),
        "customer": pl.DataFrame(
            {
                "custkey": np.arange(1, customers + 1),
                "nationkey": rng.integers(len(NATIONS), customers),
                "acctbal": _money(_between(rng, -99_999, 999_999, customers)),
                "mktsegment": _texts(SEGMENTS, rng.integers(len(SEGMENTS), customers)),
            }
        ),
        "part": _part(rng, parts),
        "partsupp": _partsupp(rng, parts, suppliers),
    }
    progress(Step(Message("datasets.stage.orders"), len(tables), 8))
    sizes = (suppliers, customers, parts, orders)
    tables["orders"], tables["lineitem"] = _orders(rng, sizes, progress)
    return tables


def ordering_customers(drawn: Integers, customers: int) -> Integers:
    """Customers who order: a key that three divides stands for the next one.

    After the last customer there is none, and it stands for the one before.

    >>> ordering_customers(np.array([1, 2, 3, 4, 5, 6]), 6).tolist()
    [1, 2, 4, 4, 5, 5]
    """
    moved = np.where(drawn % 3 == 0, drawn + 1, drawn)
    return np.where(moved > customers, drawn - 1, moved)


def suppliers_of(part: Integers, place: Integers, suppliers: int) -> Integers:
    """The supplier at a place (0 to 3) of a part; the four of a part are four different ones.

    As in the benchmark, they are a good quarter of all suppliers apart; the step is kept below a
    third, which matters only to tiny scales, where the fourth could meet the first.
    """
    step = suppliers // 4 + (part - 1) // suppliers % max(1, suppliers // 12)
    return (part + place * step) % suppliers + 1


def price_of(part: Integers) -> Integers:
    """What a part costs, in cents: it follows from its key."""
    return 90_000 + part // 10 % 20_001 + 100 * (part % 1000)


def _part(rng: Source, parts: int) -> pl.DataFrame:
    keys = np.arange(1, parts + 1)
    size = _between(rng, 1, 50, parts)
    return pl.DataFrame({"partkey": keys, "size": size, "retailprice": _money(price_of(keys))})


def _partsupp(rng: Source, parts: int, suppliers: int) -> pl.DataFrame:
    keys = np.repeat(np.arange(1, parts + 1), SUPPLIERS_OF_PART)
    place = np.tile(np.arange(SUPPLIERS_OF_PART), parts)
    return pl.DataFrame(
        {
            "partkey": keys,
            "suppkey": suppliers_of(keys, place, suppliers),
            "availqty": _between(rng, 1, 9_999, keys.size),
            "supplycost": _money(_between(rng, 100, 100_000, keys.size)),
        }
    )


def _orders(
    rng: Source, sizes: tuple[int, int, int, int], progress: Progress
) -> tuple[pl.DataFrame, pl.DataFrame]:
    suppliers, customers, parts, orders = sizes
    number = np.arange(1, orders + 1)
    keys = number // 8 * 32 + number % 8  # eight of every thirty-two keys are used
    days = rng.integers((LAST_ORDER - FIRST_ORDER).days + 1, orders)
    lines = _between(rng, 1, MOST_LINES, orders)
    first = np.cumsum(lines) - lines
    progress(Step(Message("datasets.stage.lines"), 7, 8))

    count = int(lines.sum())
    part = _between(rng, 1, parts, count)
    quantity = _between(rng, 1, 50, count)
    price = quantity * price_of(part)
    discount, tax = rng.integers(11, count), rng.integers(9, count)
    paid = price * (100 - discount) // 100 * (100 + tax) // 100
    ordered = np.repeat(days, lines)
    shipped = ordered + _between(rng, 1, 121, count)
    received = shipped + _between(rng, 1, 30, count)
    today = (TODAY - FIRST_ORDER).days
    is_open = shipped > today
    open_lines = np.add.reduceat(is_open.astype(np.int64), first)
    # 0 the lines of an order are all shipped, 1 all open, 2 some of each.
    status = np.where(open_lines == 0, 0, np.where(open_lines == lines, 1, 2))
    returned = np.where(received <= today, rng.integers(2, count), 2)
    drawn = _between(rng, 1, customers, orders)
    table = pl.DataFrame(
        {
            "orderkey": keys,
            "custkey": ordering_customers(drawn, customers),
            "orderstatus": _texts("FOP", status),
            "totalprice": _money(np.add.reduceat(paid, first)),
            "orderdate": _dates(days),
            "orderpriority": _texts(PRIORITIES, rng.integers(len(PRIORITIES), orders)),
        }
    )
    lineitem = pl.DataFrame(
        {
            "orderkey": np.repeat(keys, lines),
            "partkey": part,
            "suppkey": suppliers_of(part, rng.integers(SUPPLIERS_OF_PART, count), suppliers),
            "linenumber": np.arange(1, count + 1) - np.repeat(first, lines),
            "quantity": quantity,
            "extendedprice": _money(price),
            "discount": _money(discount),
            "tax": _money(tax),
            "returnflag": _texts("ARN", returned),
            "linestatus": _texts("FO", is_open.astype(np.int64)),
            "shipdate": _dates(shipped),
            "commitdate": _dates(ordered + _between(rng, 30, 90, count)),
            "receiptdate": _dates(received),
        }
    )
    return table, lineitem


def _between(rng: Source, least: int, most: int, size: int) -> Integers:
    return least + rng.integers(most - least + 1, size)


def _money(cents: Integers) -> pl.Series:
    """Cents as decimals of two places, exactly."""
    frame = pl.DataFrame({"cents": cents}).select(pl.col("cents").cast(pl.Decimal(17, 2)) / 100)
    return frame["cents"].cast(pl.Decimal(15, 2))


def _texts(values: Sequence[str], codes: Integers) -> pl.Series:
    return pl.Series(list(values))[codes]


def _dates(days: Integers) -> pl.Series:
    since = (FIRST_ORDER - date(1970, 1, 1)).days
    return pl.Series((days + since).astype(np.int32)).cast(pl.Date)
