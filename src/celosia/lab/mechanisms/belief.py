"""What an epsilon does to a belief: the one numeric table of the thesis (Figure 1.1)."""

from __future__ import annotations

from collections.abc import Iterator

from celosia.accounting import belief_table
from celosia.core.messages import Message
from celosia.core.progress import Progress
from celosia.lab.findings import Row
from celosia.lab.mechanisms.cells import compare_printed

FACTORS = "1.01 1.11 2.72 148 22026"
"""e^epsilon, as printed for the five epsilons."""

INTERVALS = """
.0010,.0010 .0009,.0011 .0004,.0027 .0000,.1484 .0000,1.0000
.0099,.0101 .0090,.0111 .0037,.0272 .0001,.9933 .0000,1.0000
.0990,.1010 .0905,.1105 .0368,.2718 .0007,.9939 .0000,1.0000
.4950,.5050 .4524,.5476 .1839,.8161 .0034,.9966 .0000,1.0000
.7475,.7525 .7237,.7738 .3204,.9080 .0051,.9983 .0000,1.0000
.9899,.9901 .9889,.9910 .9728,.9963 .0067,.9999 .0000,1.0000
"""
"""The belief afterwards, from and to: one line a prior, one column an epsilon."""


def run_name(epsilon: float) -> str:
    """The run of one column of the table."""
    return Message("lab.mechanisms.belief_epsilon", epsilon=epsilon)


def rows(progress: Progress) -> list[Row]:
    """The factor and the 30 intervals, each with both of its ends."""
    return list(_rows())


def _rows() -> Iterator[Row]:
    table = belief_table()
    for epsilon, text, factor in zip(table.epsilons, FACTORS.split(), table.factors, strict=True):
        yield compare_printed(run_name(epsilon), "lab.mechanisms.e_epsilon", text, factor)
    for line, beliefs in zip(INTERVALS.split("\n")[1:-1], table.rows, strict=True):
        for text, belief in zip(line.split(), beliefs, strict=True):
            run, prior = (
                run_name(belief.epsilon),
                Message("lab.mechanisms.belief_of", prior=belief.prior),
            )
            low, high = text.split(",")
            yield compare_printed(run, Message("lab.mechanisms.from", prior=prior), low, belief.low)
            yield compare_printed(run, Message("lab.mechanisms.to", prior=prior), high, belief.high)
