"""What is said of each parameter of a method, and the range that a control offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "whole", "number", "choice", "flag", "column", "columns", "several", "values", "text", "toml"
]
"""How a parameter is asked for: a number, one of some words, yes or no, columns of the table, words
to choose several of, a list of values, a text, or anything else as a TOML file has it."""


@dataclass(frozen=True, slots=True)
class Words:
    """What to say of a parameter; where `kind` is None, its type decides how it is asked for."""

    help: str
    least: float | None = None
    most: float | None = None
    start: Any = None
    kind: Kind | None = None
    choices: tuple[str, ...] = ()
    main: bool = False
    example: str = ""


HIDDEN = frozenset({"schema", "sangreea.alpha", "sangreea.beta"})
"""Not asked for in the studio."""

_AMOUNT = Words(
    "How many edges are changed: a share of the edges (0.1 is a tenth), or a number above 1.",
    0,
    10_000_000,
    start=0.2,
)
_EPSILON = "The privacy loss: the smaller, the more noise and the stronger the promise."

WORDS: dict[str, Words] = {
    "epsilon": Words(_EPSILON, 0.001, 1_000, start=1),
    # Graphs
    "k-degree.k": Words("How many vertices must share each degree.", 2, 1_000_000, start=3),
    "vertex-addition.k": Words("How many vertices must share each degree.", 2, 1_000_000, start=3),
    "k-automorphism.k": Words("From how many places the graph looks the same.", 2, 1_000, start=2),
    "k-neighbourhood.k": Words(
        "How many vertices must share each neighbourhood.", 2, 1_000, start=2
    ),
    "partition-search.k": Words("The least number of vertices of a group.", 2, 1_000_000, start=3),
    "sangreea.k": Words("The least number of vertices of a group.", 2, 1_000_000, start=3),
    "k-obfuscation.k": Words(
        "Among how many each vertex hides, measured by entropy.", 2, 1_000_000, start=3
    ),
    "k-degree.variant": Words(
        "Which way targets are chosen and edges changed; umga-random is fast on large graphs."
    ),
    "probes": Words(
        "Rounds in which low degrees are raised where targets cannot be reached; 0 for none.", 0
    ),
    "steps": Words("How many moves are tried; by default 300 for each vertex.", 1),
    "model": Words("What is kept: degrees, or degrees and which of them are joined."),
    "cap": Words("For the model joint: from which degree on ends count together.", 1),
    "probability": Words("The chance of each edge to be deleted.", 0, 1, start=0.1),
    "selection": Words(
        "Weighted: by lot, the less central the likelier. Lowest: the least central first."
    ),
    "every": Words("Exchanges between two computations of the spectrum.", 1),
    "patience": Words(
        "Possible exchanges looked at before one is taken that does not pull back.", 1
    ),
    "tolerance": Words("The share of vertices that may stay exposed.", 0, 1, start=0.1),
    "c": Words("How many pairs get a chance, for each edge of the graph.", 1, 100),
    "q": Words("The share of these pairs whose chance moves by a uniform amount.", 0, 1),
    "trials": Words("How often each width of noise is tried.", 1, 1_000),
    **{
        f"{method}.amount": _AMOUNT
        for method in (
            "random-add-delete",
            "random-perturbation",
            "random-switch",
            "relevance",
            "spectral-add-delete",
            "spectral-switch",
        )
    },
}
"""By METHOD.PARAMETER, or by the parameter alone where methods share it."""
