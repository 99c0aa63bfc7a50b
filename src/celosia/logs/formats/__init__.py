"""Layouts of log files: access logs and basket lines; tables and JSON lines are read as frames."""
