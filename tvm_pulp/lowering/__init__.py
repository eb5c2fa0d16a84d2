"""From a canonical module to a network of layers over named tensors: what planning and code generation work on."""

from __future__ import annotations

from tvm_pulp.lowering.build_network import build_network

__all__ = [
    "build_network",
]
