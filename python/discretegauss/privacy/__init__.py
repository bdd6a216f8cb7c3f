"""The privacy calculus: the cost of integer noise, and the noise that a budget asks for.

There are three measures of the cost, with functions between them:

- rho of zero-concentrated differential privacy (zCDP): `rho` of a law, exactly. rho of several
  releases add up (`compose`).
- (epsilon, delta), tight: `delta`, `log_delta` and `epsilon` of a law, the least values for one
  query (Theorem 7 of arXiv 2004.00010) and proven bounds close to the least for several.
- (epsilon, delta) from rho: `zcdp_delta`, `zcdp_epsilon` and `zcdp_rho`, the optimal conversion
  (Corollary 13), and `zcdp_delta_standard`, the older one, for comparison.

Each takes a law, the sum of shares ``law.sum(n)``, or a `PrivacyLoss`, and ``queries=``. epsilon
and delta also take ``sampling=``. `loss` returns the `PrivacyLoss` of one release, with proven
bounds; ``**`` and ``@`` compose it.

`renyi` is the Renyi divergence, which adds up over releases. `renyi_delta` converts a sum.

`Budget` holds a budget exactly, rho or (epsilon, delta), and `calibrate` returns noise of any kind
for it. `Ledger` is a file that adds up all releases about the same people, under one limit. `pld`
and `dp_event` give the laws to Google's dp-accounting for composition.

Every number is on the safe side of the exact value. epsilon and delta are never below it. rho is
exact or never below it as a cost, and never above it as a budget (`zcdp_rho`). sigma2 is exact or
never below the least that the budget allows. Unless a function says otherwise, a float differs from
the exact value by rounding alone.
"""

from .._inputs.budget import Budget
from .calibration import calibrate
from .cost import delta, epsilon, log_delta
from .dp_accounting import dp_event, pld
from .ledger import Ledger
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
    "Ledger",
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
__dir__ = __all__.copy  # dir() and completion show these names alone
