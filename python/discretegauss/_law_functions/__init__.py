"""What a law can be asked: pmf, cdf, quantiles, moments; numbers and arrays."""
