"""TensorFlow Privacy's discrete Gaussian: 64-bit tensors, decided by 32-bit floats."""

from __future__ import annotations

import math
from typing import Any

from .base import CannotRunError, Case, Contender, Draw, Missing, never

NAME = "TensorFlow Privacy"
LARGEST_SIGMA = 2**30
"""It squares integers of this size in 64 bits."""


def contenders() -> list[Contender | Missing]:
    """TensorFlow Privacy, if its utilities can be imported."""
    try:
        import tensorflow as tf
        from tensorflow_privacy.privacy.dp_query import discrete_gaussian_utils
    except ImportError as error:
        return [Missing(NAME, str(error), "pip install tensorflow-privacy")]
    sample: Any = discrete_gaussian_utils.sample_discrete_gaussian

    def prepare(case: Case) -> Draw:
        scale = math.isqrt(case.parameter)
        if scale > LARGEST_SIGMA or scale**2 != case.parameter:
            raise CannotRunError("it takes whole sigma up to some 2^30 only")
        return lambda n: sample(scale=scale, shape=(n,), dtype=tf.int64).numpy()

    return [
        Contender(
            NAME,
            secure=False,
            prepare=prepare,
            exact=never,
            laws=("gaussian",),
            shapes=("vector",),
            note="decides by 32-bit floats; its generator is not cryptographic",
        )
    ]
