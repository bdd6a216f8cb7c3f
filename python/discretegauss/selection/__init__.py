"""Noisy selection: which candidate is best, without saying by how much.

`permute_and_flip` and `exponential` select from scores at a cost of epsilon; `report_noisy_max`
adds integer noise of any law to votes and returns where the largest sum is. All three are exact:
no float takes part, and exact random bits break ties.

`keep_groups` names the groups of a table that nobody knew beforehand, with their noisy counts.

`permute_and_flip` and `exponential` are epsilon-differentially private by construction.
`noisy_max_epsilon` returns the epsilon of `report_noisy_max`; `exponential_rho` and
`permute_and_flip_rho` return the cost of a selection in rho.

Selection among candidates and among groups, its exact input and its costs live here.
csrc/mechanisms/select.c selects candidates, and ``_reference.py`` does so in readable Python.
"""

from ._costs import exponential_rho, noisy_max_epsilon, permute_and_flip_rho
from ._keep_groups import KeepRule as KeepRule
from ._keep_groups import keep_groups, keep_rule
from ._noisy_max import report_noisy_max
from ._select import exponential, permute_and_flip
from ._truncated_laplace import TruncatedLaplace

__all__ = [
    "TruncatedLaplace",
    "exponential",
    "exponential_rho",
    "keep_groups",
    "keep_rule",
    "noisy_max_epsilon",
    "permute_and_flip",
    "permute_and_flip_rho",
    "report_noisy_max",
]
__dir__ = __all__.copy  # dir() and completion show these names alone
