"""Run by the Python of an environment with scikit-mobility: the location attack, timed, as JSON.

`python _scikit_mobility.py CELLS`, where CELLS is a CSV file of uid, lat and lng, one row for each
person and cell. Nothing of Celosía is imported here.
"""

import json
import sys
import time
import warnings

import pandas as pd
import skmob
from skmob.privacy.attacks import LocationAttack


def main():
    """The risk of each person whose two cells are known, and the processor seconds."""
    warnings.simplefilter("ignore")
    table = pd.read_csv(sys.argv[1])
    table["datetime"] = pd.Timestamp("2026-03-02") + pd.to_timedelta(table.index, unit="min")
    points = skmob.TrajDataFrame(table, latitude="lat", longitude="lng", user_id="uid")
    started = time.process_time()
    found = LocationAttack(knowledge_length=2).assess_risk(points, show_progress=False)
    spent = time.process_time() - started
    risks = dict(zip(found["uid"].tolist(), found["risk"].tolist(), strict=True))
    print(json.dumps({"seconds": spent, "risks": risks}))


main()
