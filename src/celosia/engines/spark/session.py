"""One way to a Spark session: on this machine, on a cluster or through Spark Connect."""

from __future__ import annotations

import atexit
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL
from threading import Lock
from typing import TYPE_CHECKING, Any

from celosia.core.errors import EngineError
from celosia.core.resources import WorkFolder
from celosia.engines.spark.java import OLDEST, java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERYWHERE = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
}
LOCAL = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",  # nothing listens for other machines
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.catalogImplementation": "in-memory",  # no metastore in the working folder
}
CONNECT = "pyspark[connect]"
LOGGERS = (
    "SQLQueryContextLogger",
    "DataFrameQueryContextLogger",
    "pyspark.sql.connect.logging",
)
"""Where pyspark itself writes each failure to standard error, with the cell that caused it."""
_starting = Lock()  # two threads must not start two JVMs


def spark_session(
    url: str | None = None, *, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """A session of your own: it shares no views and no SQL settings.

    The sessions of a process share one Spark, which the first call starts (some seconds) and
    which ends with the process. What Spark logs may hold cells of the data, so nothing of it
    reaches the terminal; a log file set up in Spark's own configuration is still written, and a
    Spark that you started yourself logs as you set it.

    Args:
        url: None or "local[2]" runs in this machine's own Java; "spark://host:7077", "yarn" or
            "k8s://..." is a cluster; "sc://host" is Spark Connect, which needs no Java here;
            "$NAME" is read from the environment. None takes a Spark that runs already.
        settings: Spark's own, such as {"spark.driver.memory": "4g"}; those that Spark reads when
            it starts are heard by the first call only.

    Raises:
        EngineError: CEL-E050 pyspark or pandas is missing, CEL-E051 no Java that is new enough,
            CEL-E052 Spark cannot be started or reached, CEL-E053 this process has a Spark
            elsewhere.
    """
    where = os.environ.get(url[1:], "") if url and url.startswith("$") else url
    for package in ("pyspark", "pandas"):
        if find_spec(package) is None:
            raise _missing(package)
    try:
        import pyspark.sql  # noqa: F401 - 0.3 s, only where Spark is wanted
    except ImportError:
        reason = _missing("pyspark")
    else:
        for name in LOGGERS:
            logging.getLogger(name).disabled = True
        if where == "":
            raise _unreachable()
        if where and where.startswith("sc://"):
            return _connected(where, dict(settings or {}))
        with _starting:
            return _own(_context(where, dict(settings or {})), dict(settings or {}))
    raise reason


def _context(where: str | None, settings: dict[str, str]) -> Any:
    """The one Spark of this process, started when there is none."""
    from pyspark import SparkContext

    running = SparkContext._active_spark_context
    if running is not None and _runs(running):
        if where in (None, running.master):
            return running
        raise EngineError("CEL-E053")
    home = java_home()
    if home is None:
        raise _no_java()
    if SparkContext._gateway is not None:
        _forget()
    return _started(where or "local[*]", home, settings)


def _runs(context: Any) -> bool:
    """Whether a Spark can still be asked: it may have been stopped, or its Java killed."""
    try:
        return not context._jsc.sc().isStopped()
    except Exception:
        return False


def _forget() -> None:
    """Let go of what is left of a Spark that is gone, so that another can be started."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    left, gateway = SparkContext._active_spark_context, SparkContext._gateway
    with suppress(Exception):
        if left is not None:
            left.stop()
    with suppress(Exception):
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.stdin.close()  # the Java process ends when its input is closed
    SparkContext._active_spark_context = None
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = None


def _started(where: str, home: Any, settings: dict[str, str]) -> Any:
    from pyspark import SparkConf, SparkContext, java_gateway

    launch: Any = java_gateway.launch_gateway
    chosen = EVERYWHERE | {"spark.master": where, "spark.app.name": "celosia"}
    if where.startswith("local"):
        # Managed tables, not in the working folder; and what Spark puts aside of rows while it
        # works, which in a folder of its own choice anybody could read.
        folder = WorkFolder("celosia-spark-")
        atexit.register(folder.cleanup)  # which also keeps it until then
        private = folder.name
        places = {"spark.sql.warehouse.dir": "tables", "spark.local.dir": "aside"}
        chosen |= LOCAL | {name: str(Path(private, word)) for name, word in places.items()}
    conf = SparkConf(loadDefaults=False).setAll(list((chosen | settings).items()))
    try:
        # Workers on this machine run this Python: another would not have our modules.
        python = {"PYSPARK_PYTHON": sys.executable} if where.startswith("local") else {}
        with _environment(JAVA_HOME=str(home), **python):
            # Its standard streams carry log lines, and those may hold cells.
            gateway = launch(conf, {"stdout": DEVNULL, "stderr": DEVNULL})
            SparkContext._ensure_initialized(gateway=gateway)
            return SparkContext(conf=SparkConf(_jvm=gateway.jvm).setAll(list(conf.getAll())))
    except Exception:  # noqa: S110 - what Spark says may hold settings such as passwords
        pass
    raise _unreachable()


def _own(context: Any, settings: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    made = SparkSession(context).newSession()
    _set(made, settings)
    return made


def _connected(where: str, settings: dict[str, str]) -> SparkSession:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        made = SparkSession.builder.remote(where).create()
        _set(made, settings)
    except ImportError:
        reason = _missing(CONNECT)
    except (PySparkException, ValueError, OSError):
        reason = _unreachable()
    else:
        return made
    raise reason


def _set(session: SparkSession, settings: dict[str, str]) -> None:
    """The settings that may change while Spark runs; the others were heard when it started."""
    for name, value in (EVERYWHERE | settings).items():
        if session.conf.isModifiable(name):
            session.conf.set(name, value)


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _missing(package: str) -> EngineError:
    more = f" '{CONNECT}'" if package == CONNECT else ""
    return EngineError("CEL-E050", package=package, more=more)


def _no_java() -> EngineError:
    return EngineError("CEL-E051", oldest=OLDEST)


def _unreachable() -> EngineError:
    return EngineError("CEL-E052")
