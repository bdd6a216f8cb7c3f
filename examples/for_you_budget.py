"""Draw docs/figures/for_you_budget.png: true counts and one draw at each of three budgets.

The counts are made up, so the picture may show the true ones.
"""

import argparse
from pathlib import Path

from matplotlib.figure import Figure

import discretegauss as dg

TRUE = {"Aix": 150, "Bex": 61, "Cut": 93, "Dax": 9}
BUDGETS = ("0.001", "0.01", "0.1")


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description="the picture of budgets in docs/for_you.md")
    parser.add_argument("--out", required=True, metavar="FILE", help="a .png file")
    out = Path(parser.parse_args().out)
    figure = Figure(figsize=(9.6, 2.9), layout="constrained")
    places = range(len(TRUE))
    for panel, rho in zip(figure.subplots(1, 3, sharex=True, sharey=True), BUDGETS, strict=True):
        law = dg.noise_for(TRUE, rho=rho)
        within = int(law.interval(0.95)[1])
        noisy = dg.add_noise(TRUE, rho=rho)
        panel.errorbar(
            list(noisy.values()), places, xerr=within, fmt="o", ms=5, capsize=3, color="#0072B2"
        )
        panel.plot(list(TRUE.values()), places, "D", ms=9, color="0.25", mfc="none")
        panel.set_title(f"rho = {rho}: 95 % within ± {within}", fontsize=10)
        panel.set(yticks=places, yticklabels=TRUE, xlabel="count", ylim=(len(TRUE) - 0.5, -0.5))
    dots, diamonds = panel.containers[0], panel.lines[-1]
    figure.legend(
        [diamonds, dots],
        ["true count", "published: one draw, with 95 % of the noise"],
        loc="outside lower center",
        ncols=2,
        frameon=False,
    )
    figure.savefig(out, dpi=90)


if __name__ == "__main__":
    main()
