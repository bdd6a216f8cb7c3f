"""Train on scikit-learn's digits with noise in shares, and with noise of a trusted centre.

    python examples/federated_digits.py [--out federated_digits.png]     # about a minute

Each of 1297 clients has one image. In each of 15 rounds it sends the gradient of a softmax
regression with 650 weights. `distributed.SecureSum` rotates, clips and rounds the gradient, keeps
its norm within the claim, adds a small share of noise, and reduces it modulo 2**k. The server sees
only the sum of all messages. The centre, for comparison, sees every clipped gradient, and adds
noise to their sum. The budget is for all rounds, and for a client who is there or sends zeros.

The learning rate and the norm were chosen on the test images, which is not private. Adding the
messages up stands for secure aggregation, a protocol that this library does not have.

Kairouz, Liu, Steinke, arXiv 2102.06387; Agarwal, Kairouz, Liu, arXiv 2110.04995.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import discretegauss as dg
from discretegauss import distributed

DELTA, BUDGETS, ROUNDS = "1e-5", (1, 4), 15
CLIP, STEPS, RATE = 0.5, 128, 6.0
TEST, CLASSES = 500, 10

Sum = Callable[[Any], Any]
"""From all clients' gradients, one a row, to the sum that is published."""


def digits() -> tuple[Any, Any, Any, Any]:
    """Return images and labels for training and for testing."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    x = np.hstack([images / 16, np.ones((len(labels), 1))])[order]
    y = labels[order]
    return x[:-TEST], y[:-TEST], x[-TEST:], y[-TEST:]


def gradients(weights: Any, x: Any, y: Any) -> Any:
    """Return the gradient of each image's loss, of shape (images, pixels * classes)."""
    scores = x @ weights
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    chances[np.arange(len(y)), y] -= 1
    return (x[:, :, None] * chances[:, None, :]).reshape(len(y), -1)


def trained(published: Sum, data: Any) -> Any:
    """Return the accuracy on the test images after each round."""
    x, y, x_test, y_test = data
    weights = np.zeros((x.shape[1], CLASSES))
    curve = []
    for _ in range(ROUNDS):
        total = published(gradients(weights, x, y))
        weights -= RATE / len(y) * total.reshape(weights.shape)
        curve.append(float(((x_test @ weights).argmax(axis=1) == y_test).mean()))
    return np.array(curve)


def clipped(vectors: Any) -> Any:
    """Return the sum of vectors clipped in floats."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors * np.minimum(1, CLIP / np.maximum(norms, 1e-300))).sum(axis=0)


def central(epsilon: int) -> Sum:
    """Return a trusted centre's sum, on a lattice, with discrete Gaussian noise."""
    rho = dg.privacy.zcdp_rho(epsilon, DELTA) / ROUNDS
    law = dg.privacy.calibrate(dg.DiscreteGaussian, rho=rho, sensitivity=STEPS)

    def published(vectors: Any) -> Any:
        whole = dg.lattice.clip(vectors, norm=CLIP, steps=STEPS).sum(axis=0)
        return dg.add_noise(whole, law) * (CLIP / STEPS)

    return published


def in_shares(secure: distributed.SecureSum) -> Sum:
    """Return the sum of messages, each with its share of noise."""

    def published(vectors: Any) -> Any:
        return secure.total(secure.message(vectors, source="chacha20"))

    return published


def share_of(epsilon: int, kind: str, clients: int, length: int) -> Any:
    """Return the noise of each client for a budget."""
    sensitivity = distributed.rounded_norm(STEPS, dimension=length)
    law: Any = dg.Skellam if kind == "Skellam" else dg.DiscreteGaussian
    return dg.privacy.calibrate(
        law,
        epsilon=epsilon,
        delta=DELTA,
        sensitivity=sensitivity,
        queries=ROUNDS,
        clients=clients,
        dimension=length,
    )


def draw(curves: dict[str, Any], file: str) -> None:
    """Draw the accuracy over the rounds."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    colours = {"none": "k", **{f"epsilon {e}": f"C{i}" for i, e in enumerate(BUDGETS)}}
    lines = {"centre": ":", "discrete Gaussian": "--", "Skellam": "-"}
    for name, curve in curves.items():
        budget, _, how = name.partition(", ")
        axes.plot(
            np.arange(1, ROUNDS + 1), curve, lines.get(how, "-"), color=colours[budget], label=name
        )
    axes.set(
        title=f"softmax regression on digits, one image a client, delta = {DELTA}",
        xlabel="rounds",
        ylabel="accuracy on the test images",
        ylim=(0, 1),
    )
    axes.grid(color="0.9")
    axes.legend(loc="lower right", fontsize="small")
    figure.savefig(file, dpi=130)


def main() -> None:
    """Print a table, and draw it."""
    parser = argparse.ArgumentParser(description="federated learning on scikit-learn's digits")
    parser.add_argument("--out", metavar="FILE", help="draw a plot, a PNG file")
    arguments = parser.parse_args()
    data = digits()
    clients, weights = len(data[1]), data[0].shape[1] * CLASSES
    length = 1 << (weights - 1).bit_length()
    curves = {"none": trained(clipped, data)}
    print(f"{clients} clients, {weights} weights, {ROUNDS} rounds, delta = {DELTA}")
    print(f"clipped, without noise: accuracy {curves['none'][-1]:.3f}\n")
    print(f"{'epsilon':>7} {'noise':>18} {'variance':>9} {'spent':>6} {'bits':>5} {'accuracy':>9}")
    for epsilon in BUDGETS:
        curves[f"epsilon {epsilon}, centre"] = curve = trained(central(epsilon), data)
        print(f"{epsilon:7} {'centre':>18} {'':>9} {'':>6} {'':>5} {curve[-1]:9.3f}", flush=True)
        for kind in ("discrete Gaussian", "Skellam"):
            law = share_of(epsilon, kind, clients, length)
            secure = distributed.SecureSum(
                weights,
                clip=CLIP,
                steps=STEPS,
                law=law,
                most_clients=clients,
                fewest_clients=clients,
            )
            spent = dg.privacy.epsilon(
                law.sum(clients),
                DELTA,
                secure.sensitivity,
                queries=ROUNDS,
                dimension=length,
            )
            begin = time.process_time()
            curves[f"epsilon {epsilon}, {kind}"] = curve = trained(in_shares(secure), data)
            print(
                f"{epsilon:7} {kind:>18} {law.var():9.1f} {spent:6.3f} "
                f"{secure.modulus.bit_length() - 1:5} {curve[-1]:9.3f}"
                f"  {time.process_time() - begin:.0f} s",
                flush=True,
            )
    if arguments.out:
        draw(curves, arguments.out)


if __name__ == "__main__":
    main()
