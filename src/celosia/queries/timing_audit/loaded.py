"""Loads what the command `celosia query` loads, when it is imported.

It is for a server that forks a process for each question (`doors.by_command`).
"""

from importlib import import_module

from celosia.queries.bounds.dual_certificate import load_solvers
from celosia.queries.bounds.in_turn import load_kernel
from celosia.queries.bounds.r2t_program import Incidence, program_totals

for _name in (
    *(
        "celosia.cli.app",
        "celosia.cli.console",
        "celosia.cli.main",
        "celosia.cli.query",
    ),
    *("celosia.queries.vault", "celosia.queries.rdf.store_loader", "celosia.queries.sparql"),
    *("duckdb", "rdflib.plugins.sparql", "rich.console", "rich.progress", "rich.table", "sqlglot"),
):
    import_module(_name)
load_solvers()
load_kernel()
_TRIANGLE = Incidence([0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 0, 2], [1, 1, 1])
program_totals(_TRIANGLE, (1, 2))  # which also compiles
