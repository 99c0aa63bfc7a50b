"""An option of a command has the name of its parameter in Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from celosia import graphs, logs, tables
from celosia.assess.advice import AdviceOptions
from celosia.cli.advise import advise
from celosia.cli.collect.simulate import simulate
from celosia.cli.collect.sweep import sweep
from celosia.cli.explore import explore
from celosia.cli.frame import with_options
from celosia.cli.graph.publish import publish as publish_graph
from celosia.cli.graph.release import release as release_graph
from celosia.cli.log.publish import publish as publish_log
from celosia.cli.log.release import release as release_log
from celosia.cli.magnitude import magnitude
from celosia.cli.mask import mask
from celosia.cli.publish import publish
from celosia.cli.query import query
from celosia.cli.release.numbers import quantile, total
from celosia.collect.simulation.run import simulate as simulate_collection
from celosia.collect.sweeps.options import SweepOptions
from celosia.graphs.private import degree_histogram, edge_count, star_count
from celosia.mechanisms import Quantile, Sum
from celosia.mechanisms.noisy_answer import AnswerOptions
from celosia.queries import QueryRequest
from celosia.tables.magnitude import magnitude_table
from celosia.tables.masking import mask as mask_table
from celosia.tables.options import PublishOptions

IN_OTHER_FORM = {
    "data": "a file is the argument of the command",
    "query": "the argument of the command",
    "language": "SQL or SPARQL, by the policy",
    "graph": "the argument of the command",
    "values": "a table and --column, or --data",
    "largest": "as many as the rules need",
    "budget": "--ledger, a budget that lasts longer than a command",
    "top": "the screen shows thirty values, JSON all",
    "progress": "a bar on the terminal",
    "rng": "--seed; without it, the system's entropy",
    "models": "--k, --l, --t and --model",
    "method": "--method, where several may be given",
    "log": "a file is the argument of the command",
    "assess": "--no-assess",
    "holdout": "an assessment, which has a command of its own",
}
"""Parameters that a command takes in another way, and how."""


def names_of(function: Callable[..., Any]) -> set[str]:
    found = inspect.signature(function).parameters.values()
    takes_options = any(each.kind is each.VAR_KEYWORD for each in found)
    named = {each.name for each in found if each.kind is not each.VAR_KEYWORD}
    return named | (set(AnswerOptions.__annotations__) if takes_options else set())


def options_of(command: Callable[..., Any]) -> set[str]:
    return names_of(with_options(command))


@pytest.mark.parametrize(
    ("function", "command"),
    [
        (tables.publish, publish),
        (tables.explore, explore),
        (mask_table, mask),
        (graphs.publish, publish_graph),
        (QueryRequest, query),
        (logs.publish, publish_log),
        (logs.publish_sets, publish_log),
        (logs.private.keys, release_log),
        (edge_count, release_graph),
        (degree_histogram, release_graph),
        (star_count, release_graph),
        (magnitude_table, magnitude),
        (simulate_collection, simulate),
        (SweepOptions, sweep),
        (AdviceOptions, advise),
        (Sum, total),
        (Quantile, quantile),
    ],
    ids=[
        *("publish", "explore", "mask", "graph publish", "query"),
        *("log publish", "log publish --sets", "log release", "edges", "histogram", "stars"),
        *(
            "magnitude",
            "collect simulate",
            "collect sweep",
            "advise",
            "release sum",
            "release quantile",
        ),
    ],
)
def test_every_parameter_is_an_option_of_its_name(
    function: Callable[..., Any], command: Callable[..., Any]
) -> None:
    assert names_of(function) - options_of(command) - set(IN_OTHER_FORM) == set()


def test_publishing_passes_its_options_as_one_value() -> None:
    fields = set(inspect.signature(PublishOptions).parameters)
    assert fields - set(IN_OTHER_FORM) <= options_of(publish)
    assert fields <= names_of(tables.publish)
