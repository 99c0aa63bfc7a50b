"""Statistics of the rows of a column: counts, sums, means, spread, quantiles and histograms."""
