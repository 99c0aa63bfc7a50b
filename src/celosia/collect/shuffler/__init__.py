"""A shuffler between devices and collector: who sent which report, and when, ends here."""
