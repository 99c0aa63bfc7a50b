"""Sums that two aggregators make of shares, of which neither can read a report (Prio3)."""
