"""Numbers with proven error bounds: interval arithmetic, and the sums of the laws."""
