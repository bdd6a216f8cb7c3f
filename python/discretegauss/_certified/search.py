"""The search for the least integer at which a condition holds."""

from __future__ import annotations

from collections.abc import Callable


def first_true(holds: Callable[[int], bool], guess: int, low: int | None = None) -> int:
    """Return an n with holds(n) and not holds(n - 1), or low if it holds there.

    If ``holds`` stays True once it is True, n is the least (from low on). Steps from the guess
    double, then bisection follows.
    """
    step = 1
    if holds(guess):
        good = guess
        while True:
            if good == low:
                return good
            bad = good - step if low is None else max(good - step, low)
            if not holds(bad):
                break
            good, step = bad, 2 * step
    else:
        bad = guess
        while not holds(bad + step):
            bad, step = bad + step, 2 * step
        good = bad + step
    while good - bad > 1:
        middle = (good + bad) // 2
        if holds(middle):
            good = middle
        else:
            bad = middle
    return good
