"""An invented network of friends: a few with very many contacts, and what is known of each."""

from __future__ import annotations

import polars as pl

from celosia.core.errors import InputError
from celosia.core.numbers import whole
from celosia.core.randomness import Seeded
from celosia.graphs.generators import power_law
from celosia.graphs.graph import Graph

VERTICES, EDGES, SEED = 1_000, 5_000, 1
"""What one gets without asking for anything else."""

EXPONENT = 2.5
"""How steeply the number of people falls with their contacts: as in many social networks."""

MOST = 10_000_000
"""People that can be invented: each has a name of its own."""

_NAMES = ("Ana", "Bruno", "Carla", "Diego", "Elsa", "Fabio", "Gala", "Hugo", "Irene", "Javier")
_CITIES = (("Alba", 8), ("Berga", 5), ("Cala", 3), ("Denia", 2), ("Elda", 1), ("Falces", 1))

SCHEMA = """# Roles of what is known of the people in the network.
[columns.age]
role = "quasi-identifier"
hierarchy = { method = "intervals", domain = [18, 97], start = 18, widths = [5, 20, 40] }

[columns.city]
role = "quasi-identifier"
"""


def friends(vertices: int = VERTICES, edges: int = EDGES, *, seed: int = SEED) -> Graph:
    """People with names, ages and cities, and who knows whom; the same seed makes the same ones.

    Raises:
        InputError: CEL-G032 no such size; CEL-G051 more than a quarter of all pairs as edges.

    >>> network = friends(100, 300)
    >>> print(network)
    100 vertices, 300 edges
    >>> network.attributes.columns
    ['age', 'city']
    """
    people = whole(vertices)
    if people is None or not 2 <= people <= MOST:
        raise InputError("CEL-G032", vertices=vertices, most=MOST)
    rng = Seeded(seed)
    graph = power_law(people, edges, EXPONENT, rng)
    towns = [name for name, weight in _CITIES for _ in range(weight)]
    number = pl.Series("number", range(people))
    first = pl.Series(_NAMES).gather(rng.integers(len(_NAMES), people))
    return Graph(
        order=graph.order,
        edges=graph.edges,
        labels=(first + "-" + number.cast(pl.String)).alias("name"),
        attributes=pl.DataFrame(
            {
                # The sum of two draws: few are very young or very old.
                "age": 18 + rng.integers(41, people) + rng.integers(40, people),
                "city": pl.Series(towns).gather(rng.integers(len(towns), people)),
            }
        ),
    )
