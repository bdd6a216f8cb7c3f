"""Draws from a checked law: choose the engine and the method, and fill arrays."""
