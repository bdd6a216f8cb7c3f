"""Figure: counts before and after a release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._inputs.messages import describe
from .._inputs.numbers import exact_rational
from ..errors import DiscreteGaussError, ParameterValueError
from ..laws import Law
from ._look import LINES, finish

__all__ = ["before_after"]


def before_after(
    ax: Any,
    before: Sequence[object],
    after: Sequence[object],
    *,
    labels: Sequence[str] | None = None,
    law: Law | None = None,
) -> Any:
    """Draw counts beside their noisy counts, as bars. It shows true counts: for your eyes only.

    Parameters
    ----------
    ax : matplotlib axes
        Where to.
    before, after : sequence of numbers
        The counts, and the counts with noise, in the same order.
    labels : sequence of str, optional
        A name for each; numbers from 1 on by default.
    law : Law, optional
        Of the noise: each noisy count gets the law's central 95 % as an error bar.

    Returns
    -------
    matplotlib axes
        The same.

    Raises
    ------
    ValueError
        If these are not of one length, or a number is not finite.
    """
    counts, noisy = _floats(before, "before"), _floats(after, "after")
    names = [str(i + 1) for i in range(len(counts))] if labels is None else list(labels)
    for name, given in (("after", noisy), ("labels", names)):
        if len(given) != len(counts):
            raise ParameterValueError(
                f"{name} must be as many as before, {len(counts)}, got {describe(len(given))}"
            )
    bars = None
    if law is not None:
        low, high = (float(k) for k in law.interval(0.95))
        # noise between low and high: the count lies between noisy - high and noisy - low
        bars = [[high] * len(noisy), [-low] * len(noisy)]
    places = range(len(counts))
    grey, blue = "0.6", LINES["discrete Gaussian"]["color"]
    ax.bar([p - 0.2 for p in places], counts, width=0.38, color=grey, label="before (true counts)")
    ax.bar(
        [p + 0.2 for p in places],
        noisy,
        width=0.38,
        color=blue,
        yerr=bars,
        capsize=3,
        label="after (noisy)" if law is None else "after (noisy; 95 % of the noise)",
    )
    ax.set_xticks(list(places), names)
    finish(ax, "before and after", "", "count", legend_at="best")
    return ax


def _floats(values: Sequence[object], name: str) -> list[float]:
    """Return them as floats; no message shows one, as they may be private."""
    floats = []
    for i, value in enumerate(values):
        try:
            floats.append(float(exact_rational(value, name)))
        except (DiscreteGaussError, OverflowError):
            raise ParameterValueError(
                f"{name} must be finite numbers, but is not at index {i}"
            ) from None
    return floats
