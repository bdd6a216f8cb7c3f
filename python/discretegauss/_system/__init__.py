"""Threads, files and signals, as Unix has them. Knows nothing of laws or noise."""
