"""Publish logs: samples and treatments, the jobs, and the pages."""
