"""The library in ten lines: calibrate, draw, add, release a table."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import discretegauss as dg
from discretegauss.release import release_table

law = dg.privacy.calibrate_gaussian(rho="0.1")  # sigma2 is 5, exactly
noise = law.sample(4)  # every bit from the operating system
print("noisy counts:", np.array([120, 7, 0, 31]) + noise)
print("epsilon at delta = 1e-6:", dg.privacy.epsilon(law, "1e-6"))

flights = Path(__file__).with_name("flights.csv")
with TemporaryDirectory() as folder:
    done = release_table(flights, "flights", Path(folder) / "noisy.csv", rho="0.1")
    print(f"{done.rows} counts released, with noise of {done.std:.3} standard deviation")
