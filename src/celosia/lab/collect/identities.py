"""What must hold between the columns of a printed table, whatever the experiment was.

The thesis defines nRMSE as RMSE / range and prints the root of MSE / range (C-18a). Its Pearson
correlations were taken between counts in two different orders (C-18b): most are lower than the
printed MSE of the same line leaves possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.lab.collect.law import correlation_floor
from celosia.lab.collect.publication import Line
from celosia.lab.findings import Row, compare
from celosia.lab.mechanisms.cells import half_unit
from celosia.lab.tolerance import Tolerance, at_least

MISPRINTS: dict[str, tuple[str, ...]] = {
    "SFP k=64, k'=64, m=32, m'=32": ("percent", "RMSE", "MSE", "nMSE", "nRMSE"),
    Message("lab.collect.dbitflip_d_24_epsilon_16"): ("percent", "nMSE"),
    Message("lab.collect.dbitflip_d_24_epsilon_32"): ("percent",),
}
"""Cells that contradict their own line (C-19): the first line was mixed from two runs, the others
have 0.01 where the recorded results have 0.00."""
UNREFUTED = ("RAPPOR m=16, k=32",)
"""A correlation that is as meaningless as the others, but possible."""


def identities(run: str, line: Line, *, users: int, spread: int) -> Iterator[Row]:
    """The columns of one line against each other; a misprint must be one.

    Args:
        run: which line.
        line: as printed.
        users: how many there are.
        spread: the largest count less the smallest.
    """
    mse, mean = float(line["mse"]), float(line["mean_error"])
    root_mse = float(line["rmse"])
    yield from times(run, line)
    # The printed MSE has two digits after the point too.
    yield _follows(run, "percent", line["percent"], 100 * mean / users, 0.5 / users)
    if "percent" in MISPRINTS.get(run, ()):
        reason = Message("lab.not_run.percent_misprinted")
        yield Row(run, Message("lab.collect.mean_error"), mean, None, not_run=reason)
    else:
        means = float(line["percent"]) * users / 100
        yield _follows(run, "mean", line["mean_error"], means, 0.005 * users / 100)
    yield _follows(run, "RMSE", line["rmse"], sqrt(mse), 0.005 / sqrt(mse))
    yield _follows(run, "MSE", line["mse"], root_mse**2, 0.01 * root_mse)
    yield _follows(run, "nMSE", line["nmse"], mse / spread, 0.005 / spread)
    root = sqrt(mse / spread)
    yield _follows(run, "nRMSE", line["nrmse"], root, 0.005 / (spread * root))


def correlation(
    run: str, line: Line, counts: NDArray[np.int64], *, noise: float | None = None
) -> Iterator[Row]:
    """The printed correlation, which the MSE of its own line refutes where it can (C-18b).

    Args:
        run: which line.
        line: as printed.
        counts: the real counts.
        noise: the largest MSE that chance allows where the printed one is mostly bias: a factor and
            a shift of all estimates change no correlation.
    """
    floor = correlation_floor(float(line["mse"]) if noise is None else noise, counts)
    text = line["pearson"]
    if floor == -inf or run in UNREFUTED:
        yield unordered(run, text)
        return
    by = Message("lab.collect.the_mse" if noise is None else "lab.collect.chance")
    cell = Message("lab.collect.pearson_r_wrong_as_printed_c", by=by)
    why = Message("lab.tolerance.floor_of_a_correlation")
    rule = at_least(float(text) + half_unit(text), why)
    yield compare(run, cell, float(text), floor, rule, wrong=Message("lab.wrong.correlation"))


def unordered(run: str, text: str) -> Row:
    """A printed correlation that its line cannot refute, and that says nothing (C-18b)."""
    reason = Message("lab.wrong.correlation")
    return Row(run, Message("lab.collect.pearson_r"), float(text), None, not_run=reason)


def times(run: str, line: Line) -> Iterator[Row]:
    """The printed times, which no other computer has."""
    for name, words in _TIMES.items():
        if name in line:
            yield Row(run, words, float(line[name]), None, not_run=Message("lab.not_run.time"))


_TIMES = {
    "client_ms": Message("lab.collect.client_ms"),
    "update_ms": Message("lab.collect.update_ms"),
    "estimate_ms": Message("lab.collect.estimate_ms"),
    "server_ms": Message("lab.collect.server_ms"),
    "dictionary_s": Message("lab.collect.dictionary_s"),
}


def _follows(run: str, cell: str, text: str, computed: float, slack: float) -> Row:
    words = {
        "percent": Message("lab.collect.percent_error_100_mean_error_users"),
        "mean": Message("lab.collect.mean_error_percent_users_100"),
        "RMSE": Message("lab.collect.rmse_root_of_mse"),
        "MSE": Message("lab.collect.mse_square_of_rmse"),
        "nMSE": Message("lab.collect.nmse_mse_range"),
        "nRMSE": Message("lab.collect.nrmse_as_printed_root_of_mse"),
    }
    name: str = words[cell]
    wrong: str = Message("lab.wrong.nrmse") if cell == "nRMSE" else ""
    misprinted = cell in MISPRINTS.get(run, ())
    if misprinted:
        name = Message("lab.collect.misprinted_c_19", words=name)
        wrong = Message("lab.wrong.misprint")
    reach = half_unit(text) + slack + 1e-9
    why = Message("lab.tolerance.follows")
    rule = Tolerance(absolute=reach, refuted=misprinted, why=why)
    return Row(run, name, float(text), computed, rule, wrong=wrong)
