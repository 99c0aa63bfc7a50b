"""`python -m bench NAME [--json]`: run one benchmark; without a name, list them."""

from __future__ import annotations

import argparse
import json
import pkgutil
from importlib import import_module

import bench


def main() -> None:
    """Run a benchmark and print its ratios."""
    names = sorted(m.name for m in pkgutil.iter_modules(bench.__path__) if m.name[0] != "_")
    for part in ("memory", "timing"):  # what benchmarks share
        names.remove(part)
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", nargs="?", choices=names, help="which benchmark")
    parser.add_argument("--rows", type=int, help="size of the table, where a benchmark takes one")
    parser.add_argument(
        "--memory-rows",
        type=lambda text: tuple(int(each) for each in text.split(",")),
        metavar="N,N,...",
        help="sizes at which memory is measured, where a benchmark does that at several",
    )
    parser.add_argument(
        "--arx", metavar="CLASSPATH", help="the jars of ARX, where a benchmark races it"
    )
    parser.add_argument(
        "--table", metavar="PATH", help="a table (CSV), where a benchmark takes one"
    )
    parser.add_argument(
        "--few-levels",
        action="store_true",
        default=None,
        help="hierarchies of five levels at most by rank, for `anytime`",
    )
    parser.add_argument(
        "--suite", metavar="PATH", help="a copy of the W3C's tests, where a benchmark asks them"
    )
    parser.add_argument(
        "--private-pgm", metavar="FOLDER", help="a clone of private-pgm, for `synthesis`"
    )
    parser.add_argument(
        "--iterations", type=int, help="steps of each fit of private-pgm; 1000 is its own default"
    )
    parser.add_argument("--seeds", type=int, help="tables by each method, for `synthesis`")
    parser.add_argument("--aim-seeds", type=int, help="of these, how many AIM makes")
    parser.add_argument(
        "--aim-seconds", type=int, help="of the processor, after which a run of AIM is ended"
    )
    parser.add_argument(
        "--kept", metavar="FILE", help="where `synthesis` keeps each row (JSON) as it comes"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    if arguments.name is None:
        print("\n".join(names))
        return
    module = import_module(f"bench.{arguments.name}")
    given = {
        "rows": arguments.rows,
        "memory_rows": arguments.memory_rows,
        "arx": arguments.arx,
        "table": arguments.table,
        "few_levels": arguments.few_levels,
        "suite": arguments.suite,
        "private_pgm": arguments.private_pgm,
        "iterations": arguments.iterations,
        "seeds": arguments.seeds,
        "aim_seeds": arguments.aim_seeds,
        "aim_seconds": arguments.aim_seconds,
        "kept": arguments.kept,
    }
    result = module.run(**{name: value for name, value in given.items() if value is not None})
    if arguments.json:
        print(json.dumps({"bench": arguments.name, **result}, indent=2))
        return
    print(f"{arguments.name}: {(module.__doc__ or '').splitlines()[0]}")
    for kind, values in result.items():
        print(f"\n{kind}")
        for name, value in values.items():
            print(f"  {name:<52} {value:>10}")


main()
