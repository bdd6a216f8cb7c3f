"""The privacy calculus: what integer noise costs, and how much noise a budget asks for.

Three ways to say what noise gives away, and the functions between them:

- rho, zero-concentrated differential privacy: `rho` of a law, exactly; rho of several releases add
  up (`compose`).
- (epsilon, delta), tight: `delta`, `log_delta` and `epsilon` of a law, the least there are
  (Theorem 7 of arXiv 2004.00010 and what is like it), also for several queries.
- (epsilon, delta) by way of rho: `zcdp_delta`, `zcdp_epsilon`, `zcdp_rho`, the optimal conversion
  (Corollary 13); `zcdp_delta_standard`, the older one, for comparison.

`PrivacyLoss` is the loss of one release or of many, of any law, also on a sample of the people, in
buckets between proven bounds.

`renyi` and `renyi_ball` are Renyi divergences, which add; `renyi_delta` says what a sum implies.

`Budget` is what may be given away, rho or (epsilon, delta), exactly; `calibrate_gaussian` goes back
from one to noise. `pld` and `dp_event` hand the laws to
Google's dp-accounting, which composes them.

Every number is on the safe side of the exact value: epsilon and delta are never below it; rho is
exact or never below it where it is a cost, and never above it where it is a budget (`zcdp_rho`);
sigma2 is exact or never below what the budget asks for. Floats differ from the exact value by their
rounding alone, but where a function says otherwise.

``Law`` is the type of what the functions take as a law, for annotations; also `discretegauss.Law`.
"""

from .._inputs.budget import Budget
from ..laws import Law
from .accounting import dp_event, pld
from .budget import compose, rho
from .calibrate import calibrate_gaussian, gaussian_sigma2_for_rho
from .generalized_calibration import calibrate_generalized
from .losses import PrivacyLoss
from .renyi import renyi, renyi_ball, renyi_delta
from .tight import delta, epsilon, log_delta
from .zcdp import zcdp_delta, zcdp_delta_standard, zcdp_epsilon, zcdp_rho

__all__ = [
    "Budget",
    "Law",
    "PrivacyLoss",
    "calibrate_gaussian",
    "calibrate_generalized",
    "compose",
    "delta",
    "dp_event",
    "epsilon",
    "gaussian_sigma2_for_rho",
    "log_delta",
    "pld",
    "renyi",
    "renyi_ball",
    "renyi_delta",
    "rho",
    "zcdp_delta",
    "zcdp_delta_standard",
    "zcdp_epsilon",
    "zcdp_rho",
]
