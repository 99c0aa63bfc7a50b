"""Masking a table: its model, its figures, its jobs and its pages."""
