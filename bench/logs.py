"""Logs and sets: prefix-preserving addresses, thresholds, k^m-anonymity and private keys.

Processor seconds and rates on this machine beside the bars that they must pass, and three peers.

- yacryptopan, for addresses, is installed in an environment of its own, and left out where it is
  not to be had; its pseudonyms must be ours.
- Amnesia, for k^m-anonymity, is compiled from its sources (see `_amnesia.py`); it must lose what we
  lose.
- OpenDP, for private keys, takes counts by key and bounds no persons: it gets the counts for
  nothing, while our time includes counting distinct persons. Both have the same threshold.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from ipaddress import IPv4Address
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bench import _amnesia
from bench._peers import peer
from celosia import datasets
from celosia.core.pseudonyms.crypto_pan import CryptoPan
from celosia.core.randomness import System
from celosia.logs import Fields, KmAnonymity, SetContext, UserThreshold, publish_file
from celosia.logs.private import GaussianKeys, KeyData, LaplaceKeys
from celosia.logs.sets.item_tree import ItemTree

PINS = ("yacryptopan==1.0.2",)
FEW = 20_000
"""Addresses that the peer takes one by one."""
LINES = 500_000
"""Lines of the access log that is read; the bar of 90 s is for 10 million."""


def run(*, rows: int = 1_000_000) -> dict[str, dict[str, Any]]:
    """Seconds (at most the bar) and rates (at least the bar), and their ratios to the bars."""
    rng = np.random.default_rng(1)
    taken: dict[str, float] = {}
    bars: dict[str, float] = {}
    addresses = rng.integers(0, 2**32, rows, dtype=np.uint32)
    pan = CryptoPan(bytes(range(32)))
    took = _timed(lambda: pan.ipv4(addresses))
    taken["Crypto-PAn, IPv4 addresses a second"] = rows / took
    bars["Crypto-PAn, IPv4 addresses a second"] = 800_000
    with TemporaryDirectory() as folder:
        path = f"{folder}/access.log"
        _write_access_log(path, LINES)
        methods = [Fields(url="path"), UserThreshold(k=10)]
        took = _timed(lambda: publish_file(path, f"{folder}/safe.csv", methods))
    taken["access log block by block, fields and threshold, lines a second"] = LINES / took
    bars["access log block by block, fields and threshold, lines a second"] = 111_000
    made = datasets.baskets(100_000, 1_000, 10)
    context = SetContext(tree=ItemTree.of(made.hierarchy))
    for m, bar in ((2, 30.0), (3, 300.0)):
        method = KmAnonymity(k=5, m=m)
        taken[f"k^m, k = 5, m = {m}, 100,000 baskets"] = _timed(
            lambda method=method: method.apply(made.transactions, context)  # type: ignore[misc]
        )
        bars[f"k^m, k = 5, m = {m}, 100,000 baskets"] = bar
    pairs = 10 * rows
    shares = np.cumsum(1 / np.arange(1, rows // 10 + 1))
    codes = np.searchsorted(shares / shares[-1], rng.random(pairs))
    data = KeyData(
        rng.integers(0, rows // 2, pairs),
        np.minimum(codes, rows // 10 - 1),
        pl.Series(np.arange(rows // 10)).cast(pl.String),
    )
    mechanism = GaussianKeys(epsilon=1, delta=1e-8, per_person=20)
    taken[f"private keys of {pairs} pairs"] = _timed(lambda: mechanism.release(data, rng=System()))
    bars[f"private keys of {pairs} pairs"] = 10.0
    ratios = _beside_yacryptopan(pan, addresses[:FEW], taken)
    ratios |= _beside_amnesia(taken) | _beside_opendp(taken)
    return {
        "measured": {name: round(value, 3) for name, value in taken.items()},
        "bars": bars,
        "ratios": {
            **{f"{name} / bar": round(taken[name] / bar, 3) for name, bar in bars.items()},
            **ratios,
        },
        "Amnesia": {"k^m-anonymity": _amnesia.why_not() or "run"},
    }


def _beside_yacryptopan(
    pan: CryptoPan, addresses: NDArray[np.uint32], taken: dict[str, float]
) -> dict[str, float]:
    """How many times as many addresses a second as the peer, which must say the same of each."""
    python = peer("yacryptopan-1.0.2", PINS)
    if python is None:
        return {}
    given = {"key": bytes(range(32)).hex(), "addresses": [_dotted(each) for each in addresses]}
    with TemporaryDirectory() as folder:
        path = Path(folder, "addresses.json")
        path.write_text(json.dumps(given), "utf-8")
        script = str(Path(__file__).with_name("_yacryptopan.py"))
        done = subprocess.run([str(python), script, str(path)], capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert found["made"] == [_dotted(each) for each in pan.ipv4(addresses)]
    theirs = len(addresses) / found["seconds"]
    taken["yacryptopan, IPv4 addresses a second"] = theirs
    ours = taken["Crypto-PAn, IPv4 addresses a second"]
    return {"Crypto-PAn, ours / yacryptopan": round(ours / theirs, 1)}


def _beside_amnesia(taken: dict[str, float]) -> dict[str, float]:
    """How many times as fast as Amnesia, whose generalisation must lose as much as ours."""
    if _amnesia.why_not() is not None:
        return {}
    made = datasets.baskets(10_000, 200, 8)
    data, tree = made.transactions, ItemTree.of(made.hierarchy)
    context, method = SetContext(tree=tree), KmAnonymity(k=5, m=2)
    run = _amnesia.race(data, tree, k=5, m=2)
    shares = np.where(tree.sizes > 1, tree.sizes / tree.leaves, 0)[np.array(run.nodes)]
    loss = float(shares[tree.leaf_places(data)[data.items]].mean())
    assert abs(loss - method.apply(data, context).facts["ncp"]) < 1e-9
    label = "k^m, k = 5, m = 2, 10,000 baskets of 8, 200 items"
    taken[label] = _timed(lambda: method.apply(data, context))
    taken[f"{label}, Amnesia"] = run.seconds
    return {"k^m, ours / Amnesia": round(run.seconds / taken[label], 1)}


def _beside_opendp(taken: dict[str, float]) -> dict[str, float]:
    """How many times as fast as OpenDP, for a million persons with one key each."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    rng, persons, keys = np.random.default_rng(3), 1_000_000, 100_000
    codes = np.minimum(rng.zipf(1.3, persons), keys) - 1
    data = KeyData(np.arange(persons), codes, pl.Series(np.arange(keys)).cast(pl.String))
    ours = LaplaceKeys(epsilon=1, delta=1e-5)
    counts = {str(key): int(count) for key, count in enumerate(np.bincount(codes)) if count}
    domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    metric = dp.l01inf_distance(dp.absolute_distance(T=int))
    theirs = dp.m.make_laplace_threshold(domain, metric, scale=1.0, threshold=ours.threshold)
    label = "keys of a million persons, Laplace threshold"
    taken[label] = _timed(lambda: ours.release(data, rng=System()))
    taken[f"{label}, OpenDP from counts"] = _timed(lambda: theirs(counts))
    return {
        "private keys, ours / OpenDP": round(
            taken[f"{label}, OpenDP from counts"] / taken[label], 1
        )
    }


def _timed(work: Callable[[], object]) -> float:
    """Seconds of the processor, over all threads: the better of two runs, which compiles first."""
    times = []
    for _ in range(2):
        started = process_time()
        work()
        times.append(process_time() - started)
    return min(times)


def _dotted(address: Any) -> str:
    return str(IPv4Address(int(address)))


def _write_access_log(path: str, lines: int) -> None:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "a": rng.integers(0, 256, lines),
            "b": rng.integers(1, 255, lines),
            "page": np.minimum(rng.zipf(1.5, lines), 5_000),
            "second": rng.integers(0, 60, lines),
        }
    )
    text = frame.select(
        pl.format(
            '10.0.{}.{} - - [10/Oct/2025:13:55:{} +0000] "GET /p/{} HTTP/1.1" 200 512 "-" "curl/8"',
            "a", "b", pl.col("second").cast(pl.String).str.zfill(2), "page",
        )
    )  # fmt: skip
    text.write_csv(path, include_header=False, quote_style="never")
