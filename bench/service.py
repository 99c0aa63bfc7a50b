"""The service: 100 analysts at once on this machine, the time to their answers and the budget.

Each analyst has a token and an asynchronous client, and asks small questions about 10,000 rows, one
after the other. The budget allows half of what they want to spend, so that the ledger must refuse.
"""

from __future__ import annotations

import asyncio
import threading
import time
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import uvicorn

from celosia.core.errors import BudgetExceeded, CelosiaError
from celosia.queries import Vault
from celosia.queries.service import AsyncClient, Limits, TokenStore, create_app

ANALYSTS = 100
QUESTIONS = 3
EPSILON = 0.02
PORT = 8449
POLICY = """
name = "visits"
database.path = "visits.duckdb"
unit.name = "row"
budget.epsilon = {budget}
deadline = {deadline}

[tables.visits]
rows = 10000
[tables.visits.columns]
ward = {{ type = "text", keys = ["a", "b"] }}
stay = {{ type = "integer", lower = 0, upper = 30 }}
"""


def run() -> dict[str, dict[str, str]]:
    """Times and spending: all ask at once, then with pauses of up to 30 s between questions."""
    return {
        "all at once": _measured(pause=0.0),
        "each after pauses of 20 to 40 s": _measured(pause=30.0),
    }


def _measured(*, pause: float) -> dict[str, str]:
    budget = Fraction(str(EPSILON)) * ANALYSTS * QUESTIONS / 2
    with TemporaryDirectory() as name:
        folder = Path(name)
        with duckdb.connect(str(folder / "visits.duckdb")) as connection:
            connection.execute(
                "CREATE TABLE visits AS SELECT CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS ward, "
                "i % 31 AS stay FROM range(10000) AS t(i)"
            )
        policy = folder / "policy.toml"
        policy.write_text(POLICY.format(budget=float(budget), deadline=0.25), "utf-8")
        tokens = TokenStore(folder / "tokens.sqlite")
        held = [tokens.create(role="analyst", name=f"a{n}").text for n in range(ANALYSTS)]
        limits = Limits(waiting=ANALYSTS)
        app = create_app(policy, tokens=tokens, audit_log=folder / "audit.jsonl", limits=limits)
        server = uvicorn.Server(uvicorn.Config(app, port=PORT, log_level="error"))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        spent = time.process_time()
        found = asyncio.run(_ask(held, pause))
        spent = time.process_time() - spent
        server.should_exit = True
        thread.join()
        with Vault.open(policy) as vault:
            total = vault.ledger.spent["epsilon"]
            vault.ledger.verify()
    assert total is not None
    times = [seconds for seconds, outcome in found if outcome == "answered"]
    outcomes = [outcome for _, outcome in found]
    return {
        "answered": str(len(times)),
        "refused: budget": str(outcomes.count("budget")),
        "refused: busy or other": str(outcomes.count("other")),
        "spent of the budget": f"{float(total):g} of {float(budget):g}",
        "median": f"{np.quantile(times, 0.5):.2f} s",
        "p95": f"{np.quantile(times, 0.95):.2f} s",
        "CPU for each request, clients included": f"{spent / len(found):.3f} s",
    }


async def _ask(held: list[str], pause: float) -> list[tuple[float, str]]:
    found: list[tuple[float, str]] = []
    random = np.random.default_rng(1)

    async def analyst(number: int, token: str) -> None:
        async with AsyncClient(f"http://127.0.0.1:{PORT}", token) as client:
            for turn in range(QUESTIONS):
                await asyncio.sleep(pause * float(random.uniform(2 / 3, 4 / 3)))
                condition = f"stay <> {number} AND stay > {turn}"
                query = f"SELECT ward, count(*) FROM visits WHERE {condition} GROUP BY ward"
                begun, outcome = time.monotonic(), "answered"
                try:
                    await client.sql(query, epsilon=EPSILON + number / 1e9)
                except BudgetExceeded:
                    outcome = "budget"
                except CelosiaError:
                    outcome = "other"
                found.append((time.monotonic() - begun, outcome))

    await asyncio.gather(*(analyst(number, token) for number, token in enumerate(held)))
    return found
