"""The side of the collector: batches counted once, durably, from files and over HTTP."""
