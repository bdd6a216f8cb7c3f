"""The library in ten lines: calibrate, draw, add, release a table."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import discretegauss as dg
from discretegauss.release import release_table

counts = np.array([120, 7, 0, 31])
law = dg.privacy.calibrate(
    dg.DiscreteGaussian, rho="0.1"
)  # one person changes one count, by at most 1
noisy = counts + law.sample(counts.shape)  # drawing again spends the budget again
print("noisy counts:", noisy, "with sigma2 =", law.sigma2)
print("epsilon at delta = 1e-6:", dg.privacy.epsilon(law, "1e-6"))

flights = dg.data.flights()  # an example table, in which a flight counts once, in one row
with TemporaryDirectory() as folder:  # for the example only: make a release once, and keep it
    done = release_table(flights, "flights", Path(folder) / "noisy.csv", rho="0.1")
    print(f"{done.rows} counts released, with noise of {done.std:.3} standard deviation")
