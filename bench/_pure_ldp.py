"""Run by the Python of an environment with pure-ldp: one task, timed, as one JSON object.

`python _pure_ldp.py TASK VALUES` where VALUES is a file of whole numbers (NumPy). Nothing of
Celosía is imported here.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from pure_ldp.frequency_oracles.apple_cms import CMSClient, CMSServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer

EPSILON, HASHES, WIDTH, DIFFERENT = 2, 1024, 1024, 1000


def sketched(values, *, hadamard, hold):
    """Reports of a sketch, one after the other or all held, and every value estimated."""
    server = CMSServer(EPSILON, HASHES, WIDTH, is_hadamard=hadamard)
    client = CMSClient(EPSILON, server.get_hash_funcs(), WIDTH, is_hadamard=hadamard)
    if hold:
        server.aggregate_all([client.privatise(each) for each in values])
    else:
        for each in values:
            server.aggregate(client.privatise(each))
    return server.estimate_all(range(DIFFERENT), suppress_warnings=True)


def hashed(values):
    """Local hashing: only the server is timed, and it compares while it aggregates."""
    client = LHClient(EPSILON, DIFFERENT, use_olh=True, index_mapper=lambda each: each)
    server = LHServer(EPSILON, DIFFERENT, use_olh=True, index_mapper=lambda each: each)
    reports = [client.privatise(each) for each in values]
    started = time.process_time()
    server.aggregate_all(reports)
    found = server.estimate_all(range(DIFFERENT), suppress_warnings=True)
    return found, time.process_time() - started


def memory(field):
    """Bytes held, as `bench.memory` counts them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(field + ":"))


def main():
    """One task."""
    warnings.simplefilter("ignore")
    task, path = sys.argv[1:]
    values = np.load(path).tolist()
    Path("/proc/self/clear_refs").write_text("5")
    held = memory("VmRSS")
    started = time.process_time()
    if task == "olh":
        found, spent = hashed(values)
    else:
        found = sketched(values, hadamard=task == "hcms", hold=task == "cms held")
        spent = time.process_time() - started
    most = memory("VmHWM") - held
    print(json.dumps({"seconds": spent, "peak": most, "estimates": np.asarray(found).tolist()}))


main()
