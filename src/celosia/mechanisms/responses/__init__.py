"""Randomised response: each person's answer is hidden by itself."""
