"""Methods that keep, change or replace the records of a log."""
