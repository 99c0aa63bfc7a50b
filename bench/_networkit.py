"""Run by the Python of an environment with networkit: tasks on one graph, timed, as JSON.

`python _networkit.py EDGES ORDER ROUNDS` where EDGES is a file of pairs of whole numbers (NumPy).
Nothing of Celosía is imported here.
"""

import json
import sys
import time

import networkit as nk
import numpy as np


def clustering(graph):
    """The local clustering of each vertex, by the faster of its two ways."""
    return np.array(nk.centrality.LocalClusteringCoefficient(graph, turbo=True).run().scores())


def pagerank(graph):
    """With its own tolerance, 1e-8; vertices without edges jump, as ours do."""
    spread = nk.centrality.SinkHandling.DistributeSinks
    task = nk.centrality.PageRank(graph, damp=0.85, tol=1e-8, distributeSinks=spread)
    return np.array(task.run().scores())


def main():
    """Each task some times; the least of them and a sum to compare."""
    path, order, rounds = sys.argv[1:]
    one, other = (np.ascontiguousarray(end, dtype=np.uint64) for end in np.load(path).T)
    graph = nk.GraphFromCoo((one, other), n=int(order))
    found = {}
    for name, task in (("clustering", clustering), ("pagerank", pagerank)):
        taken = []
        for _ in range(int(rounds)):
            started = time.perf_counter()
            scores = task(graph)
            taken.append(time.perf_counter() - started)
        found[name] = {"seconds": taken, "mean": scores.mean(), "greatest": scores.max()}
    print(json.dumps(found))


main()
