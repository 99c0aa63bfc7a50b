"""Figure 12 on G9: super-vertices, the worlds they leave, and the search for the fewest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

from celosia.core.messages import Message
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Seeded
from celosia.graphs import examples
from celosia.graphs.generalisation import partition
from celosia.graphs.generalisation.clustering import greedy_blocks
from celosia.graphs.generalisation.graph import GeneralisedGraph
from celosia.graphs.generalisation.partition_search import PartitionSearch
from celosia.graphs.generalisation.verification import agrees
from celosia.graphs.graph import Graph
from celosia.lab.findings import Row
from celosia.lab.graphs.figure_graphs import in_words, name_groups
from celosia.lab.mechanisms.cells import comparing

compare_equal, compare_printed = comparing("program")


def rows(progress: Progress = silent) -> list[Row]:
    """All of them."""
    graph = examples.g9()
    return [*_partition(graph), *_greedy(graph), *_all_partitions(graph)]


def _partition(graph: Graph) -> Iterator[Row]:
    run = Message("lab.graphs.figure_12_groups", groups="{1,2,3} {4,5,7} {6,8,9}")
    made = _summary(graph, [[v - 1 for v in group] for group in examples.G9_PARTITION])
    yield compare_equal(run, "lab.graphs.sizes", "3 3 3", in_words(made.sizes.tolist()))
    yield compare_equal(run, "lab.graphs.edges_within", "3 2 2", in_words(made.internal.tolist()))
    yield compare_equal(
        run, "lab.graphs.edges_between", "1 2 2", in_words(sorted(made.between.tolist()))
    )
    yield compare_equal(run, "lab.graphs.edges_in_all", 12, made.size)
    yield compare_equal(run, "lab.graphs.possible_worlds", 104_976, partition.count_worlds(made))
    loss = partition.structural_loss(made)
    yield compare_printed(run, "SIL", "10.667", loss.total)
    yield compare_printed(run, "NSIL", "0.5926", loss.normalised)
    whole = _summary(graph, [list(range(9))])
    yield compare_equal(
        "lab.graphs.figure_12_one_group",
        "lab.graphs.possible_worlds",
        1_251_677_700,
        partition.count_worlds(whole),
    )
    yield compare_equal("lab.graphs.figure_12_one_group", "C(36, 12)", 1_251_677_700, comb(36, 12))
    world = made.sample_world(Seeded(12))
    parts = [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    kept = "yes" if _numbers(_summary(world, parts)) == _numbers(made) else "no"
    yield compare_equal(run, "lab.graphs.a_world_has_the_published_numbers", "yes", kept)


def _greedy(graph: Graph) -> Iterator[Row]:
    stated = {
        2: ("{1,5} {2,3} {4,8,9} {6,7}", 5_184, "0.4722"),
        3: ("{1,2,3} {4,8,9} {5,6,7}", 27_216, "0.4938"),
        4: ("{1,2,3,5} {4,6,7,8,9}", 4_309_200, "0.7093"),
    }
    for k, (groups, worlds, text) in stated.items():
        run = Message("lab.graphs.sangreea_on_g9_k", k=k)
        found = greedy_blocks(graph, k)
        made = partition.summarise(graph, found)
        yield compare_equal(run, "lab.graphs.groups", groups, name_groups(partition.members(found)))
        yield compare_equal(run, "lab.graphs.possible_worlds", worlds, partition.count_worlds(made))
        yield compare_printed(run, "NSIL", text, partition.structural_loss(made).normalised)
        sound = "yes" if agrees(made, graph, partition.members(found)) else "no"
        yield compare_equal(run, "lab.graphs.numbers_counted_apart_agree", "yes", sound)
        if k == 3:
            yield compare_equal(
                run, "lab.graphs.edges_within", "3 0 0", in_words(made.internal.tolist())
            )
            between = in_words(sorted(made.between.tolist()))
            yield compare_equal(run, "lab.graphs.edges_between", "1 2 6", between)


def _all_partitions(graph: Graph) -> Iterator[Row]:
    run = Message("lab.graphs.all_partitions_of_g9_into_groups")
    worlds = [
        partition.count_worlds(_summary(graph, parts)) for parts in _partitions(list(range(9)), 3)
    ]
    yield compare_equal(run, "lab.graphs.how_many", 491, len(worlds))
    yield compare_equal(run, "lab.graphs.fewest_possible_worlds", 27_216, min(worlds))
    found = PartitionSearch(k=3).apply(graph, rng=Seeded(12)).graph
    yield compare_equal(
        run, "lab.graphs.worlds_of_what_the_search_finds", 27_216, partition.count_worlds(found)
    )


def _partitions(items: list[int], least: int) -> Iterator[list[list[int]]]:
    """Every partition into parts of at least so many."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for mask in range(1 << len(rest)):
        part = [first, *(item for place, item in enumerate(rest) if mask >> place & 1)]
        if len(part) >= least:
            left = [item for place, item in enumerate(rest) if not mask >> place & 1]
            for others in _partitions(left, least):
                yield [part, *others]


def _summary(graph: Graph, groups: Sequence[Sequence[int]]) -> GeneralisedGraph:
    return partition.summarise(graph, partition.blocks(groups))


def _numbers(graph: GeneralisedGraph) -> tuple[list[int], list[int], list[int]]:
    return graph.sizes.tolist(), graph.internal.tolist(), sorted(graph.between.tolist())
