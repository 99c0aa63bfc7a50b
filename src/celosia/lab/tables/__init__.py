"""The study `tables`: 24 published experiments on the 1994 census extract, and reference runs.

The experiments were made with ARX 3.7.0 and printed, with every digit, in an engineering thesis of
the Universidad del Bío-Bío (Chile, 2018). They sweep k, then l and t on top of k = 5, without a
limit on suppression. The reference runs go further, with other c, other models and limits, and were
computed for this study with a program of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from celosia.core.progress import Progress
from celosia.core.report import Block
from celosia.lab.findings import Findings, Row
from celosia.lab.study import declared
from celosia.lab.tables.experiment import reproduce
from celosia.lab.tables.figures import sweeps
from celosia.lab.tables.runs import LOSS, RATIO


def _strangers(path: Path | None, progress: Progress) -> Sequence[Row]:
    from celosia.lab.tables.strangers import rows  # it loads what few studies need

    return list(rows(progress))


def _worked(path: Path | None, progress: Progress) -> Sequence[Row]:
    from celosia.lab.tables.worked import rows  # compiled kernels

    return rows(progress)


def _drawn_examples(findings: Findings, progress: Progress) -> Sequence[Block]:
    from celosia.lab.tables.worked import drawings

    return drawings(findings, progress)


def _charts(findings: Findings, progress: Progress) -> Sequence[Block]:
    from celosia.lab.tables.worked import hierarchies

    return [*hierarchies(findings, progress), *sweeps(findings, progress)]


_study = partial(declared, absolute=LOSS.absolute, relative=RATIO.relative)

STUDIES = (
    *(
        _study(name, partial(reproduce, "published.csv", start, None), figures=drawn)
        for name, start, drawn in (
            ("tables", "", _charts),
            ("tables/k-anonymity", "k=", sweeps),
            ("tables/l-diversity", "l=", sweeps),
            ("tables/t-closeness", "t=", sweeps),
        )
    ),
    _study("tables/reference", partial(reproduce, "reference.csv", "", "program")),
    declared("tables/worked", _worked, figures=_drawn_examples),
    declared("tables/strangers", _strangers),
)
"""The whole, its parts, the reference runs, the worked examples, and tables nobody here wrote."""
