"""Synthetic tables: the model, the jobs and the pages."""
