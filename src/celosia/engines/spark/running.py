"""Work on Spark that ends with a result or with an error of ours."""

from __future__ import annotations

import base64
import pickle
import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from celosia.core.errors import CelosiaError, EngineError
from celosia.engines.spark.arrow import failures
from celosia.engines.tables import changed_source, engine_failed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHANGED = "celosia: the table has changed"
"""What a row says that nobody has counted."""
_SENT = re.compile(r"celosia error <([A-Za-z0-9+/=]*)>")

T = TypeVar("T")


def run(session: SparkSession, work: Callable[[], T]) -> T:
    """What some work gives; its error is ours, and holds nothing of what Spark said.

    Raises:
        EngineError: CEL-E002 a row was not counted, CEL-E020 Spark failed or is gone, CEL-E071 its
            workers have no celosia; or what a function of ours has raised on a worker.
    """
    failure: BaseException
    try:
        return work()
    except CelosiaError:
        raise
    except failures() as error:
        failure = _translated(error)
    except Exception:
        # A context that was stopped leaves None behind, on which pyspark stumbles.
        if is_alive(session):
            raise
        failure = engine_failed("Spark")
    except BaseException:  # Ctrl-C here must end the work there
        with suppress(Exception):
            session.interruptAll()
        raise
    raise failure


def is_alive(session: SparkSession) -> bool:
    """Whether a session can still be asked."""
    try:
        session.sql("SELECT 1").schema  # noqa: B018 - planning alone goes to Spark and back
    except Exception:
        return False
    return True


def sent(error: BaseException) -> RuntimeError:
    """An error of a worker in a form that comes through Spark."""
    return RuntimeError(f"celosia error <{base64.b64encode(pickle.dumps(error)).decode()}>")


def workers_have_none() -> EngineError:
    """The error of a cluster without celosia."""
    return EngineError(
        "CEL-E071",
        "the workers of Spark have no celosia.",
        why="What they do with rows and reports is part of it.",
        fix="Install the same version on them, or ship an environment with spark.archives.",
    )


def _translated(error: BaseException) -> BaseException:
    try:
        told = str(error)
    except Exception:
        told = ""
    if CHANGED in told:
        return changed_source()
    found = _SENT.search(told)
    if found is not None:
        # From our own workers, whose answers pyspark reads in the same way.
        raised: BaseException = pickle.loads(base64.b64decode(found.group(1)))  # noqa: S301
        return raised
    if "No module named 'celosia" in told:
        return workers_have_none()
    return engine_failed("Spark")
