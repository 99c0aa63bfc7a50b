"""`celosia rdf check`: compare a graph with the declarations of its policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from celosia.cli import console
from celosia.cli.frame import JsonOutputs
from celosia.cli.policy import PolicyFile
from celosia.core.errors import InputError, PrivacyError
from celosia.core.messages import counted, plural, say

if TYPE_CHECKING:
    from celosia.queries.policy.values import Graph, Policy
    from celosia.queries.rdf.compliance import Violation


def check(
    policy: PolicyFile,
    outputs: JsonOutputs,
) -> None:
    """Check the graph of a policy: classes, caps and bounds; exit code 1 unless classes hold.

    What goes beyond a cap or bound is left out or clipped in every answer, so that is only noted.
    The first examples of each violation are shown as they are: for the curator only.

    **Examples**

    `celosia rdf check policy.toml`

    `celosia rdf check policy.toml --json`
    """
    from celosia.queries.rdf.compliance import check_graph
    from celosia.queries.rdf.store import GraphStore

    declared, graph = graph_policy(policy)
    if graph.endpoint:
        raise InputError("CEL-Q235.endpoint", declared_name=declared.name)
    with (
        GraphStore.open(graph.store_path()) as store,
        outputs.working(None) as progress,
    ):
        found = check_graph(store, declared, progress=progress)
    wrong = [each for each in found if each.is_error]
    if wrong:
        if not outputs.as_json:  # what was found is shown above the error
            _show(found)
        raise _broken(declared, wrong, found)
    notes = f"; {counted(len(found), 'note', 'notes')}" if found else ""
    outputs.show(
        lambda: {"complies": True, "violations": [each.as_dict() for each in found]},
        lambda: _show(found),
        say("cli.rdf.graph_as_declared", name=declared.name, notes=notes),
    )


def graph_policy(path: Path) -> tuple[Policy, Graph]:
    """A policy of a graph, and the graph."""
    from celosia.queries.policy import load_policy

    with console.noted_warnings(of_policy=True):
        declared = load_policy(path)
    if declared.graph is None:
        raise InputError("CEL-Q235.graph_policy", declared_name=declared.name, path=path)
    return declared, declared.graph


def _show(found: list[Violation]) -> None:
    for each in found:
        console.note(say("cli.rdf.error" if each.is_error else "cli.rdf.note", violation=each))
        for example in each.examples:
            console.note(f"    {example}")
    if any(each.examples for each in found):
        console.note(say("cli.rdf.terms_above_private_they"))


def _broken(policy: Policy, wrong: list[Violation], found: list[Violation]) -> PrivacyError:
    unit = policy.unit.name
    entities = counted(sum(each.count for each in wrong), unit, plural(unit))
    return PrivacyError(
        "CEL-Q219", entities=entities, violations=[each.as_dict() for each in found]
    )
