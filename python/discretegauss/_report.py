"""The text that tells a user what a release did."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction

from .release import Release

__all__ = ["report_text"]

_DIGITS = 6
_LONGEST_FRACTION = 60


def report_text(release: Release) -> str:
    """Return the report of a release, in aligned lines. Upper bounds are rounded up."""
    lines = [
        ("table", str(release.table)),
        ("column", release.column),
        ("rows", str(release.rows)),
        ("written to", str(release.out)),
        ("law", "discrete Gaussian N_Z(0, sigma2), one independent draw for each row"),
        ("sigma2", _sigma2(release.sigma2)),
        ("standard deviation", _std(release.std)),
        ("95 % interval", _interval(release.bound95)),
        ("sensitivity", _sensitivity(release)),
        ("rho", _rho(release)),
        ("(epsilon, delta)", _epsilon_delta(release)),
        ("time", f"{release.seconds:.2f} s"),
    ]
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in lines)


def _sigma2(sigma2: Fraction) -> str:
    decimal_text = _rounded(sigma2, decimal.ROUND_HALF_EVEN)
    if sigma2.denominator == 1 and decimal_text == str(sigma2):
        return decimal_text
    exact = str(sigma2)
    if len(exact) > _LONGEST_FRACTION:
        exact = f"a fraction of {len(exact)} characters"
    relation = "=" if Fraction(decimal_text) == sigma2 else "~"
    return f"{exact} {relation} {decimal_text}"


def _std(std: Decimal) -> str:
    # A variance that underflows is below the smallest float, 4.9e-324.
    return _rounded(Fraction(std), decimal.ROUND_HALF_EVEN) if std else "below 1e-160"


def _interval(bound: int) -> str:
    if bound == 0:
        return "0 .. 0 (of the noise: nearly all counts are published unchanged)"
    return f"{-bound} .. {bound} (of the noise)"


def _sensitivity(release: Release) -> str:
    text = _rounded_up(release.sensitivity)
    if release.rows_per_person == 1:
        return f"{text} (one person changes at most one count, by at most {text})"
    return (
        f"{text} (one person changes at most {release.rows_per_person} counts, "
        f"each by at most {text})"
    )


def _rho(release: Release) -> str:
    text = f"{_rounded_up(release.rho)} (zCDP)"
    if release.asked_epsilon is None:
        return text
    return f"{text}, the most that (epsilon, delta) allow; sigma2 rounded up"


def _epsilon_delta(release: Release) -> str:
    epsilon = _rounded_up(Fraction(release.epsilon)) if math.isfinite(release.epsilon) else "inf"
    delta = _rounded_up(release.delta)
    source = "by arXiv 2004.00010, Corollary 13"
    if release.asked_epsilon is None:
        return f"({epsilon}, {delta}) from rho, {source}"
    return f"({_rounded_up(release.asked_epsilon)}, {delta}) as asked, {source}"


def _rounded_up(value: Fraction) -> str:
    return _rounded(value, decimal.ROUND_CEILING)


def _rounded(value: Fraction, rounding: str) -> str:
    """Return the value with six significant digits, without exponent where that is readable."""
    context = decimal.Context(
        prec=_DIGITS, rounding=rounding, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX
    )
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    if quotient == 0:
        return "0"
    shortest = quotient.normalize(context)
    if -5 <= shortest.adjusted() < 12:
        return format(shortest, "f")
    return format(shortest, "e")
