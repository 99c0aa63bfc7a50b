"""Counters and numbers, collected again and again."""
