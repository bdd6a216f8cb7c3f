"""What the release of a plan did, and the noise that a plan asks for: text and JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from .._inputs.messages import number_of, printable
from ._plan_cost import PlanCost
from ._plan_file import PlanFile
from ._report import (
    Release,
    achieved_text,
    aligned,
    calibration_text,
    exact_text,
    json_text,
    noise_fields,
    report_json,
    report_text,
    rounded_up,
    time_text,
)

__all__ = ["PlanRelease", "plan_json", "plan_noise_json", "plan_noise_text", "plan_text"]


@dataclass(frozen=True, kw_only=True)
class PlanRelease:
    """What the release of a plan did; printed, it is the report."""

    path: Path
    shares: tuple[Fraction, ...]
    """Of the plan's rho, one for each table."""
    tables: tuple[Release, ...]
    cost: PlanCost

    @property
    def rho(self) -> Fraction:
        """Of all tables together, exactly the budget."""
        return self.cost.rho

    @property
    def epsilon(self) -> float:
        """At ``delta``, of all tables together: an upper bound."""
        return self.cost.epsilon

    @property
    def delta(self) -> Fraction:
        """At which epsilon is reported."""
        return self.cost.delta

    def __str__(self) -> str:
        return plan_text(self)


def plan_text(done: PlanRelease) -> str:
    """Return the report: each table's, and the total."""
    parts = [
        f"{_share(share)}\n{report_text(one)}\n{time_text(one)}"
        for share, one in zip(done.shares, done.tables, strict=True)
    ]
    return "\n\n".join([*parts, _total(done.path, len(parts), done.cost)])


def plan_noise_text(plan: PlanFile) -> str:
    """Return the noise that a plan asks for; no table is looked at."""
    parts = [
        aligned([("table", printable(str(one.table)))])
        + f"\n{_share(one.share)}\n{calibration_text(noise)}"
        for one, noise in zip(plan.tables, plan.noise, strict=True)
    ]
    return "\n\n".join([*parts, _total(plan.path, len(parts), plan.cost)])


def plan_json(done: PlanRelease) -> str:
    """Return the report as JSON: the total, and each table's report with its share."""
    tables = [
        {"share": exact_text(share), **json.loads(report_json(one))}
        for share, one in zip(done.shares, done.tables, strict=True)
    ]
    return _json(done.path, done.cost, tables)


def plan_noise_json(plan: PlanFile) -> str:
    """Return the noise that a plan asks for as JSON, in the same form."""
    tables = [
        {
            "share": exact_text(one.share),
            "table": str(one.table),
            "columns": one.column,
            **noise_fields(noise, "counts_per_person"),
        }
        for one, noise in zip(plan.tables, plan.noise, strict=True)
    ]
    return _json(plan.path, plan.cost, tables)


def _json(path: Path, cost: PlanCost, tables: list[dict[str, Any]]) -> str:
    return json_text(
        {
            "plan": str(path),
            "rho": exact_text(cost.rho),
            "epsilon": cost.epsilon if cost.epsilon != math.inf else None,
            "delta": exact_text(cost.delta),
            "epsilon_by": cost.epsilon_by,
            "asked_epsilon": None if cost.asked_epsilon is None else exact_text(cost.asked_epsilon),
            "tables": tables,
        }
    )


def _share(share: Fraction) -> str:
    return aligned([("share of rho", exact_text(share))])


def _total(path: Path, tables: int, cost: PlanCost) -> str:
    by = f", by {cost.epsilon_by}"
    achieved = achieved_text(cost.epsilon, cost.delta, cost.asked_epsilon, by)
    return aligned(
        [
            ("plan", f"{printable(str(path))}, {number_of(tables, 'table')}"),
            ("total rho", f"{rounded_up(cost.rho)} (zCDP)"),
            ("(epsilon, delta)", achieved),
        ]
    )
