"""The page of the documentation that lists the mutations, and the tests that notice them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.mutations.mutations import ROOT, Mutation

PAGE = ROOT / "docs" / "reference" / "planted-faults.md"

HEAD = """\
# Planted faults

The tests are tested too. `make mutations` plants {count} faults in a copy of the source, one at a
time, and runs a few test files against each. A fault is *caught* when a test fails that passes
without the fault. The tests run in their quick form, the one of `make test`.

Each fault is a plausible mistake: a wrong constant, a wrong comparison, a dropped condition. The
list is a sample: it covers every package, and it does not prove that every other fault would be
noticed too. The faults are in `tests/mutations/mutations.toml`; this page is written by
`python -m tests.mutations --write`.
"""


def render(mutations: Iterable[Mutation], catches: Mapping[str, str]) -> str:
    """The whole page: one table for each package."""
    mutations = list(mutations)
    parts = [HEAD.format(count=len(mutations))]
    for package in sorted({mutation.package for mutation in mutations}):
        lines = [f"## {package}", "", "| id | fault | caught by |", "|---|---|---|"]
        lines += [
            f"| `{mutation.id}` | {mutation.fault} | {_catch(catches.get(mutation.id))} |"
            for mutation in mutations
            if mutation.package == package
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _catch(test: str | None) -> str:
    return f"`{test.removeprefix('tests/')}`" if test else "nothing"
