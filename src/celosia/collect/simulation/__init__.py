"""Collections tried out on data that one has."""
