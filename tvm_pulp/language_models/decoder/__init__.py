"""Language models: one set of weights, two programs (many tokens at once, one at a time), a cache that is state."""

from __future__ import annotations

from tvm_pulp.frontend.zoo.weights import DecoderShape, DecoderWeights

__all__ = ["DecoderShape", "DecoderWeights"]
