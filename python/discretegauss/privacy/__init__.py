"""The privacy calculus: what integer noise costs, and how much noise a budget asks for.

Three ways to say what noise gives away, and the functions between them:

- rho, zero-concentrated differential privacy: `rho` of a law, exactly; rho of several releases add
  up (`compose`).
- (epsilon, delta), tight: `delta`, `log_delta` and `epsilon` of a law, the least there are
  (Theorem 7 of arXiv 2004.00010 and what is like it), also for several queries.
- (epsilon, delta) by way of rho: `zcdp_delta`, `zcdp_epsilon`, `zcdp_rho`, the optimal conversion
  (Corollary 13); `zcdp_delta_standard`, the older one, for comparison.

Each takes a law, the sum of shares ``law.sum(n)``, or a `PrivacyLoss`, and ``queries=``; epsilon
and delta take ``sampling=``, too. `loss` is the `PrivacyLoss` of one release, in buckets between
proven bounds; ``**`` and ``@`` compose it.

`renyi` is the Renyi divergence, which adds; `renyi_delta` says what a sum implies.

`Budget` is what may be given away, rho or (epsilon, delta), exactly; `calibrate` goes from one to
noise of any kind. `pld` and `dp_event` hand the laws to Google's dp-accounting, which composes
them.

Every number is on the safe side of the exact value: epsilon and delta are never below it; rho is
exact or never below it where it is a cost, and never above it where it is a budget (`zcdp_rho`);
sigma2 is exact or never below what the budget asks for. Floats differ from the exact value by their
rounding alone, but where a function says otherwise.
"""

from .._inputs.budget import Budget
from .calibration import calibrate
from .cost import delta, epsilon, log_delta
from .dp_accounting import dp_event, pld
from .loss_distribution import PrivacyLoss, loss
from .renyi import renyi, renyi_delta
from .zcdp import (
    compose,
    rho,
    zcdp_delta,
    zcdp_delta_standard,
    zcdp_epsilon,
    zcdp_rho,
)

__all__ = [
    "Budget",
    "PrivacyLoss",
    "calibrate",
    "compose",
    "delta",
    "dp_event",
    "epsilon",
    "log_delta",
    "loss",
    "pld",
    "renyi",
    "renyi_delta",
    "rho",
    "zcdp_delta",
    "zcdp_delta_standard",
    "zcdp_epsilon",
    "zcdp_rho",
]
