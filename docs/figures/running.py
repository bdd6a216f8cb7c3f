"""Draw docs/figures/running.png: a year of totals beside fresh noise, and the error of sums.

The bits have a seed, so the picture is the same each time.
"""

import argparse
import contextlib
import io
import math
import tempfile
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import discretegauss as dg
from discretegauss.release import Running
from discretegauss.testing import NotPrivateWarning, seeded_source

DAYS, RHO = 365, "0.1"
OURS, FRESH = "#1f77b4", "#d62728"
WINDOWS = sorted({round(10 ** (i / 12)) for i in range(31)} | {365})


def main() -> None:
    """Draw both panels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=Path(__file__).with_suffix(".png"))
    out = parser.parse_args().out
    warnings.simplefilter("ignore", NotPrivateWarning)
    bits = seeded_source(4)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        run = Running.start(Path(folder, "state"), period=365, rho=RHO)
        total = [run.add(0, day, source=bits).total for day in range(1, DAYS + 1)]
    fresh = np.cumsum(dg.add_noise([0] * DAYS, rho=RHO, source=bits))
    sigma = math.sqrt(dg.privacy.calibrate(dg.DiscreteGaussian, rho=RHO).sigma2)
    day = np.arange(1, DAYS + 1)
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    bands = (
        (fresh, sigma * np.sqrt(day), FRESH, "fresh noise each day"),
        (total, [run.deviation(n) for n in day], OURS, "running counts, period 365"),
    )
    for errors, deviation, color, name in bands:
        half = 1.96 * np.array(deviation)
        left.fill_between(day, -half, half, color=color, alpha=0.15, linewidth=0)
        left.plot(day, errors, color=color, linewidth=1, label=name)
    left.set(xlabel="day", ylabel="error of the total since the first day", xlim=(1, DAYS))
    left.set_title(f"one year, rho = {RHO}, a person on one day (95 % bands)", size=10)
    right.loglog(WINDOWS, [sigma * math.sqrt(w) for w in WINDOWS], color=FRESH)
    right.loglog(WINDOWS, [run.deviation(2000, w) for w in WINDOWS], color=OURS)
    right.set_xticks([1, 7, 30, 90, 365], ["1", "7", "30", "90", "365"])
    right.set_yticks([2, 5, 10, 20, 40], ["2", "5", "10", "20", "40"])
    right.minorticks_off()
    right.set(xlabel="days that are added up", ylabel="standard deviation of the sum")
    right.set_title("any sum of neighbouring days", size=10)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    left.legend(loc="lower left", frameon=False)
    figure.savefig(out, dpi=110)


if __name__ == "__main__":
    main()
