"""Masking: noise, microaggregation, swapping, PRAM, rounding, coding, suppression, recipes."""
