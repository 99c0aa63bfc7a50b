"""Run by the Python of an environment with private-pgm's needs: one mechanism, timed, as JSON.

`python _private_pgm.py REPOSITORY NAME CODES SETTINGS MADE`: the folder of private-pgm; `mst` or
`aim`; codes of the rows (NumPy); sizes, epsilon, delta, degree, model size, iterations, seed and
the limit of processor seconds (JSON); and where the codes of the new rows go. Nothing of Celosía is
imported here.
"""

import contextlib
import itertools
import json
import resource
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.cluster.hierarchy import DisjointSet


def main():
    """One mechanism."""
    repository, mechanism, codes, settings, made = sys.argv[1:]
    sys.path[:0] = [str(Path(repository) / part) for part in ("src", "mechanisms", "")]
    # States before JAX (2024) ask for two packages of which they use no more than this.
    for name, member, value in (
        ("autodp", "privacy_calibrator", None),
        ("hdmm", "matrix", None),
        ("hdmm.matrix", "Identity", sparse.identity),
    ):
        sys.modules[name] = ModuleType(name)
        setattr(sys.modules[name], member, value)
    import mst
    from aim import AIM
    from mbi import Dataset, Domain

    given = json.loads(settings)
    np.random.seed(given["seed"])
    if given["limit"]:
        resource.setrlimit(resource.RLIMIT_CPU, (given["limit"], given["limit"] + 1))
    names = [str(place) for place in range(len(given["sizes"]))]
    mst.DisjointSet = lambda *_: DisjointSet(names)  # some states begin with none
    domain = Domain(names, given["sizes"])
    data = Dataset(pd.DataFrame(np.load(codes), columns=names), domain)
    started = time.process_time()
    with contextlib.redirect_stdout(sys.stderr):
        if mechanism == "mst":
            synthetic = mst.MST(data, given["epsilon"], given["delta"])
        else:
            workload = [(each, 1.0) for each in itertools.combinations(names, given["degree"])]
            aim = AIM(
                given["epsilon"],
                given["delta"],
                max_model_size=given["model size"],
                max_iters=given["iterations"],
            )
            found = aim.run(data, workload)
            synthetic = found[1] if isinstance(found, tuple) else found
    spent = time.process_time() - started
    np.save(made, synthetic.df[names].to_numpy())
    print(json.dumps({"seconds": spent}))


main()
