"""`celosia rdf load`: load files or an endpoint into a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli.frame import FileOutputs, check_outputs
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.core.progress import Progress
    from celosia.queries.rdf.store_loader import LoadSummary

Sources = Annotated[
    list[str],
    "argument FILE...|URL",
    "Files of Turtle, N-Triples, RDF/XML, N-Quads or TriG, also packed (.gz); or the "
    "address of one SPARQL endpoint of yours.",
]
Output = Annotated[Path, "--output -o", "The store to make."]
Format = Annotated[
    str | None,
    "--format",
    "turtle, n-triples, rdf/xml, n-quads or trig; by default known from the ending.",
]
Add = Annotated[bool, "--add", "Add to the facts of the store."]
Base = Annotated[str | None, "The base of relative addresses."]
Graph = Annotated[
    str | None, "--graph IRI", "The named graph for facts that name none; by default none."
]
Predicates = Annotated[
    list[str] | None, "--predicate IRI", "Endpoint: only this predicate; repeatable."
]
PolicyFile = Annotated[Path | None, "--policy", "Endpoint: only the predicates of this policy."]
Authorization = Annotated[
    str | None, "$NAME", "Endpoint: a variable that holds the Authorization header."
]
Plain = Annotated[bool, "--plain", "Endpoint: allow http without encryption."]


def load(
    sources: Sources,
    output: Output,
    outputs: FileOutputs,
    format_name: Format = None,
    add: Add = False,
    base: Base = None,
    graph: Graph = None,
    predicates: Predicates = None,
    policy: PolicyFile = None,
    authorization: Authorization = None,
    plain: Plain = False,
) -> None:
    """Load facts into a store, completely or not at all.

    A fact that is there twice counts once, and blank nodes of different files stay apart. Named
    graphs are kept; the policy says whether they are asked apart or as one.

    **Examples**

    `celosia rdf load people.ttl places.nt.gz -o people.graph`

    `celosia rdf load more.nt -o people.graph --add`

    `celosia rdf load clinic.ttl -o people.graph --add --graph http://example.org/clinic`

    `celosia rdf load https://example.org/sparql -o people.graph --policy policy.toml`
    """
    remote = [source for source in sources if "://" in source or source.startswith("$")]
    of_files = (format_name, base, graph)
    wrong = bool(remote) and (len(sources) > 1 or any(each is not None for each in of_files))
    only_remote = predicates or policy is not None or authorization is not None or plain
    if wrong or (not remote and only_remote) or (predicates and policy is not None):
        raise InputError("CEL-Q213.endpoint")
    check_outputs(
        {"store": output},
        inputs=[] if remote else map(Path, sources),
        overwrite=outputs.overwrite or add,
    )
    with outputs.working(None) as progress:
        if remote:
            wanted = predicates if policy is None else _predicates_of(policy)
            made = _from_endpoint(
                remote[0],
                output,
                wanted,
                settings=(add, outputs.overwrite, plain),
                authorization=authorization,
                progress=progress,
            )
        else:
            from celosia.queries.rdf.file_loader import load as load_files

            made = load_files(
                sources,
                output,
                format=format_name,
                add=add,
                overwrite=outputs.overwrite,
                base=base,
                graph=graph,
                progress=progress,
            )
    note = say("cli.rdf.show_its_counts_celosia", output=output)
    outputs.show(made.as_dict, last=made, note=note)


def _from_endpoint(
    source: str,
    output: Path,
    predicates: list[str] | None,
    *,
    settings: tuple[bool, bool, bool],
    authorization: str | None,
    progress: Progress,
) -> LoadSummary:
    from celosia.cli.addresses import read_variable, resolve_address
    from celosia.queries.rdf.endpoint import load_endpoint

    add, overwrite, plain = settings
    secret = None if authorization is None else read_variable(authorization)
    return load_endpoint(
        resolve_address(source),
        output,
        predicates=predicates,
        add=add,
        overwrite=overwrite,
        headers={} if secret is None else {"Authorization": secret},
        plain=plain,
        progress=progress,
    )


def _predicates_of(path: Path) -> list[str]:
    from celosia.cli.rdf.check import graph_policy

    _, graph = graph_policy(path)
    return [iri for iri, _ in graph.predicates]
