"""The worked examples of the thesis: lattices of small tables, diversity and closeness by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log10

import numpy as np
import polars as pl

from celosia import datasets
from celosia.core import figures
from celosia.core.figures import NetworkEdge, NetworkPanel
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, Step, silent
from celosia.core.report import Block, Figure, Heading, Paragraph
from celosia.lab.findings import Findings, Row
from celosia.lab.mechanisms.cells import compare_equal, compare_printed
from celosia.tables import Column, Dates, KAnonymity, Role, Tree
from celosia.tables.coded_table import code_column
from celosia.tables.hierarchies import Builder, Hierarchy
from celosia.tables.models import (
    Classes,
    EntropyDiversity,
    Histogram,
    RecursiveDiversity,
    SensitiveColumn,
    TCloseness,
)
from celosia.tables.recoding import Lattice
from celosia.tables.recoding.classic import largest_k, minimal_nodes, strategies

Node = tuple[int, ...]

RULES: dict[str, Builder] = {
    "ethnic": Tree(["rapanui", "mapuche", "atacameño"], root="person"),
    "birth": Dates(levels=("month", "year"), format="%d/%m/%y", century=1900),
    "sex": Tree(["female", "male"], root="not reported"),
    "postal": Tree(
        {"05340": ["05345", "05349"], "05350": ["05351", "05352", "05356"]}, root="05300"
    ),
    "marital": Tree(
        {"ever married": ["married", "divorced", "widowed"], "never married": ["single"]},
        root="not reported",
    ),
}
"""All eleven people are born from 1960 to 1964, so the interval of five years is the root."""

LARGEST = {(0, 0): 1, (1, 0): 3, (0, 1): 2, (1, 1): 6, (0, 2): 4, (1, 2): 12}
SUPPRESSED = {(0, 0): 4, (1, 0): 1, (0, 1): 2, (0, 2): 1, (1, 1): 0, (1, 2): 0}
"""Table 8: records that are suppressed at each node for k = 2."""
BY_LIMIT = {0: "[1,1]", 1: "[0,2] [1,0]", 2: "[0,1] [1,0]"}
"""Table 9: the minimal nodes, by the largest number of suppressed records."""
WAYS: tuple[tuple[Node, ...], ...] = (
    ((0, 0), (1, 0), (1, 1), (1, 2)),
    ((0, 0), (0, 1), (1, 1), (1, 2)),
    ((0, 0), (0, 1), (0, 2), (1, 2)),
)
"""Figure 5: the strategies."""
TABLE_15 = ((1, 1, 2), (1, 2, 1), (1, 1, 2))
"""How often flu, chest pain and back pain are in each class."""
SALARIES = ((3, 5, 9), (6, 11, 8), (4, 7, 10))
"""Table 17, in thousands; all nine are different."""
FREQUENCIES = ((3, 2, 1, 1), (3, 1, 1), (3, 1))
"""Figure 7: a class of seven, then without the second value, then without a rare one."""
POSTAL = Tree({"05340": ["05345", "05349"], "05350": ["05352", "05356"]}, root="05300")
"""Figure 3; later tables have one code more."""
PROBLEMS = Tree(
    {
        "digestive system disease": {
            "stomach disease": ["gastric ulcer", "gastritis", "stomach cancer"]
        },
        "vascular lung disease": {"respiratory infection": ["flu", "bronchitis", "pneumonia"]},
    },
    root="respiratory & digestive",
)
"""The tree of problems that comes with ARX; of the printed one, only two distances are known."""


MOST_VALUES = 50
"""Of a hierarchy that is drawn with its values."""


def rows(progress: Progress = silent) -> list[Row]:
    """All of them."""
    return [*_two_columns(), *_five_columns(), *_suppression(), *_diversity(), *_closeness()]


def lattice_of(table: pl.DataFrame) -> Lattice:
    """The lattice of a worked table, with the hierarchies of the thesis."""
    return Lattice(
        [
            code_column(table[name], Column(name, Role.QUASI_IDENTIFIER, hierarchy=RULES[name]))
            for name in table.columns
        ]
    )


def _minimal(lattice: Lattice, k: int, most: int = 0) -> str:
    return _names(minimal_nodes(lattice, [KAnonymity(k)], most_suppressed=most))


def _names(nodes: Sequence[Node]) -> str:
    """Nodes as the thesis writes them.

    >>> _names([(1, 0), (0, 2)])
    '[0,2] [1,0]'
    """
    return " ".join(_name(node) for node in sorted(nodes))


def _name(node: Node) -> str:
    return f"[{','.join(map(str, node))}]"


def _two_columns() -> Iterator[Row]:
    run = Message("lab.tables.worked_two_columns")
    lattice = lattice_of(datasets.examples.ethnic_postal())
    yield compare_equal(run, "lab.tables.nodes_of_the_lattice", 6, lattice.nodes)
    yield compare_equal(run, "lab.tables.number_of_strategies", 3, strategies(lattice.shape))
    for node, largest in LARGEST.items():
        cell = Message("lab.tables.largest_k_at", node=_name(node))
        yield compare_equal(run, cell, largest, largest_k(lattice, node), kind="program")
    for k, printed in ((2, "[0,1] [1,0]"), (3, "[0,2] [1,0]")):
        cell = Message("lab.tables.minimal_nodes_for", k=k)
        yield compare_equal(run, cell, printed, _minimal(lattice, k))


def _five_columns() -> Iterator[Row]:
    run = Message("lab.tables.worked_five_columns")
    table = datasets.examples.five_attributes()
    lattice = lattice_of(table)
    cell = Message("lab.tables.minimal_nodes_for", k=2)
    yield compare_equal(
        run,
        cell,
        "[0,1,1,2,2] [1,3,0,1,1]",
        _minimal(lattice, 2),
        kind="program",
        printed="[0,2,1,2,2] [1,3,0,1,1]",
        wrong=Message("lab.wrong.month_and_year_suffice"),
    )
    for node in ((0, 2, 1, 2, 2), (1, 3, 0, 1, 1)):
        sizes = sorted(lattice.class_table(node).sizes.tolist())
        cell = Message("lab.tables.class_sizes_at", node=_name(node))
        yield compare_equal(run, cell, "2 2 3 4", " ".join(map(str, sizes)))
    cell = Message("lab.tables.minimal_without_the_last_row")
    yield compare_equal(
        run,
        cell,
        "[0,1,0,0,0]",
        _minimal(lattice_of(table.head(10)), 2),
        kind="program",
        printed="[0,2,0,0,0]",
        wrong=Message("lab.wrong.month_and_year_suffice"),
    )
    cell = Message("lab.tables.minimal_with_suppressed", most=1)
    yield compare_equal(run, cell, "[0,1,0,0,0]", _minimal(lattice, 2, 1), kind="program")


def _suppression() -> Iterator[Row]:
    run = Message("lab.tables.worked_suppression")
    lattice = lattice_of(datasets.examples.suppression_example())
    for node, printed in SUPPRESSED.items():
        found = lattice.evaluate(node, [KAnonymity(2)]).suppressed
        yield compare_equal(
            run, Message("lab.tables.suppressed_at", node=_name(node)), printed, found
        )
    for most, nodes in BY_LIMIT.items():
        cell = Message("lab.tables.minimal_with_suppressed", most=most)
        yield compare_equal(run, cell, nodes, _minimal(lattice, 2, most))
    yield compare_equal(
        run,
        Message("lab.tables.minimal_with_suppressed", most=4),
        "[0,0]",
        _minimal(lattice, 2, 4),
        kind="program",
        printed=BY_LIMIT[2],
        wrong=Message("lab.wrong.four_suppressions_suffice"),
    )


def _classes(counts: Sequence[Sequence[int]]) -> Classes:
    """Classes by how often each sensitive value is in them; the table is all of them."""
    held = np.array(counts, dtype=np.int64)
    of_row = np.repeat(np.repeat(np.arange(len(held)), held.shape[1]), held.ravel())
    codes = np.repeat(np.tile(np.arange(held.shape[1]), len(held)), held.ravel())
    column = SensitiveColumn("value", held.sum(axis=0), is_ordered=True)
    histogram = Histogram.of_rows(column, of_row, codes.astype(np.int32), len(held))
    return Classes(held.sum(axis=1), {"value": histogram})


def _diversity() -> Iterator[Row]:
    run = Message("lab.tables.worked_diversity")
    effective = EntropyDiversity(2, column="value").effective(_classes(TABLE_15))
    for number, found in enumerate(effective.tolist(), 1):
        cell = Message("lab.tables.entropy_of_class", number=number)
        yield compare_printed(run, cell, "0.4515", log10(found))
        cell = Message("lab.tables.effective_values_of_class", number=number)
        yield compare_printed(run, cell, "2.8", found)
    yes, no = Message("lab.report.yes"), Message("lab.report.no")
    # The last step, (2, 1), promises nothing: any class has fewer than twice its own records.
    for counts, l in zip(FREQUENCIES, (3, 2), strict=False):  # noqa: E741 - as the field writes
        holds = RecursiveDiversity(2, l, "value").holds(_classes([counts])).all()
        cell = Message("lab.tables.recursive_of", counts=list(counts), l=l)
        yield compare_equal(run, cell, str(yes), str(yes if holds else no))


def _closeness() -> Iterator[Row]:
    run = Message("lab.tables.worked_closeness")
    values = sorted(value for own in SALARIES for value in own)
    counts = [[int(value in own) for value in values] for own in SALARIES]
    found = TCloseness(1.0, "ordered", "value").distances(_classes(counts))
    for number, (text, distance) in enumerate(zip(("0.167", "0.167", "0.083"), found, strict=True)):
        cell = Message("lab.tables.distance_of_class", number=number + 1)
        yield compare_printed(run, cell, text, float(distance))


def drawings(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Figures 3 to 5, 7 and 8: hierarchies, a lattice and its strategies, a class, problems."""
    progress(Step(Message("lab.tables.drawing_the_figures"), 0))
    whole = [_lattice((), say("lab.tables.the_lattice"))]
    ways = [
        _lattice(way, say("lab.tables.strategy", number=number))
        for number, way in enumerate(WAYS, 1)
    ]
    return [
        Heading(say("lab.tables.drawn_figures")),
        draw_hierarchy(RULES["ethnic"], Message("lab.tables.figure_3_ethnic")),
        draw_hierarchy(POSTAL, Message("lab.tables.figure_3_postal")),
        _networks(whole, Message("lab.tables.figure_4")),
        _networks(ways, Message("lab.tables.figure_5")),
        _recursive(),
        draw_hierarchy(PROBLEMS, Message("lab.tables.figure_8")),
    ]


