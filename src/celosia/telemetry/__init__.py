"""Collect: protocols of local differential privacy, client and server side by side."""
