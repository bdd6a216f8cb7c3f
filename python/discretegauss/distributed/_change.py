"""What one person changes in the sum, and by how many clients noise is added."""

from __future__ import annotations

from .._certified.interval import arithmetic
from .._inputs.messages import describe
from .._inputs.numbers import whole_number
from .._inputs.privacy_arguments import positive_number
from ..errors import ParameterOverflowError

__all__ = ["AT", "Change", "count"]

AT = arithmetic(128)


def count(value: object, name: str) -> int:
    """Return the number of something, from 1 to 2**64 - 1."""
    number = whole_number(value, name, minimum=1)
    if number.bit_length() > 64:
        raise ParameterOverflowError(f"{name} must be below 2**64, got {describe(number)}")
    return number


class Change:
    """Checked, with the smallest sum norm that follows: of integers L <= sqrt(d) D and L <= D**2.

    Attributes
    ----------
    clients, dimension : int
        n and d.
    norm, squared : Fraction
        D and its square.
    sum_norm : mpfr
        At least the least bound on L.
    """

    def __init__(
        self, clients: object, sensitivity: object, dimension: object, sum_norm: object
    ) -> None:
        self.clients = count(clients, "clients")
        self.dimension = count(dimension, "dimension")
        self.norm = positive_number(sensitivity, "sensitivity")
        self.squared = self.norm**2
        root = AT.sqrt(AT.rational(self.dimension))
        self.sum_norm = min(AT.scale(root, self.norm).upper, AT.rational(self.squared).upper)
        if sum_norm is not None:
            given = AT.rational(positive_number(sum_norm, "sum_norm")).upper
            self.sum_norm = min(self.sum_norm, given)
