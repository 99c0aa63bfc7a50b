"""Discovery: common values, and the number of different values, without a list of them."""
