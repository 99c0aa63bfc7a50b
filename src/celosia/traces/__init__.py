"""Publish locations and traces: check-ins, trajectories, flows.

`read` points by their declaration, `publish` them by a method, attack the release (`attacks`),
release private aggregates and synthetic traces (`private`). The privacy unit is a person; positions
are whole numbers on a lattice of metres in a declared region. Names load on first use.

>>> from celosia import Seeded, datasets, traces
>>> points = datasets.city(people=60, days=2).traces
>>> release = traces.publish(points, traces.Glove(k=5), rng=Seeded(1))
>>> print(release.guarantee.promise)
k-anonymity of whole traces, k = 5: every published trace is shared by at least 5 persons
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.traces import attacks, places, planar, private
    from celosia.traces.declaration import Declaration
    from celosia.traces.generalisation import Generalisation, is_k_anonymous
    from celosia.traces.glove import Glove
    from celosia.traces.method import MethodResult, TraceMethod
    from celosia.traces.metrics import TraceUtility, compare
    from celosia.traces.microaggregation import SwapLocations, TraceMicroaggregation
    from celosia.traces.options import PublishOptions
    from celosia.traces.planar_laplace import PlanarLaplace
    from celosia.traces.plane import Plane, Region
    from celosia.traces.points import Traces
    from celosia.traces.readers import read, traces_from
    from celosia.traces.registry import method_from, method_from_text, methods
    from celosia.traces.release import TraceRelease
    from celosia.traces.run import publish
    from celosia.traces.stops import find_stops, home_and_work
    from celosia.traces.verification import Verification, verify

__all__ = [
    "Declaration",
    "Generalisation",
    "Glove",
    "MethodResult",
    "PlanarLaplace",
    "Plane",
    "PublishOptions",
    "Region",
    "SwapLocations",
    "TraceMethod",
    "TraceMicroaggregation",
    "TraceRelease",
    "TraceUtility",
    "Traces",
    "Verification",
    "attacks",
    "compare",
    "find_stops",
    "home_and_work",
    "is_k_anonymous",
    "method_from",
    "method_from_text",
    "methods",
    "places",
    "planar",
    "private",
    "publish",
    "read",
    "traces_from",
    "verify",
]

__getattr__, __dir__ = on_first_use(__name__)