def hierarchies(findings: Findings, progress: Progress) -> Sequence[Block]:
    """Figures 9 and 10: the hierarchies of the experiments."""
    from celosia.lab.tables.setting import published_schema

    progress(Step(Message("lab.tables.drawing_the_figures"), 0))
    blocks: list[Block] = [
        Heading(say("lab.tables.drawn_hierarchies")),
        Paragraph(say("lab.tables.lost_in_print")),
    ]
    for column in published_schema().columns:
        words = Message("lab.tables.figure_9_10", column=column.name)
        if column.hierarchy is not None:
            blocks.append(draw_hierarchy(column.hierarchy, words))
    return blocks


def draw_hierarchy(hierarchy: Hierarchy | Builder, words: Message) -> Figure:
    """A hierarchy as a tree; of one with many values, from its first level on."""
    whole = hierarchy if isinstance(hierarchy, Hierarchy) else hierarchy.build(pl.Series([]))
    paths = whole.paths()
    if len(paths) > MOST_VALUES:
        paths = list(dict.fromkeys(path[1:] for path in paths))
    listed = "; ".join(" → ".join(path) for path in paths)
    description = say("lab.collect.values_listed", words=words, listed=listed)
    return Figure(figures.tree(paths), str(words), description)


def _lattice(way: Sequence[Node], title: str) -> NetworkPanel:
    """The lattice of two columns, with the nodes of a strategy marked."""
    nodes: list[Node] = list(LARGEST)
    steps = [
        (one, other)
        for one in nodes
        for other in nodes
        if sum(other) == sum(one) + 1 and all(a <= b for a, b in zip(one, other, strict=True))
    ]
    taken = set(pairwise(way))
    return NetworkPanel(
        names=[_name(node) for node in nodes],
        places=[(0.5 + 0.4 * (node[0] - node[1] / 2), sum(node) / 3) for node in nodes],
        edges=[
            NetworkEdge(
                nodes.index(one),
                nodes.index(other),
                kind="come" if (one, other) in taken else "kept",
            )
            for one, other in steps
        ],
        title=title,
        marked=frozenset(nodes.index(node) for node in way),
    )


