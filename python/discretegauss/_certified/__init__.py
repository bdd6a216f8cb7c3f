"""Numbers with proven error bounds: interval arithmetic, and the laws' sums by it."""
