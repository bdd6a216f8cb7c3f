"""Noise in shares: the exact laws that clients draw before a secure sum."""

from .poisson import poisson, skellam

__all__ = ["poisson", "skellam"]
