"""Publish traces: samples and methods as cards, the jobs, and the pages."""
