"""Common values, and how many there are, where nobody has a list of them."""
