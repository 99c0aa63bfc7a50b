"""Run by the Python of an environment with yacryptopan: pseudonyms of addresses, as JSON.

`python _yacryptopan.py ADDRESSES` where ADDRESSES is a file of JSON: a key in hexadecimal, and
addresses as texts. Nothing of Celosía is imported here.
"""

import json
import sys
import time
from pathlib import Path

from yacryptopan import CryptoPAn


def main():
    """Addresses a second of the processor, and their pseudonyms."""
    given = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    pan = CryptoPAn(bytes.fromhex(given["key"]))
    started = time.process_time()
    made = [pan.anonymize(each) for each in given["addresses"]]
    print(json.dumps({"seconds": time.process_time() - started, "made": made}))


main()
