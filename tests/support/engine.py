"""Which engine draws here."""

from __future__ import annotations

import discretegauss

ENGINE = discretegauss.build_info()["engine"]
