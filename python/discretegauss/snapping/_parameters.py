"""The parameters of a snapping mechanism, exact: the scale of its noise, its grid, its range.

*The exact method.* The output is a function of x + Lap(scale), without error, for x clamped to the
range and scale = sensitivity/epsilon. So it is epsilon-differentially private for real numbers x
that differ by at most sensitivity, for any grid and range. A finer grid costs nothing.

*Mironov's method.* With eta = 2**-53, the rounding of one operation, his theorem for sensitivity 1
gives the cost (1 + 12 B eta)/lambda + 2 eta for noise of scale lambda. Doubles may be scaled by
powers of two, so for a sensitivity D that is one it gives (D + 12 B eta)/lambda + 2 eta. That form
is used for every D, with lambda = (D + 12 B eta)/(epsilon - 2 eta), rounded up. For other D it is
not proven here, but tests/snapping/test_mironov.py checks it for all inputs and all uniforms of
short floats, where the excess is at most a quarter of it. The theorem needs lambda < B < 2**46
lambda. Besides, the noise has to reach past both ends of the range from either end, because some
outputs would else be possible for one input alone. Uniform doubles end at 2**-1022, and so noise
ends at 708 lambda: hence 2 B + grid <= 708 lambda.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, NamedTuple, cast

from .._certified.floats import float_at_least
from .._certified.interval import arithmetic
from .._inputs.foreign_arrays import single
from .._inputs.messages import describe, refused
from .._inputs.numbers import Number, exact_rational
from .._inputs.privacy_arguments import positive_number
from ..errors import ParameterTypeError, ParameterValueError

Method = Literal["exact", "mironov"]

#: The relative error of one rounded operation of doubles.
ETA = Fraction(1, 2**53)

#: A power of two beyond this, or below its inverse, is no double or one of fewer bits.
_MOST_EXPONENT = 1022

#: All multiples of the grid up to this one are doubles.
_MOST_MULTIPLES = 2**53


class Range(NamedTuple):
    """The ends of the range to which outputs are clamped: doubles, as Fractions."""

    lower: Fraction
    upper: Fraction


class Parameters(NamedTuple):
    """The exact parameters of a snapping mechanism."""

    scale: Fraction
    """The scale of its Laplace noise."""
    grid: Fraction
    """Outputs within the range are multiples of this power of two."""
    epsilon: Fraction
    """The guaranteed cost, which is at most the epsilon that was asked for."""
    ends: Range


def checked_method(method: object) -> Method:
    """Return `method`, if it is one."""
    rule = "method must be 'exact' or 'mironov'"
    if not isinstance(method, str):
        raise ParameterTypeError(f"{rule}, got {type(method).__name__}")
    if method not in ("exact", "mironov"):
        raise ParameterValueError(f"{rule}, got {describe(method)}")
    return cast(Method, method)


def exact_double(value: object, name: str, rule: str) -> Fraction:
    """Return a number that is a double. The rule, for the error, says why it must be one."""
    exact = exact_rational(value, name)
    try:
        is_one = Fraction(float(exact)) == exact
    except OverflowError:
        is_one = False
    if not is_one:
        raise refused(name, f"be {rule}", value)
    return exact


def _double(value: object, name: str) -> Fraction:
    return exact_double(value, name, "a double, because it is an output")


def checked_range(bound: object, lower: object, upper: object) -> Range:
    """Return the range from a bound, or from both ends."""
    if bound is not None:
        if lower is not None or upper is not None:
            raise ParameterTypeError("bound or lower and upper must be given, got both")
        high = _double(bound, "bound")
        if high <= 0:
            raise refused("bound", "be positive", bound)
        return Range(-high, high)
    if lower is None or upper is None:
        raise ParameterTypeError("bound must be given, or lower and upper instead")
    ends = Range(_double(lower, "lower"), _double(upper, "upper"))
    if ends.lower >= ends.upper:
        raise ParameterValueError(
            f"lower must be below upper, got {describe(single(lower))} and "
            f"{describe(single(upper))}"
        )
    return ends


def log2_of_grid(grid: Fraction) -> int:
    """Return the exponent of a power of two."""
    return grid.numerator.bit_length() - grid.denominator.bit_length()


def power_at_least(x: Fraction) -> Fraction:
    """Return the least power of two that is at least x > 0."""
    power = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - 1)
    while power < x:
        power *= 2
    return power


def exact_grid(grid: object, scale: Fraction, ends: Range) -> Fraction:
    """Return the grid, by default the least power of two that is at least the scale."""
    step = power_at_least(scale) if grid is None else positive_number(grid, "grid")
    got = f"grid = {describe(step)}" if grid is None else describe(single(grid))
    exponent = log2_of_grid(step)
    if step != Fraction(2) ** exponent or abs(exponent) > _MOST_EXPONENT:
        rule = f"be a power of two from 2**-{_MOST_EXPONENT} to 2**{_MOST_EXPONENT}"
        raise ParameterValueError(f"grid must {rule}, got {got}")
    if step >= scale * 2**64:
        raise ParameterValueError(f"grid must be below 2**64 sensitivity / epsilon, got {got}")
    if max(map(abs, ends)) > step * _MOST_MULTIPLES:
        rule = "be at least 2**-53 of the bound, so that its multiples are doubles"
        raise ParameterValueError(f"grid must {rule}, got {got}")
    return step


def exact_parameters(
    epsilon: object, ends: Range, sensitivity: object, grid: object = None
) -> Parameters:
    """Return the parameters of the exact method."""
    cost = positive_number(epsilon, "epsilon")
    scale = positive_number(sensitivity, "sensitivity") / cost
    return Parameters(scale, exact_grid(grid, scale, ends), cost, ends)


def mironov_parameters(epsilon: object, ends: Range, sensitivity: object) -> Parameters:
    """Return the parameters of Mironov's method; the scale is a double."""
    cost, bound = positive_number(epsilon, "epsilon"), ends.upper
    change = positive_number(sensitivity, "sensitivity")
    if cost <= 2 * ETA:
        raise refused("epsilon", "be above 2**-52 with method='mironov'", epsilon)
    least = (change + 12 * bound * ETA) / (cost - 2 * ETA)
    rounded = float_at_least(arithmetic(128).rational(least).upper)
    if not 2.0**-960 < rounded < 2.0**960:
        raise ParameterValueError(
            "sensitivity / epsilon must be between 2**-960 and 2**960 with method='mironov', got "
            f"epsilon = {describe(cost)}, sensitivity = {describe(change)}"
        )
    scale = Fraction(rounded)
    grid = power_at_least(scale)
    if not scale < bound < 2**46 * scale:
        raise ParameterValueError(
            "bound must be between 1 and 2**46 scales of the noise with method='mironov', got "
            f"{describe(bound)} at a scale of {describe(scale)}"
        )
    if 2 * bound + grid > 708 * scale:
        raise ParameterValueError(
            "bound must be small enough that 2 bound + grid is at most 708 scales of the noise "
            f"with method='mironov', got {describe(bound)} at a scale of {describe(scale)}"
        )
    return Parameters(scale, grid, (change + 12 * bound * ETA) / scale + 2 * ETA, ends)


def parameters(
    epsilon: Number,
    bound: Number | None = None,
    sensitivity: Number = 1,
    *,
    method: Method = "exact",
    grid: Number | None = None,
    lower: Number | None = None,
    upper: Number | None = None,
) -> Parameters:
    """Return the scale, the grid and the guaranteed epsilon of a snapping mechanism, exactly.

    The arguments are those of `snapping_laplace`, as typed.

    Examples
    --------
    >>> parameters("1/3", 100)[:3]
    (Fraction(3, 1), Fraction(4, 1), Fraction(1, 3))
    >>> mironov = parameters("1/3", 100, method="mironov")
    >>> float(mironov.scale), mironov.epsilon <= Fraction(1, 3)
    (3.000000000000402, True)
    """
    is_exact, ends = checked_method(method) == "exact", checked_range(bound, lower, upper)
    if is_exact:
        return exact_parameters(epsilon, ends, sensitivity, grid)
    if bound is None or grid is not None:
        raise ParameterTypeError("grid, lower and upper must not be given with method='mironov'")
    return mironov_parameters(epsilon, ends, sensitivity)
