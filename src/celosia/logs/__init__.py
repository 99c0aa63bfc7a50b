"""Publish logs and sets: access logs, search logs, baskets."""
