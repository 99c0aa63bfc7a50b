"""k-degree anonymity: every degree is shared by at least k vertices."""
