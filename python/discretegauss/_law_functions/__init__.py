"""Functions of a law, for numbers and arrays: pmf, cdf, quantiles, moments."""
