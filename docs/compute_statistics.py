"""Compute all studies of the lab, and write what the studio ships of them (minutes).

Run it after a change of a study: `.venv/bin/python docs/compute_statistics.py [STUDY ...]`.
Without names, all are computed but those that need packages which not everybody has.
"""

from __future__ import annotations

import sys
import warnings
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from celosia import lab
from celosia.studio import stored_json
from celosia.studio.statistics.model import SHIPPED, file_name

LEFT_OUT = ("tables/strangers",)


def main(names: list[str]) -> None:
    """Compute studies and put them beside those that are there already."""
    every = [each.name for each in lab.studies() if "/" in each.name and each.name not in LEFT_OUT]
    texts: dict[str, str] = {}
    if names and SHIPPED.exists():
        with ZipFile(SHIPPED) as files:
            texts = {each: files.read(each).decode() for each in files.namelist()}
    for name in names or every:
        print(name, flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            texts[file_name(name)] = stored_json.dumps(lab.find(name).run().as_dict())
    with ZipFile(SHIPPED, "w", ZIP_DEFLATED, compresslevel=9) as files:
        for each in sorted(texts):
            files.writestr(ZipInfo(each), texts[each], ZIP_DEFLATED)  # no date: the same bytes


if __name__ == "__main__":
    main(sys.argv[1:])
