"""Softmax regression on digits: what dp_sgd_digits.py and federated_digits.py share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_digits

TEST, CLASSES = 500, 10


def digits() -> tuple[Any, Any, Any, Any]:
    """Return images and labels to train with, and those to test with."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    x = np.hstack([images / 16, np.ones((len(labels), 1))])[order]
    y = labels[order]
    return x[:-TEST], y[:-TEST], x[-TEST:], y[-TEST:]


def gradients(weights: Any, x: Any, y: Any) -> Any:
    """Return the gradient of each image's loss: an array (images, pixels * classes)."""
    scores = x @ weights
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    chances[np.arange(len(y)), y] -= 1
    return (x[:, :, None] * chances[:, None, :]).reshape(len(y), -1)
