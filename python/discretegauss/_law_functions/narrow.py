"""The warning about noise so narrow that it is nearly always the same number.

Such noise changes almost no value, so a budget that allows it protects almost nobody. No call fails
because of it: a law may be narrow on purpose, and a large budget may be one that was misread.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterable
from fractions import Fraction

from .._inputs.messages import describe
from ..errors import PrivacyWarning
from .mixin import LawFunctions

_NEARLY_ALWAYS = Fraction(999, 1000)
WIDE_FROM = 1
"""From this sigma2, scale or variance on, no integer has a probability of more than 0.62."""


def narrow_noise(law: LawFunctions, clients: int = 1) -> str:
    """Return a sentence about the noise if it is proven to be narrow; "" if it is not.

    `law` is the noise, or the share of each client. Their shares add up to the noise.

    The nearest integer to mu is the most probable draw. The sum of shares varies only if one of
    them does, and the probability of that is at most the sum of theirs.
    """
    spec = law._spec
    if spec.parameter >= WIDE_FROM:
        return ""
    usual = math.floor(spec.mu + Fraction(1, 2))
    lower, _ = law.pmf(usual, bounds=True)
    if clients * (1 - Fraction(lower)) >= 1 - _NEARLY_ALWAYS:
        return ""
    return (
        f"the noise is {describe(usual)} in more than 999 of 1000 draws: it changes almost no "
        "value, and protects almost nobody"
    )


def warn_of_narrow(laws: Iterable[LawFunctions], clients: int = 1) -> None:
    """Issue one PrivacyWarning if one of the laws is narrow. It points at the user's call."""
    text = next(filter(None, (narrow_noise(law, clients) for law in laws)), "")
    if not text:
        return
    frame, level = sys._getframe(), 1
    # `outside_of_graphs` calls through this part of torch
    ours = ("discretegauss", "torch._dynamo")
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(ours):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, PrivacyWarning, stacklevel=level)
