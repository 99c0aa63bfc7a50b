"""Plant each fault of the list in a copy of the source, and see whether the tests notice."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections import Counter

from tests.mutations.mutations import CATCHES, Mutation, read_catches, read_mutations
from tests.mutations.page import PAGE, render
from tests.mutations.source_copy import copied_source
from tests.mutations.trials import CAUGHT, MISSED, Outcome, confirm, run_mutation

INTERRUPTED = 130


def main() -> int:
    """Run the command; returns its exit code."""
    arguments = _parser().parse_args()
    mutations = [mutation for mutation in read_mutations() if _is_wanted(mutation, arguments)]
    if not mutations:
        print("No mutation has this id or package.", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does
    progress = sys.stderr if arguments.json else sys.stdout
    outcomes: list[Outcome] = []
    with copied_source() as copy:
        try:
            for number, mutation in enumerate(mutations, 1):
                outcomes.append(run_mutation(copy, mutation))
                print(f"{number:>3}/{len(mutations)} {outcomes[-1]}", file=progress, flush=True)
            outcomes = confirm(copy, outcomes)
        except KeyboardInterrupt:
            print(f"Interrupted after {len(outcomes)} mutations.", file=sys.stderr)
            return INTERRUPTED
    if arguments.json:
        print(json.dumps([outcome.as_dict() for outcome in outcomes], indent=2))
    else:
        _print_summary(outcomes)
    if arguments.write:
        _write(outcomes)
    return 0 if all(outcome.result == CAUGHT for outcome in outcomes) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="ID", help="only these mutations")
    parser.add_argument("--package", metavar="NAME", help="only mutations of this package")
    parser.add_argument("--json", action="store_true", help="print one JSON array")
    parser.add_argument(
        "--write", action="store_true", help=f"update {CATCHES.name} and the page {PAGE.name}"
    )
    return parser


def _is_wanted(mutation: Mutation, arguments: argparse.Namespace) -> bool:
    return (arguments.only is None or mutation.id in arguments.only) and (
        arguments.package is None or mutation.package == arguments.package
    )


def _print_summary(outcomes: list[Outcome]) -> None:
    counts = Counter(outcome.result for outcome in outcomes)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    for outcome in outcomes:
        if outcome.result != CAUGHT:
            print(f"{outcome.result}: {outcome.id}: {outcome.note}")


def _write(outcomes: list[Outcome]) -> None:
    """Keep the catches of earlier runs for mutations that did not run this time."""
    mutations = read_mutations()
    catches = read_catches()
    for outcome in outcomes:
        if outcome.result == CAUGHT:
            catches[outcome.id] = outcome.test_name
        elif outcome.result == MISSED:
            catches.pop(outcome.id, None)
    lines = [f'{each.id} = "{catches[each.id]}"\n' for each in mutations if each.id in catches]
    head = (
        "# The test that noticed each mutation; written by `python -m tests.mutations --write`.\n"
    )
    CATCHES.write_text(head + "".join(lines), "utf-8")
    PAGE.write_text(render(mutations, catches), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