def _networks(panels: Sequence[NetworkPanel], words: Message) -> Figure:
    listed = "; ".join(
        f"{panel.title}: "
        + ", ".join(
            f"{panel.names[each.start]} → {panel.names[each.end]}"
            for each in panel.edges
            if not panel.marked or each.kind == "come"
        )
        for panel in panels
    )
    description = say("lab.collect.values_listed", words=words, listed=listed)
    return Figure(figures.networks(panels), str(words), description)


def _recursive() -> Figure:
    words = say("lab.tables.figure_7")
    width = len(FREQUENCIES[0])
    names = [say("lab.tables.value_number", number=number + 1) for number in range(width)]
    kept = ((0, 1, 2, 3), (0, 2, 3), (0, 2))
    series = {
        say("lab.tables.recursive_step", l=3 - number): [
            float(counts[places.index(value)]) if value in places else 0.0 for value in range(width)
        ]
        for number, (counts, places) in enumerate(zip(FREQUENCIES, kept, strict=True))
    }
    drawing = figures.bars(names, series, title=words, y_label=say("lab.tables.records"))
    listed = "; ".join(
        f"{name}: {', '.join(f'{each:g}' for each in counts)}" for name, counts in series.items()
    )
    return Figure(drawing, words, say("lab.collect.values_listed", words=words, listed=listed))
